//! Gradients of quantiles of sorted lines.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use crate::SmallVec;
use crate::call::arithmetic::{apply, choose, mul, number, scaled, sub, sum, with_number};
use crate::call::{full, to_dtype};
use crate::job::{Interpolation, Update};
use crate::raw::Raw;
use crate::tape::{Addressing, Backward, DimIndex, QuantileSaved, Upstream};

impl Backward for QuantileSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let (op, sorted, q, how) = (upstream.op(), &self.sorted, &self.q, self.interpolation);
        let places = QuantilePlaces::new(op, sorted, q, how)?;
        let grad = upstream.grad()?;
        // The dim of quantiles moves to the end, like the elements of lines.
        let grad = match q.rank() {
            0 => grad.unsqueeze(grad.rank())?,
            _ => {
                let order: SmallVec<[usize; 8]> = (1..grad.rank()).chain([0]).collect();
                grad.permute(&order)?
            }
        };
        match operand {
            0 => places.of_lines(op, sorted, &grad).map(Some),
            _ => places.of_shares(op, sorted, q, how, &grad),
        }
    }
}

/// The elements of its line between which each quantile lies, as `[.., q]`.
struct QuantilePlaces {
    low: Raw,
    high: Raw,
    /// The weight of the higher element.
    share: Raw,
    /// The last position of a line.
    last: Raw,
    /// Whether a line is without NaN; none if NaN is ignored.
    known: Option<Raw>,
}

impl QuantilePlaces {
    fn new(op: Op, sorted: &Raw, q: &Raw, how: Interpolation) -> Result<Self> {
        let end = sorted.rank() - 1;
        let dtype = sorted.dtype();
        let there = match op {
            // NaN does not equal itself.
            Op::Nanquantile => {
                let plain = sorted.clone().detach();
                to_dtype(&apply(Op::Eq, [(&plain).into(), (&plain).into()])?, dtype)?
            }
            _ => full(sorted.shape(), Scalar::Int(1), dtype, sorted.device())?,
        };
        let count = sum(&there, &[end], true)?;
        let last = with_number(Op::Maximum, &with_number(Op::Sub, &count, 1.0)?, 0.0)?;
        let q = to_dtype(q, dtype)?.reshape(&[q.numel()])?;
        let place = mul(&last, &q)?;
        let place = match how {
            Interpolation::Nearest => apply(Op::Round, [(&place).into()])?,
            Interpolation::Lower => apply(Op::Floor, [(&place).into()])?,
            Interpolation::Higher => apply(Op::Ceil, [(&place).into()])?,
            Interpolation::Linear | Interpolation::Midpoint => place,
        };
        // A NaN, which is sorted last, is every quantile of its line.
        let known = match op {
            Op::Quantile if sorted.shape()[end] > 0 => {
                let greatest = sorted.clone().detach();
                let greatest = greatest.narrow(end, sorted.shape()[end] - 1, 1)?;
                Some(apply(Op::Eq, [(&greatest).into(), (&greatest).into()])?)
            }
            _ => None,
        };
        let place = match &known {
            Some(known) => choose(known, (&place).into(), (&last).into())?,
            None => place,
        };
        let (low, high) = (
            apply(Op::Floor, [(&place).into()])?,
            apply(Op::Ceil, [(&place).into()])?,
        );
        let share = match how {
            Interpolation::Midpoint => with_number(Op::Add, &scaled(&place, 0.0)?, 0.5)?,
            _ => sub(&place, &low)?,
        };
        Ok(Self {
            low: to_dtype(&low, DType::I64)?,
            high: to_dtype(&high, DType::I64)?,
            share,
            last,
            known,
        })
    }

    fn index(&self, op: Op, index: &Raw) -> DimIndex {
        DimIndex {
            op,
            addressing: Addressing::Elements,
            dim: index.rank() - 1,
            index: index.clone(),
        }
    }

    fn of_lines(&self, op: Op, sorted: &Raw, grad: &Raw) -> Result<Raw> {
        let zeros = Raw::zeros(op.name(), sorted.shape(), grad.dtype(), grad.device())?;
        let high = mul(grad, &self.share)?;
        let some = self
            .index(op, &self.low)
            .update(zeros, &sub(grad, &high)?, Update::Add)?;
        self.index(op, &self.high).update(some, &high, Update::Add)
    }

    fn of_shares(
        &self,
        op: Op,
        sorted: &Raw,
        q: &Raw,
        how: Interpolation,
        grad: &Raw,
    ) -> Result<Option<Raw>> {
        if how != Interpolation::Linear {
            return Ok(None);
        }
        let low = self.index(op, &self.low).pick(sorted)?;
        let high = self.index(op, &self.high).pick(sorted)?;
        let slope = mul(&sub(&high, &low)?, &self.last)?;
        let slope = match &self.known {
            Some(known) => choose(known, (&slope).into(), number(0.0))?,
            None => slope,
        };
        let all = mul(grad, &slope)?;
        let lines: SmallVec<[usize; 8]> = (0..all.rank() - 1).collect();
        sum(&all, &lines, true)?.reshape(q.shape()).map(Some)
    }
}

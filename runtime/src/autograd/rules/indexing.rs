//! Gradients of gathers and scatters.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::target::only_operand;
use crate::call::arithmetic::{apply, choose, conj, div, mul, number, with_number};
use crate::call::{cat, contiguous, duplicate, fill, full, to_dtype};
use crate::job::Update;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, no_grad};
use crate::shape::Shape;
use crate::tape::{Addressing, DimIndex, GatherSaved, ScatterSaved};

impl DimIndex {
    /// Returns the part of `src` that the index covers.
    fn covered_part(&self, src: &Raw) -> Result<Raw> {
        let mut part = src.clone();
        if self.addressing == Addressing::Elements {
            for (dim, &size) in self.index.shape().iter().enumerate() {
                part = part.narrow(dim, 0, size)?;
            }
        }
        Ok(part)
    }
}

impl Rule for GatherSaved {
    fn op(&self) -> &'static str {
        self.index.op.name()
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let zeros = Raw::zeros("backward", &self.target.shape, grad.dtype(), grad.device())?;
        // An index without dims removed the dim.
        let grad = if grad.rank() < zeros.rank() {
            grad.unsqueeze(self.index.dim)?
        } else {
            grad.clone()
        };
        let grad = self.index.update(zeros, &grad, Update::Add)?;
        self.target.fit(grad).map(only_operand)
    }
}

impl ScatterSaved {
    /// Computes the gradients of factors: each gets the product of all other factors at its position.
    fn of_products(&self, [x, src, _]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let src = self.index.covered_part(src)?;
        let zero = with_number(Op::Eq, &src, 0.0)?;
        let others = choose(&zero, number(1.0), (&src).into())?;
        let ones = full(x.shape(), Scalar::Int(1), x.dtype(), x.device())?;
        let product = self.index.update(ones, &others, Update::Mul)?;
        let none = Raw::zeros("backward", x.shape(), x.dtype(), x.device())?;
        let zeros = self
            .index
            .update(none, &to_dtype(&zero, x.dtype())?, Update::Add)?;
        let whole = with_number(Op::Eq, &zeros, 0.0)?;
        let of_x = mul(
            grad,
            &conj(&choose(&whole, (&product).into(), number(0.0))?)?,
        )?;
        let (product, zeros) = (self.index.pick(&product)?, self.index.pick(&zeros)?);
        let only = with_number(Op::Eq, &zeros, 1.0)?;
        let alone = choose(&only, (&product).into(), number(0.0))?;
        let none = with_number(Op::Eq, &zeros, 0.0)?;
        let rest = choose(&none, (&div(&product, &others)?).into(), number(0.0))?;
        let own = choose(&zero, (&alone).into(), (&rest).into())?;
        let of_src = mul(&self.index.pick(&mul(grad, &conj(x)?)?)?, &conj(&own)?)?;
        Ok([of_x, of_src])
    }

    /// Like [`ScatterSaved::of_products`], but without selecting elements, which would have no slope near zeros: multiplies all
    /// factors before each one and all after it, slice by slice of the index, since a slice addresses each position once.
    fn of_products_recorded(&self, [x, src, _]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let covered = self.index.covered_part(src)?;
        let sizes = Shape::from_slice(covered.shape());
        let (index, src, axis) = match self.index.addressing {
            Addressing::Elements => (self.index.index.clone(), covered, self.index.dim),
            Addressing::Slices => {
                let index = self.index.index.reshape(&[self.index.index.numel()])?;
                let mut shape = Shape::from_slice(x.shape());
                shape[self.index.dim] = index.numel();
                (index, covered.reshape(&shape)?, 0)
            }
        };
        let count = index.shape()[axis];
        let slice = |at: usize| -> Result<(DimIndex, Raw)> {
            let index = index.narrow(axis, at, 1)?;
            let own = DimIndex {
                index,
                ..self.index.clone()
            };
            Ok((own, src.narrow(self.index.dim, at, 1)?))
        };
        let mut before = Vec::with_capacity(count);
        let mut product = x.clone();
        for at in 0..count {
            let (own, factor) = slice(at)?;
            let found = own.pick(&product)?;
            product = own.update(product, &mul(&found, &factor)?, Update::Set)?;
            before.push(found);
        }
        let mut product = full(x.shape(), Scalar::Int(1), x.dtype(), x.device())?;
        let mut grads = Vec::with_capacity(count);
        for at in (0..count).rev() {
            let (own, factor) = slice(at)?;
            let behind = own.pick(&product)?;
            product = own.update(product, &mul(&behind, &factor)?, Update::Set)?;
            let others = conj(&mul(&before[at], &behind)?)?;
            grads.push(mul(&own.pick(grad)?, &others)?);
        }
        let of_src = if grads.is_empty() {
            Raw::zeros("backward", src.shape(), src.dtype(), src.device())?
        } else {
            cat(&grads.iter().rev().collect::<Vec<_>>(), self.index.dim)?
        };
        let of_src = of_src.reshape(&sizes)?;
        Ok([mul(grad, &conj(&product)?)?, of_src])
    }

    /// Computes the gradients of extremes, which all equal elements share evenly.
    fn of_extremes(&self, [x, src, out]: &[Raw; 3], grad: &Raw) -> Result<[Raw; 2]> {
        let src = self.index.covered_part(src)?;
        let own = apply(Op::Eq, [x.into(), out.into()])?;
        let put = apply(Op::Eq, [(&src).into(), (&self.index.pick(out)?).into()])?;
        let (own, put) = (to_dtype(&own, x.dtype())?, to_dtype(&put, x.dtype())?);
        let count = self.index.update(own.clone(), &put, Update::Add)?;
        // No element equals a NaN result; all of them get NaN.
        let share = div(grad, &count)?;
        Ok([mul(&share, &own)?, mul(&self.index.pick(&share)?, &put)?])
    }
}

/// Extends a gradient of the covered elements by zeros.
fn extend_by_zeros(grad: Raw, shape: &[usize]) -> Result<Raw> {
    if grad.shape() == shape || grad.rank() != shape.len() {
        return Ok(grad);
    }
    let mut grad = grad;
    for (dim, &size) in shape.iter().enumerate() {
        let missing = size.saturating_sub(grad.shape()[dim]);
        if missing == 0 {
            continue;
        }
        let mut rest = Shape::from_slice(grad.shape());
        rest[dim] = missing;
        let rest = Raw::zeros("backward", &rest, grad.dtype(), grad.device())?;
        grad = cat(&[&grad, &rest], dim)?;
    }
    Ok(grad)
}

impl Rule for ScatterSaved {
    fn op(&self) -> &'static str {
        self.index.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let Some(Some(grad)) = given.first() else {
            return Ok(found);
        };
        if let Some(joined) = &self.joined {
            let [of_x, of_src] = match self.update {
                Update::Mul if run.records() && self.index.index.rank() > 0 => {
                    self.of_products_recorded(joined, grad)?
                }
                Update::Mul => self.of_products(joined, grad)?,
                _ => self.of_extremes(joined, grad)?,
            };
            let of_src = extend_by_zeros(of_src, &self.source.shape)?;
            found.push(run.wants(0).then_some(of_x));
            found.push(Some(self.source.fit(of_src)?));
            return Ok(found);
        }
        found.push(match (run.wants(0), self.update) {
            (false, _) => None,
            (true, Update::Add) => Some(grad.clone()),
            (true, _) => {
                let picked = self.index.pick(grad)?;
                let mut zeros = no_grad(|| contiguous(&picked.detach()))?;
                zeros = no_grad(|| duplicate(&zeros))?;
                fill(zeros.as_mut()?, Scalar::Int(0))?;
                Some(self.index.update(grad.clone(), &zeros, Update::Set)?)
            }
        });
        found.push(if run.wants(1) {
            let picked = extend_by_zeros(self.index.pick(grad)?, &self.source.shape)?;
            Some(self.source.fit(picked)?)
        } else {
            None
        });
        Ok(found)
    }
}

//! Gradients of attention.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use crate::call::arithmetic::{apply, choose, mul, number, scaled, sub, sum, turned, with_number};
use crate::call::{
    ReduceOptions, Scores, attention_gradients, cat, full, matmul, pointwise_in_place, reduce,
    softmax, triangle,
};
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};
use crate::shape::{Shape, product};
use crate::tape::{AttentionSaved, GradTarget};

const OP: Op = Op::ScaledDotProductAttention;

/// The number of scores that are computed at once unless they are recorded.
const SCORES: usize = if cfg!(test) { 1 << 6 } else { 1 << 20 };

/// A range of queries, and the keys and values that they see.
struct QueryBlock<'a> {
    first: usize,
    query: Raw,
    key: Raw,
    value: Raw,
    mask: Option<Raw>,
    saved: &'a AttentionSaved,
}

impl AttentionSaved {
    /// The factor of scores.
    fn score_factor(&self) -> f64 {
        let features = self.query.shape()[self.query.rank() - 1];
        let root = 1.0 / (features.max(1) as f64).sqrt();
        self.scale.unwrap_or(root)
    }

    fn whole(&self) -> QueryBlock<'_> {
        QueryBlock {
            first: 0,
            query: self.query.clone(),
            key: self.key.clone(),
            value: self.value.clone(),
            mask: self.mask.clone(),
            saved: self,
        }
    }

    fn block(&self, first: usize, rows: usize) -> Result<QueryBlock<'_>> {
        let part = |x: &Raw| x.narrow(x.rank() - 2, first, rows);
        let keys = self.key.shape()[self.key.rank() - 2];
        let seen = if self.causal {
            keys.min(first + rows)
        } else {
            keys
        };
        let before = |x: &Raw| x.narrow(x.rank() - 2, 0, seen);
        let mask = match &self.mask {
            Some(mask) if mask.rank() > 1 && mask.shape()[mask.rank() - 2] > 1 => Some(part(mask)?),
            mask => mask.clone(),
        };
        Ok(QueryBlock {
            first,
            query: part(&self.query)?,
            key: before(&self.key)?,
            value: before(&self.value)?,
            mask,
            saved: self,
        })
    }

    /// Returns zeros for the wanted gradients, of a result without elements.
    fn zeros(&self, wants: [bool; 4]) -> Result<[Option<Raw>; 4]> {
        let zeros = |wanted: bool, x: Option<&Raw>| {
            let x = x.filter(|_| wanted);
            x.map(|x| Raw::zeros(OP.name(), x.shape(), x.dtype(), x.device()))
                .transpose()
        };
        Ok([
            zeros(wants[0], Some(&self.query))?,
            zeros(wants[1], Some(&self.key))?,
            zeros(wants[2], Some(&self.value))?,
            zeros(wants[3], self.mask.as_ref())?,
        ])
    }

    /// Computes the gradients in one pass if a kernel can. It takes no infinite keys and values that a mask excludes.
    fn gradients_by_kernel(
        &self,
        grad: &Raw,
        wants: [bool; 4],
        run: &Run<'_>,
    ) -> Result<Option<[Option<Raw>; 4]>> {
        if run.records() || wants[3] || self.whole().may_hide_infinities()? {
            return Ok(None);
        }
        let scores = Scores {
            causal: self.causal,
            scale: self.scale,
            grouped: false,
        };
        let operands = [&self.query, &self.key, &self.value];
        let [query, key, value, _] = wants;
        let wants = [query, key, value];
        let found = attention_gradients(operands, self.mask.as_ref(), scores, grad, wants)?;
        Ok(found.map(|[query, key, value]| [query, key, value, None]))
    }

    /// Computes the gradients without holding all scores: block by block of queries, summing those of keys and values.
    fn gradients_in_blocks(
        &self,
        grad: &Raw,
        rows: usize,
        wants: [bool; 4],
    ) -> Result<[Option<Raw>; 4]> {
        let length = grad.shape()[grad.rank() - 2];
        let mut queries: Vec<Raw> = Vec::new();
        let mut sums: [Option<Raw>; 2] = [None, None];
        for first in (0..length).step_by(rows) {
            let rows = rows.min(length - first);
            let grad = grad.narrow(grad.rank() - 2, first, rows)?;
            let [query, key, value, _] = self.block(first, rows)?.gradients(&grad, wants)?;
            queries.extend(query);
            for ((sum, part), of) in sums
                .iter_mut()
                .zip([key, value])
                .zip([&self.key, &self.value])
            {
                if let Some(part) = part {
                    add_rows(sum, &part, of.shape()[of.rank() - 2])?;
                }
            }
        }
        let query = match &queries[..] {
            [] => None,
            [first, ..] => Some(cat(&queries.iter().collect::<Vec<_>>(), first.rank() - 2)?),
        };
        let [key, value] = sums;
        Ok([query, key, value, None])
    }
}

/// Adds the gradient of the first rows of an operand to that of all its rows.
fn add_rows(sum: &mut Option<Raw>, part: &Raw, all: usize) -> Result<()> {
    let at = part.rank() - 2;
    let seen = part.shape()[at];
    if sum.is_none() {
        let mut shape = Shape::from_slice(part.shape());
        shape[at] = all;
        *sum = Some(Raw::zeros(OP.name(), &shape, part.dtype(), part.device())?);
    }
    match sum {
        Some(sum) => {
            let rows = sum.as_mut()?.narrow(at, 0, seen)?;
            pointwise_in_place(Op::Add, rows, &[part.into()])
        }
        None => Ok(()),
    }
}

impl QueryBlock<'_> {
    /// Computes the weight of each key for each query; zeros if a query sees no key.
    fn weights(&self) -> Result<Raw> {
        let scores = scaled(
            &matmul(&self.query, &turned(&self.key)?)?,
            self.saved.score_factor(),
        )?;
        let rank = scores.rank();
        let seen = match &self.mask {
            Some(mask) if mask.dtype() != DType::Bool => {
                // The score may be NaN.
                let unseen = with_number(Op::Eq, mask, f64::NEG_INFINITY)?;
                let scores = choose(&unseen, number(0.0), (&scores).into())?;
                return softmax_or_none(&apply(Op::Add, [(&scores).into(), mask.into()])?);
            }
            Some(mask) => mask.clone(),
            None if self.saved.causal => {
                let last = &scores.shape()[rank - 2..];
                let all = full(last, Scalar::Bool(true), DType::Bool, scores.device())?;
                triangle(OP.name(), &all, self.first as i64, false)?
            }
            None => return softmax(Op::Softmax, &scores, rank - 1, None),
        };
        softmax_or_none(&choose(&seen, (&scores).into(), number(f64::NEG_INFINITY))?)
    }

    /// Returns whether keys or values that a mask excludes may be infinite or NaN; true on a device, which would have to be waited for.
    fn may_hide_infinities(&self) -> Result<bool> {
        if self.mask.is_none() && !self.saved.causal {
            return Ok(false);
        }
        if !self.key.device().is_cpu() {
            return Ok(true);
        }
        let endless = |x: &Raw| -> Result<bool> {
            let zeros = scaled(&x.clone().detach(), 0.0)?;
            let dims: Vec<usize> = (0..x.rank()).collect();
            let sum = sum(&zeros, &dims, false)?;
            Ok(sum.scalars().any(|number| number.to_f64().is_nan()))
        };
        Ok(endless(&self.key)? || endless(&self.value)?)
    }

    /// Computes the wanted gradients of queries, keys, values and a mask. With p the weights: dv = pᵀ g, ds = p (g vᵀ - sum(p g vᵀ,
    /// true)), dq = s ds k, dk = s dsᵀ q, dm = ds.
    fn gradients(&self, grad: &Raw, wants: [bool; 4]) -> Result<[Option<Raw>; 4]> {
        let weights = self.weights()?;
        let of_value = if wants[2] {
            Some(matmul(&turned(&weights)?, grad)?)
        } else {
            None
        };
        if !(wants[0] || wants[1] || wants[3]) {
            return Ok([None, None, of_value, None]);
        }
        let mut back = matmul(grad, &turned(&self.value)?)?;
        let mut key = self.key.clone();
        if self.may_hide_infinities()? {
            // A key or value that no query sees does not count, even if it is infinite or NaN.
            let unused = with_number(Op::Eq, &weights, 0.0)?;
            back = choose(&unused, number(0.0), (&back).into())?;
            let finite = apply(Op::Isfinite, [(&key).into()])?;
            key = choose(&finite, (&key).into(), number(0.0))?;
        }
        let whole = sum(&mul(&weights, &back)?, &[weights.rank() - 1], true)?;
        let scores = mul(&weights, &sub(&back, &whole)?)?;
        let wanted = |at: usize, of: &dyn Fn() -> Result<Raw>| {
            if wants[at] {
                scaled(&of()?, self.saved.score_factor()).map(Some)
            } else {
                Ok(None)
            }
        };
        let of_query = wanted(0, &|| matmul(&scores, &key))?;
        let of_key = wanted(1, &|| matmul(&turned(&scores)?, &self.query))?;
        Ok([of_query, of_key, of_value, wants[3].then_some(scores)])
    }
}

/// Computes the softmax along the last dim; zeros for rows that see nothing.
fn softmax_or_none(scores: &Raw) -> Result<Raw> {
    let last = scores.rank() - 1;
    let options = ReduceOptions::default();
    let greatest = reduce(Op::Amax, &scores.clone().detach(), &[last], true, options)?;
    let blind = with_number(Op::Eq, &greatest, f64::NEG_INFINITY)?;
    let weights = softmax(Op::Softmax, scores, last, None)?;
    choose(&blind, number(0.0), (&weights).into())
}

impl Rule for AttentionSaved {
    fn op(&self) -> &'static str {
        OP.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let wants = [0, 1, 2, 3].map(|at| run.wants(at));
        let keys = self.key.shape()[self.key.rank() - 2];
        let width = grad.shape()[grad.rank() - 1];
        // The number of scores of one query in all batches.
        let row =
            product([grad.numel() / width.max(1), keys]) / grad.shape()[grad.rank() - 2].max(1);
        let rows = (SCORES / row.max(1)).max(16);
        // A mask's gradient is as large as all scores.
        let found = if grad.numel() == 0 {
            self.zeros(wants)?
        } else if let Some(found) = self.gradients_by_kernel(grad, wants, run)? {
            found
        } else if run.records() || wants[3] || rows >= grad.shape()[grad.rank() - 2] {
            self.whole().gradients(grad, wants)?
        } else {
            self.gradients_in_blocks(grad, rows, wants)?
        };
        let [query, key, value] = &self.targets;
        let mask = self.mask.as_ref().map(GradTarget::new);
        let targets = [Some(query), Some(key), Some(value), mask.as_ref()];
        let taken = found.into_iter().zip(targets);
        let taken = taken.map(|(grad, target)| match (grad, target) {
            (Some(grad), Some(target)) => target.fit(grad).map(Some),
            _ => Ok(None),
        });
        taken.collect()
    }
}

//! Attention.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::Target;
use super::arithmetic::{apply, choose, mul, number, scaled, sub, sum, turned, with_number};
use crate::call::shape::triangle;
use crate::call::{ReduceOptions, Scores, full, matmul, reduce, softmax};
use crate::raw::Raw;
use crate::raw::graph::{Found, Given, Rule, Run, is_wanted, record};

const OP: Op = Op::ScaledDotProductAttention;

struct Attended {
    query: Raw,
    key: Raw,
    value: Raw,
    mask: Option<Raw>,
    scores: Scores,
    targets: [Target; 3],
}

/// What queries found.
pub(in crate::call) fn attended(
    out: Raw,
    [query, key, value]: [&Raw; 3],
    mask: Option<&Raw>,
    scores: Scores,
) -> Result<Raw> {
    let operands = || [Some(query), Some(key), Some(value), mask];
    if !is_wanted(operands().into_iter().flatten()) {
        return Ok(out);
    }
    let rule = Attended {
        query: query.clone(),
        key: key.clone(),
        value: value.clone(),
        mask: mask.cloned(),
        scores,
        targets: [query, key, value].map(Target::of),
    };
    record(out, operands(), rule)
}

impl Attended {
    fn scale(&self) -> f64 {
        let features = self.query.shape()[self.query.rank() - 1];
        let root = 1.0 / (features.max(1) as f64).sqrt();
        self.scores.scale.unwrap_or(root)
    }

    /// What each query gives to each key; nothing where it sees none.
    fn weights(&self) -> Result<Raw> {
        let scores = scaled(&matmul(&self.query, &turned(&self.key)?)?, self.scale())?;
        let rank = scores.rank();
        let seen = match &self.mask {
            Some(mask) if mask.dtype() != DType::Bool => {
                return self.softmax(&apply(Op::Add, [(&scores).into(), mask.into()])?);
            }
            Some(mask) => mask.clone(),
            None if self.scores.causal => {
                let last = &scores.shape()[rank - 2..];
                let all = full(last, Scalar::Bool(true), DType::Bool, scores.device())?;
                triangle(OP.name(), &all, 0, false)?
            }
            None => return softmax(Op::Softmax, &scores, rank - 1, None),
        };
        self.softmax(&choose(&seen, (&scores).into(), number(f64::NEG_INFINITY))?)
    }

    fn softmax(&self, scores: &Raw) -> Result<Raw> {
        let last = scores.rank() - 1;
        let options = ReduceOptions::default();
        let greatest = reduce(Op::Amax, &scores.clone().detach(), &[last], true, options)?;
        let blind = with_number(Op::Eq, &greatest, f64::NEG_INFINITY)?;
        let weights = softmax(Op::Softmax, scores, last, None)?;
        choose(&blind, number(0.0), (&weights).into())
    }
}

impl Rule for Attended {
    fn op(&self) -> &'static str {
        OP.name()
    }

    /// With p the weights: dv = pᵀ g, ds = p (g vᵀ - sum(p g vᵀ, true)), dq = s ds k, dk = s dsᵀ q, dm = ds.
    fn backward(&self, given: &Given, run: &Run<'_>) -> Result<Found> {
        let mut found = Found::new();
        let Some(Some(grad)) = given.first() else {
            return Ok(found);
        };
        let weights = self.weights()?;
        let of_value = match run.wants(2) {
            true => Some(self.targets[2].take(matmul(&turned(&weights)?, grad)?)?),
            false => None,
        };
        let of_scores = match (0..4).any(|at| at != 2 && run.wants(at)) {
            true => {
                let back = matmul(grad, &turned(&self.value)?)?;
                let whole = sum(&mul(&weights, &back)?, &[weights.rank() - 1], true)?;
                Some(mul(&weights, &sub(&back, &whole)?)?)
            }
            false => None,
        };
        let through = |at: usize, of: &dyn Fn(&Raw) -> Result<Raw>| match &of_scores {
            Some(scores) if run.wants(at) => {
                let grad = scaled(&of(scores)?, self.scale())?;
                Ok(Some(self.targets[at].take(grad)?))
            }
            _ => Ok(None),
        };
        found.push(through(0, &|scores| matmul(scores, &self.key))?);
        found.push(through(1, &|scores| matmul(&turned(scores)?, &self.query))?);
        found.push(of_value);
        found.push(match (&of_scores, &self.mask) {
            (Some(scores), Some(mask)) if run.wants(3) => {
                Some(Target::of(mask).take(scores.clone())?)
            }
            _ => None,
        });
        Ok(found)
    }
}

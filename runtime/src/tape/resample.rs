//! Operators that are linear along each of several dims: average pools and resampling.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::raw::Raw;

/// The weights of an operand's elements along a dim in those of the result.
#[derive(Debug)]
pub(crate) struct AxisWeights {
    pub(crate) dim: usize,
    /// The operand's size along the dim.
    pub(crate) size: usize,
    /// The number of weights of each element of the result so far.
    pub(crate) counts: Vec<usize>,
    pub(crate) taps: Vec<Tap>,
}

/// At most one weight of each element of the result. Memory grows with the number of weights, not with the length of the dim.
#[derive(Debug, Default)]
pub(crate) struct Tap {
    pub(crate) to: Vec<i64>,
    pub(crate) from: Vec<i64>,
    pub(crate) factors: Vec<f64>,
}

impl AxisWeights {
    /// No weights yet, from `size` elements to `out`.
    pub(crate) fn new(dim: usize, size: usize, out: usize) -> Self {
        Self {
            dim,
            size,
            counts: vec![0; out],
            taps: Vec::new(),
        }
    }

    /// Adds the weight of the operand's element `from` in the result's element `to`.
    pub(crate) fn add(&mut self, to: usize, from: usize, weight: f64) {
        let count = &mut self.counts[to];
        if *count == self.taps.len() {
            self.taps.push(Tap::default());
        }
        let tap = &mut self.taps[*count];
        tap.to.push(to as i64);
        tap.from.push(from as i64);
        tap.factors.push(weight);
        *count += 1;
    }
}

/// The saved values of an operator that is linear along dims.
pub(crate) struct LinearSaved {
    pub(crate) weights: Vec<AxisWeights>,
}

/// Records an operator that is linear along dims; `weights` returns the weights along each.
pub(crate) fn record_linear(
    op: Op,
    out: Raw,
    x: &Raw,
    weights: impl FnOnce() -> Vec<AxisWeights>,
) -> Result<Raw> {
    record_saved(op, out, [x], || LinearSaved { weights: weights() })
}

//! Operators that are linear along each of several dims: average pools and resampling.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::arithmetic::mul;
use super::by;
use super::pick::{Addressing, At};
use crate::call::{index_select, to_device, to_dtype};
use crate::job::Update;
use crate::raw::Raw;
use crate::shape::Shape;

/// The weights of a dim's elements in those of the result.
#[derive(Debug)]
pub(in crate::call) struct Weights {
    dim: usize,
    size: usize,
    /// How many weights each element of the result has so far.
    counts: Vec<usize>,
    taps: Vec<Tap>,
}

/// At most one weight of each element of the result: as much memory as there are weights, however long the dim is.
#[derive(Debug, Default)]
struct Tap {
    to: Vec<i64>,
    from: Vec<i64>,
    by: Vec<f64>,
}

impl Weights {
    /// Without any weight.
    pub(in crate::call) fn new(dim: usize, size: usize, out: usize) -> Self {
        Self {
            dim,
            size,
            counts: vec![0; out],
            taps: Vec::new(),
        }
    }

    /// Adds a weight to those of an element.
    pub(in crate::call) fn add(&mut self, to: usize, from: usize, weight: f64) {
        let count = &mut self.counts[to];
        if *count == self.taps.len() {
            self.taps.push(Tap::default());
        }
        let tap = &mut self.taps[*count];
        tap.to.push(to as i64);
        tap.from.push(from as i64);
        tap.by.push(weight);
        *count += 1;
    }

    /// What each element of the dim has of a gradient by its weights.
    fn transposed(&self, op: Op, grad: &Raw) -> Result<Raw> {
        let mut shape = Shape::from_slice(grad.shape());
        shape[self.dim] = self.size;
        let mut sum = Raw::zeros(op.name(), &shape, grad.dtype(), grad.device())?;
        let list = |index: &[i64]| {
            let index = Raw::from_vec(index.to_vec(), &[index.len()])?;
            to_device(&index, grad.device())
        };
        for tap in &self.taps {
            let part = if tap.to.len() == self.counts.len() {
                grad.clone()
            } else {
                index_select(op, grad, self.dim, &list(&tap.to)?)?
            };
            let mut along = Shape::from_elem(1, grad.rank());
            along[self.dim] = tap.by.len();
            let by = to_dtype(&Raw::from_vec(tap.by.clone(), &along)?, grad.dtype())?;
            let at = At {
                op,
                way: Addressing::Slices,
                dim: self.dim,
                index: list(&tap.from)?,
            };
            sum = at.put(
                sum,
                &mul(&part, &to_device(&by, grad.device())?)?,
                Update::Add,
            )?;
        }
        Ok(sum)
    }
}

/// Records what was made along dims; `weights` makes their weights.
pub(in crate::call) fn linear_along(
    op: Op,
    out: Raw,
    x: &Raw,
    weights: impl FnOnce() -> Vec<Weights>,
) -> Result<Raw> {
    by(op, out, [x], || {
        let all = weights();
        move |back, _| {
            let grad = back.grad()?;
            let mut grad = match grad.dtype() {
                DType::F16 | DType::BF16 => to_dtype(&grad, DType::F32)?,
                _ => grad,
            };
            for weights in &all {
                grad = weights.transposed(op, &grad)?;
            }
            Ok(Some(grad))
        }
    })
}

//! Gradients of operators that are linear along each of several dims: average pools and resampling.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use crate::call::arithmetic::mul;
use crate::call::{index_select, to_device, to_dtype};
use crate::job::Update;
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{Addressing, AxisWeights, Backward, DimIndex, LinearSaved, Upstream};

impl Backward for LinearSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let grad = upstream.grad()?;
        let mut grad = match grad.dtype() {
            DType::F16 | DType::BF16 => to_dtype(&grad, DType::F32)?,
            _ => grad,
        };
        for weights in &self.weights {
            grad = weights.apply_transposed(upstream.op(), &grad)?;
        }
        Ok(Some(grad))
    }
}

impl AxisWeights {
    /// Applies the transposed weights to a gradient.
    fn apply_transposed(&self, op: Op, grad: &Raw) -> Result<Raw> {
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
            along[self.dim] = tap.factors.len();
            let factors = to_dtype(&Raw::from_vec(tap.factors.clone(), &along)?, grad.dtype())?;
            let index = DimIndex {
                op,
                addressing: Addressing::Slices,
                dim: self.dim,
                index: list(&tap.from)?,
            };
            sum = index.update(
                sum,
                &mul(&part, &to_device(&factors, grad.device())?)?,
                Update::Add,
            )?;
        }
        Ok(sum)
    }
}

//! A reduction of elements that are not stored.

use nomina_core::op::{Op, class};
use nomina_core::{DType, Result};

use super::infer::Inferred;
use crate::SmallVec;
use crate::call::reduce::{ReduceOptions, reduction};
use crate::config::default_dtype;
use crate::job::{ReduceJob, Reducing};
use crate::raw::Raw;
use crate::shape::{Shape, Strides, row_major};

/// A reduction of a program's result.
#[derive(Clone, Copy, Debug)]
pub struct FusedReduction<'a> {
    /// The operator.
    pub op: Op,
    /// The dims to reduce.
    pub dims: &'a [usize],
    /// Whether they are kept with size 1.
    pub keepdim: bool,
}

/// A reduction within a program's pass, and its result.
pub(super) struct InPass {
    pub(super) out: Raw,
    op: Op,
    by: class::Reduce,
    compute: DType,
    number: f64,
    reduced: SmallVec<[bool; 8]>,
    /// The result's strides for the operand's shape.
    strides: Strides,
}

impl InPass {
    /// Returns `None` if the reduction needs stored elements, or fails.
    ///
    /// # Errors
    /// If memory is missing.
    pub(super) fn new(by: FusedReduction<'_>, of: &Inferred) -> Result<Option<Self>> {
        let FusedReduction { op, dims, keepdim } = by;
        let (row, dtype) = (op.row(), of.dtype);
        let Some(by) = reduction(op) else {
            return Ok(None);
        };
        if row.check_dtype(dtype).is_err() || of.shape.contains(&0) {
            return Ok(None);
        }
        let resolved = row.dtype.resolve(dtype, default_dtype());
        let options = ReduceOptions::default();
        let (compute, result, number) = match op {
            Op::Var | Op::Std | Op::Norm if dtype.is_complex() => return Ok(None),
            Op::Norm => (DType::F64, dtype, options.p),
            _ => (resolved.compute, resolved.result, options.correction),
        };
        let mut reduced: SmallVec<[bool; 8]> = SmallVec::from_elem(false, of.shape.len());
        for &dim in dims {
            match reduced.get_mut(dim) {
                Some(mark @ false) => *mark = true,
                _ => return Ok(None),
            }
        }
        let sizes = of.shape.iter().zip(&reduced);
        let kept: Shape = sizes
            .clone()
            .map(|(&size, &gone)| if gone { 1 } else { size })
            .collect();
        let left = || sizes.filter(|&(_, &gone)| !gone).map(|(&size, _)| size);
        let shape: Shape = if keepdim {
            kept.clone()
        } else {
            left().collect()
        };
        let strides = row_major(&kept)
            .iter()
            .zip(&reduced)
            .map(|(&stride, &gone)| if gone { 0 } else { stride })
            .collect();
        Ok(Some(Self {
            out: Raw::empty(op.name(), &shape, result, of.device)?,
            op,
            by,
            compute,
            number,
            reduced,
            strides,
        }))
    }

    /// Returns the job; the operand has no address.
    pub(super) fn job<'a>(&'a mut self, of: &'a Inferred) -> ReduceJob<'a> {
        ReduceJob {
            op: self.op,
            by: Reducing::Values(self.by),
            compute: self.compute,
            number: self.number,
            shape: &of.shape,
            strides: &of.strides,
            x: std::ptr::null(),
            dtype: of.dtype,
            reduced: &self.reduced,
            out: &self.strides,
            values: self.out.fresh_ptr(),
            values_dtype: self.out.dtype(),
            positions: std::ptr::null_mut(),
        }
    }
}

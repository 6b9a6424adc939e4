//! The gradient of a convolution's weight.

use nomina_core::Result;
use nomina_core::op::Op;

use super::convolve::strides;
use super::three;
use crate::call::backend::backend;
use crate::call::contiguous;
use crate::job::{Sliding, WeightGradientJob};
use crate::profile::Span;
use crate::raw::Raw;

/// Computes the gradient of a weight of `shape` from the input side and the output side of windows. Operands are the batch,
/// channels and the dims that a kernel slides along. Returns `None` if the backend has no kernel for it.
///
/// # Errors
/// If memory or the device is missing.
pub(crate) fn weight_gradient(
    op: Op,
    (windows, groups): (&[Sliding], usize),
    input: &Raw,
    output: &Raw,
    shape: &[usize],
) -> Result<Option<Raw>> {
    let (dtype, device) = (input.dtype(), input.device());
    if dtype != output.dtype() || device != output.device() {
        return Ok(None);
    }
    let op = op.name();
    let output = contiguous(output)?;
    let mut out = Raw::empty(op, shape, dtype, device)?;
    let apart = output.strides();
    let job = WeightGradientJob {
        op,
        dtype,
        batch: input.shape()[0],
        groups,
        channels: shape[1],
        outs: shape[0] / groups,
        windows: three(Sliding::NONE, windows),
        x: input.as_ptr(),
        x_strides: strides(input),
        grad: output.as_ptr(),
        grad_strides: [apart[0], apart[1], 1],
        out: out.fresh_ptr(),
    };
    let _span = Span::new(op);
    // SAFETY: windows slide over the input and have the output's positions; the result is fresh and row-major.
    let found = unsafe { backend(op, device)?.conv_weight(&job)? };
    Ok(found.then_some(out))
}

//! Elementwise operators with parameters.

use nomina_core::op::Op;
use nomina_core::{Result, rule};
use nomina_runtime::call;
use nomina_runtime::tensor::CloseOptions;

use super::{Erased, ErasedRef, OperandRef, Static, pointwise};

/// Returns whether elements are close to each other.
pub(crate) fn close(
    op: Op,
    x: ErasedRef<'_>,
    other: ErasedRef<'_>,
    options: CloseOptions,
    out: &'static Static,
) -> Result<Erased> {
    let (kernel, [rtol, atol]) = options.chosen(op.name())?;
    let sides = [
        OperandRef::Tensor(x),
        OperandRef::Tensor(other),
        OperandRef::Scalar(rtol.into()),
        OperandRef::Scalar(atol.into()),
    ];
    pointwise::new(kernel, &sides, out).map_err(|error| error.in_op(op.name()))
}

/// Returns whether all elements are close.
pub(crate) fn all_close(
    x: ErasedRef<'_>,
    other: ErasedRef<'_>,
    options: CloseOptions,
    out: &'static Static,
) -> Result<bool> {
    // Tensors with different names are not equal, as for `equal`.
    if !rule::equal_names(&x.names(), &other.names()) {
        return Ok(false);
    }
    let close = close(Op::Allclose, x, other, options, out)?;
    let every: Vec<usize> = (0..close.raw.rank()).collect();
    let all = call::reduce(
        Op::All,
        &close.raw,
        &every,
        false,
        call::ReduceOptions::default(),
    )?;
    Ok(all.item()?.to_bool())
}

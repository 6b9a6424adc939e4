//! Labels and numbers of batches.

use nomina::{DType, DynTensor, Error, ErrorKind, Result};

/// The label that is not counted, like the default of `cross_entropy`.
pub(super) const IGNORED: i64 = -100;

/// Checks that two tensors have the same names and sizes.
pub(super) fn check_alike(op: &'static str, a: &DynTensor, b: &DynTensor) -> Result<()> {
    nomina_core::rule::unify(op, a.names(), b.names())?;
    if a.rank() != b.rank() {
        let what = format!("{} dims and {} dims", a.rank(), b.rank());
        return Err(Error::new(ErrorKind::Rank, op, what)
            .operand(a.names(), a.shape())
            .operand(b.names(), b.shape()));
    }
    let other = (0..a.rank()).find(|&at| a.shape()[at] != b.shape()[at]);
    other.map_or(Ok(()), |at| {
        let shapes = [a.shape(), b.shape()];
        Err(Error::sizes(op, shapes, [(0, at), (1, at)]).with_names([a.names(), b.names()]))
    })
}

/// Returns integers as `i64`, from any device.
pub(super) fn integers(x: &DynTensor) -> Result<Vec<i64>> {
    x.to_dtype(DType::I64)?.to_vec::<i64>()
}

/// Returns numbers as `f64`, from any device.
pub(super) fn numbers(x: &DynTensor) -> Result<Vec<f64>> {
    x.detach().to_dtype(DType::F64)?.to_vec::<f64>()
}

pub(super) fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

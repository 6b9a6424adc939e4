//! Linear algebra.

use nomina_core::Result;
use nomina_core::op::class::Linalg;
use nomina_core::rule::DimArg;
use nomina_runtime::DynTensor;
use nomina_runtime::call::{self, MatrixOptions};

use super::compose::{call_dynamic, erase};
use super::product::{Pairs, shared};
use super::view::check_sizes;
use super::{Erased, ErasedRef, Static, explain};

/// Computes an operator on the matrices along two dims; the result has the names `out`. A new dim
/// has the size that its type requires.
pub(crate) fn matrices<const N: usize>(
    op: Linalg,
    x: ErasedRef<'_>,
    at: &[usize],
    out: [&'static Static; N],
    compute: impl Fn(&DynTensor, DimArg<'static>) -> Result<[DynTensor; N]>,
) -> Result<[Erased; N]> {
    let made = call_dynamic(&[x], |x| compute(&x[0], DimArg::list(at.iter().copied())))?;
    for (made, out) in made.iter().zip(out) {
        check_sizes(op.op().name(), made.shape(), out)?;
    }
    let mut out = out.into_iter();
    Ok(made.map(|made| {
        let out = out.next().unwrap_or(x.of);
        erase(made, out)
    }))
}

/// Solves for `b`, whose dim `rows` is that of the rows of `a`; other dims of equal names are batch
/// dims.
///
/// Types have checked everything and exclude `Wild`, so positions suffice.
pub(crate) fn solve(
    op: Linalg,
    a: ErasedRef<'_>,
    at: &[usize],
    (b, rows): (ErasedRef<'_>, usize),
    options: MatrixOptions,
) -> Result<Erased> {
    let batch: Pairs = shared(a, b).filter(|(i, _)| !at.contains(i)).collect();
    let raw = call::solve(op, a.raw, [at[0], at[1]], (b.raw, rows), &batch, options);
    Ok(Erased::new(raw.map_err(|error| explain(error, &[a, b]))?))
}

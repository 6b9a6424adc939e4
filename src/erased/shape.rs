//! Elements moved, repeated and rearranged.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_runtime::DynTensor;
use nomina_runtime::call;

use super::compose::{call_dynamic, call_for_tensor};
use super::{Dest, Erased, ErasedRef, Static, view};

/// Computes an operator of one operand that keeps the meaning of all dims.
pub(crate) fn same(
    x: ErasedRef<'_>,
    out: &'static Static,
    compute: impl Fn(&DynTensor) -> Result<DynTensor>,
) -> Result<Erased> {
    call_for_tensor(&[x], out, |x| compute(&x[0]))
}

/// Computes an operator whose result has new dims, at `new`; checks their sizes against the types.
pub(crate) fn sized(
    op: &'static str,
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    new: &[usize],
    compute: impl Fn(&[DynTensor]) -> Result<DynTensor>,
) -> Result<Erased> {
    let made = call_for_tensor(operands, out, compute)?;
    let shape = made.raw.shape();
    for &dim in new {
        let (Some(known), size) = (out.sizes[dim], shape[dim]) else {
            continue;
        };
        if known != size {
            let what = format!("size {size}, but the dim's type says {known}");
            return Err(Error::new(ErrorKind::Shape, op, what)
                .operand(&Names::from_static(out.names), shape)
                .at(0, dim)
                .hint("the size declared in `dims!` is the only one allowed"));
        }
    }
    Ok(made)
}

/// Repeats everything; a dim with a constant size keeps it.
pub(crate) fn repeat(x: ErasedRef<'_>, counts: &[i64]) -> Result<Erased> {
    let sizes = x.of.sizes.iter().zip(x.raw.shape()).zip(counts);
    for (dim, ((known, &size), &count)) in sizes.enumerate() {
        let Some(known) = *known else { continue };
        if count != 1 && i64::try_from(known).ok() != (size as i64).checked_mul(count) {
            let what = format!("a dim of constant size {known} cannot repeat {count} times");
            return Err(x
                .blame(Error::new(ErrorKind::Shape, "repeat", what))
                .at(0, dim)
                .hint("give the dim another name first: `x.rename(..)`"));
        }
    }
    same(x, x.of, |x| x.repeat(counts))
}

/// Computes an operator of two operands whose dims unify.
pub(crate) fn joined(
    op: Op,
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    compute: impl Fn(&[DynTensor]) -> Result<DynTensor>,
) -> Result<Erased> {
    call_for_tensor(operands, out, compute).map_err(|error| error.in_op(op.name()))
}

/// Returns pieces of a dim, at ranges that follow from its size.
pub(crate) fn pieces(
    x: ErasedRef<'_>,
    dim: usize,
    ranges: impl FnOnce(usize) -> Result<call::Ranges>,
) -> Result<Vec<Erased>> {
    let ranges = ranges(x.raw.shape()[dim]).map_err(|error| x.blame(error).at(0, dim))?;
    ranges
        .into_iter()
        .map(|range| view::narrow(x, dim, range))
        .collect()
}

/// Sets the elements on one side of a diagonal to zero, in place.
pub(crate) fn triangle(op: Op, dest: Result<Dest<'_>>, diagonal: i64, upper: bool) -> Result<()> {
    let dest = dest?;
    let names = dest.names();
    call::triangle_in_place(op.name(), dest.raw, diagonal, upper)
        .map_err(|error| error.with_names([&names]))
}

/// Expands vectors over the grid of all of them.
pub(crate) fn grid(
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    options: nomina_runtime::tensor::MeshgridOptions,
) -> Result<Vec<Erased>> {
    let all = call_dynamic(operands, |x| {
        DynTensor::meshgrid_with(&x.iter().collect::<Vec<_>>(), options)
    })?;
    Ok(all
        .into_iter()
        .map(|x| super::compose::erase(x, out))
        .collect())
}

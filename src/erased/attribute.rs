//! Resizing: other sizes for the same buffer.

use nomina_core::{Result, rule};
use nomina_runtime::call;

use super::view::check_sizes;
use super::{Erased, ErasedRef, Static, explain, names, wilds};

/// Resizes a tensor.
pub(crate) fn resize(own: &mut Erased, of: &'static Static, shape: &[usize]) -> Result<()> {
    let now = names(own.wild.as_deref(), of);
    rule::resize("resize", &now, own.raw.shape(), shape)?;
    check_sizes("resize", shape, of)?;
    let resized = call::resize(&own.raw, shape);
    own.replace_elements(resized.map_err(|error| own.erased(of).blame(error))?);
    Ok(())
}

/// Resizes a tensor to the sizes of another, and takes its names where `own` has none.
pub(crate) fn resize_as(own: &mut Erased, of: &'static Static, other: ErasedRef<'_>) -> Result<()> {
    let at = |error, own: &Erased| explain(error, &[own.erased(of), other]);
    let (mine, theirs) = (names(own.wild.as_deref(), of), other.names());
    let (now, shape) = rule::resize_as(
        "resize_as",
        (&mine, own.raw.shape()),
        (&theirs, other.raw.shape()),
    )
    .map_err(|error| at(error, own))?;
    let resized = call::resize(&own.raw, &shape);
    own.replace_elements(resized.map_err(|error| at(error.in_op("resize_as"), own))?);
    own.wild = wilds(now, of);
    Ok(())
}

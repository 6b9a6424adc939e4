//! Reshaping by position: new sizes for the same elements.

use alloc::format;

use super::Shape;
use super::flatten::split;
use super::remove::rank_limit;
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the names and the shape of a tensor reshaped to `sizes`, one of which may be -1. A named
/// tensor can only keep its shape, since sizes do not tell which name belongs to which dim.
///
/// # Errors
/// [`ErrorKind::Shape`] if the sizes do not multiply to the number of elements,
/// [`ErrorKind::Resize`] if names would be lost.
pub fn reshape(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    sizes: &[i64],
) -> Result<(Names, Shape)> {
    rank_limit(op, sizes.len())?;
    let count = super::numel(op, shape)?;
    let new = match sizes {
        [] if count == 1 => Some(Shape::new()),
        _ => split(count, sizes),
    };
    let Some(new) = new else {
        let what = format!("{count} elements do not fill {sizes:?}");
        return Err(Error::new(ErrorKind::Shape, op, what)
            .operand(names, shape)
            .hint("give sizes with the same product; one may be -1"));
    };
    if *new == *shape {
        return Ok((names.clone(), new));
    }
    if names.has_names() {
        let what = format!("sizes {:?} do not say where names go", new.as_slice());
        return Err(Error::new(ErrorKind::Resize, op, what)
            .operand(names, shape)
            .hint("use `flatten` and `unflatten`, or `drop_names` first"));
    }
    Ok((Names::unnamed(new.len()), new))
}

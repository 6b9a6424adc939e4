//! Padding, and other gathers whose indices are independent from dim to dim.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result, Scalar};

use super::{PadPair, check_count, list, refuse};
use crate::call::backend::backend;
use crate::call::check;
use crate::job::{Constant, SpreadJob};

use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::record_pad;

/// The elements with which a dim is padded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PadMode {
    /// A constant.
    #[default]
    Constant,
    /// The dim's elements, mirrored at the first and the last one: `3 2 | 1 2 3 | 2 1`.
    Reflect,
    /// The first and the last element, repeated: `1 1 | 1 2 3 | 3 3`.
    Replicate,
    /// The dim's elements, continued from the other end: `2 3 | 1 2 3 | 1 2`.
    Circular,
}

/// Picks elements: dim `dim` has the indices `maps[dim]`, or is unchanged.
pub(super) fn spread(op: Op, x: &Raw, maps: &[Option<Vec<isize>>], value: Scalar) -> Result<Raw> {
    let sizes = x.shape().iter().zip(maps);
    let shape: Shape = sizes
        .map(|(&size, map)| map.as_ref().map_or(size, Vec::len))
        .collect();
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let job = SpreadJob {
        op: op.name(),
        element: x.dtype().size(),
        shape: &shape,
        maps,
        x: x.as_ptr(),
        x_strides: x.strides(),
        value: Constant::new(value, x.dtype()),
        out: out.fresh_ptr(),
    };
    if out.numel() > 0 {
        // SAFETY: every index of a map is -1 or within its dim; the result is fresh.
        unsafe { backend(op.name(), x.device())?.spread(&job)? };
    }
    record_pad(op, out, x, maps)
}

/// Adds elements before and after dims.
///
/// # Errors
/// If a mirror or circular padding is longer than the dim, more elements are removed than there are, or memory is
/// missing.
pub fn pad(
    op: Op,
    x: &Raw,
    dims: &[usize],
    pairs: &[PadPair],
    mode: PadMode,
    value: Scalar,
) -> Result<Raw> {
    check_count(op, x, "pad", pairs.len(), dims.len())?;
    check::dims(op.name(), x.shape(), dims)?;
    let mut maps = vec![None; x.rank()];
    for (&dim, &pair) in dims.iter().zip(pairs) {
        let size = padded(op, x, dim, pair, mode)?;
        if pair != (0, 0) {
            maps[dim] = Some(map(op, x, dim, pair, size, mode)?);
        }
    }
    spread(op, x, &maps, value)
}

/// Returns the size of a padded dim.
fn padded(op: Op, x: &Raw, dim: usize, (before, after): PadPair, mode: PadMode) -> Result<usize> {
    let size = x.shape()[dim] as i128;
    let fail = |kind, what: String, hint: &str| {
        Err(refuse(kind, op, &[x], what)
            .at(0, dim)
            .hint(hint.to_owned()))
    };
    let most = match mode {
        PadMode::Constant => i128::MAX,
        PadMode::Reflect => size - 1,
        PadMode::Replicate if size > 0 => i128::MAX,
        PadMode::Replicate => 0,
        PadMode::Circular => size,
    };
    let (before, after) = (i128::from(before), i128::from(after));
    if before.max(after) > most.max(0) {
        return fail(
            ErrorKind::Shape,
            format!("{before} elements before and {after} after a dim of {size}"),
            "pad less than the dim's size, or with a constant",
        );
    }
    let whole = size + before.max(0) + after.max(0);
    if isize::try_from(whole).is_err() {
        return fail(
            ErrorKind::Argument,
            format!(
                "{before} elements before and {after} after {size} are more than a dim can have"
            ),
            "pad less",
        );
    }
    match usize::try_from(size + before + after) {
        Ok(padded) if size + before.min(0) + after.min(0) >= 0 && padded <= isize::MAX as usize => {
            Ok(padded)
        }
        _ => fail(
            ErrorKind::Shape,
            format!("{before} elements before and {after} after a dim of {size}"),
            "remove no more than there are",
        ),
    }
}

/// Returns the element of the dim at each index.
fn map(
    op: Op,
    x: &Raw,
    dim: usize,
    (before, _): PadPair,
    padded: usize,
    mode: PadMode,
) -> Result<Vec<isize>> {
    let size = x.shape()[dim] as isize;
    let mut map = list(op, x, padded)?;
    map.extend((0..padded as isize).map(|at| {
        let index = at - before as isize;
        match mode {
            _ if (0..size).contains(&index) => index,
            PadMode::Constant => -1,
            PadMode::Reflect if index < 0 => -index,
            PadMode::Reflect => (size - 1) - (index - (size - 1)),
            PadMode::Replicate => index.clamp(0, size - 1),
            PadMode::Circular => index.rem_euclid(size),
        }
    }));
    Ok(map)
}

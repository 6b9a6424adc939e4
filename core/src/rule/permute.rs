//! Rule 4: reordered dims. Each function returns the input's position for each output dim;
//! [`kept`](super::kept) then returns the names.

use alloc::format;

use super::Positions;
use super::arg::DimArg;
use super::lookup::{DimRef, position, wrap};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Reorders all dims in the order given.
///
/// # Errors
/// If a dim does not exist or is repeated, and [`ErrorKind::Rank`] if one is left out.
pub fn permute(op: &'static str, names: &Names, dims: &DimArg<'_>) -> Result<Positions> {
    let positions = dims.listed(op, names)?;
    if positions.len() == names.len() {
        return Ok(positions);
    }
    Err(Error::new(
        ErrorKind::Rank,
        op,
        format!(
            "{} dims in the order, {} in the tensor",
            positions.len(),
            names.len()
        ),
    )
    .operand(names, &[])
    .hint("list every dim, or use `align_to` with `..` for the rest"))
}

/// Swaps two dims.
///
/// # Errors
/// If a dim does not exist.
pub fn transpose(
    op: &'static str,
    names: &Names,
    a: DimRef<'_>,
    b: DimRef<'_>,
) -> Result<Positions> {
    let (a, b) = (
        a.position_or_scalar(op, names)?,
        b.position_or_scalar(op, names)?,
    );
    let mut order: Positions = (0..names.len()).collect();
    if let (Some(a), Some(b)) = (a, b) {
        order.swap(a, b);
    }
    Ok(order)
}

/// Swaps the two dims of a matrix; vectors and numbers stay.
///
/// # Errors
/// [`ErrorKind::Rank`] for more than 2 dims.
pub fn t(op: &'static str, names: &Names) -> Result<Positions> {
    let rank = names.len();
    if rank <= 2 {
        return Ok((0..rank).rev().collect());
    }
    Err(Error::new(
        ErrorKind::Rank,
        op,
        format!("takes at most 2 dims, not {rank}"),
    )
    .operand(names, &[])
    .hint("say which dims to swap: `x.transpose(A, B)`, or use `mT` for the last two"))
}

/// Swaps the last two dims.
///
/// # Errors
/// [`ErrorKind::Rank`] for fewer than 2 dims.
pub fn mt(op: &'static str, names: &Names) -> Result<Positions> {
    let rank = names.len();
    if rank < 2 {
        return Err(Error::new(
            ErrorKind::Rank,
            op,
            format!("takes at least 2 dims, not {rank}"),
        )
        .operand(names, &[])
        .hint("add a dim with `unsqueeze`"));
    }
    let mut order: Positions = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    Ok(order)
}

/// Moves the dims of `source` to the positions of `destination`; the others keep their order. A
/// name in `destination` means the present position of that dim.
///
/// # Errors
/// If a dim does not exist or is repeated, and [`ErrorKind::Rank`] if the lists differ in length.
pub fn movedim(
    op: &'static str,
    names: &Names,
    source: &DimArg<'_>,
    destination: &DimArg<'_>,
) -> Result<Positions> {
    let source = source.listed(op, names)?;
    let destination = destination.listed(op, names)?;
    if source.len() != destination.len() {
        return Err(Error::new(
            ErrorKind::Rank,
            op,
            format!("{} dims to {} positions", source.len(), destination.len()),
        )
        .operand(names, &[])
        .hint("give one position per dim"));
    }
    let mut others = (0..names.len()).filter(|i| !source.contains(i));
    let order =
        (0..names.len()).filter_map(|out| match destination.iter().position(|to| *to == out) {
            Some(i) => Some(source[i]),
            None => others.next(),
        });
    Ok(order.collect())
}

/// The effect of `diagonal` on the dims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagonal {
    /// The position of the first dim of the plane.
    pub dim1: usize,
    /// The position of the second dim of the plane.
    pub dim2: usize,
    /// The other dims, then the diagonal.
    pub names: Names,
}

/// Removes the pair of dims and appends the diagonal as `outdim` or unnamed.
///
/// # Errors
/// If a dim does not exist, [`ErrorKind::Index`] if both are the same,
/// [`ErrorKind::DuplicateNames`] if a remaining dim is named `outdim`.
pub fn diagonal(
    op: &'static str,
    names: &Names,
    dim1: DimRef<'_>,
    dim2: DimRef<'_>,
    outdim: Option<&str>,
) -> Result<Diagonal> {
    let (dim1, dim2) = (position(op, names, dim1)?, position(op, names, dim2)?);
    if dim1 == dim2 {
        return Err(Error::new(
            ErrorKind::Index,
            op,
            format!("dim {dim1} is given as both dims"),
        )
        .operand(names, &[])
        .hint("name two different dims"));
    }
    let outdim = outdim.map(Name::new).transpose().map_err(|e| e.in_op(op))?;
    let mut result = super::remove(names, &[dim1, dim2]);
    if let Some(name) = outdim
        .as_ref()
        .filter(|name| result.position(name).is_some())
    {
        return Err(Error::new(
            ErrorKind::DuplicateNames,
            op,
            format!("dim `{name}` remains, the diagonal can't have its name"),
        )
        .operand(names, &[])
        .hint("give the diagonal another name"));
    }
    result.push(outdim);
    Ok(Diagonal {
        dim1,
        dim2,
        names: result,
    })
}

/// Resolves `index` into dim `dim`; negative counts from the end.
///
/// # Errors
/// [`ErrorKind::Index`], with index, dim and size, if it is out of range.
pub fn index_in(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    dim: usize,
    index: i64,
) -> Result<usize> {
    let size = shape.get(dim).copied().unwrap_or(0);
    wrap(index, size).ok_or_else(|| {
        Error::new(
            ErrorKind::Index,
            op,
            format!("index {index} is out of range for size {size}"),
        )
        .operand(names, shape)
        .at(0, dim)
    })
}

//! Diagonals and triangles.

use crate::Device;
use crate::job::{Place, TriangleJob};
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call::assign::assign;
use crate::call::backend::backend;
use crate::call::convert::write_elements;
use crate::call::{copy_into, to_dtype};
use crate::memory::list;
use crate::raw::{Raw, RawMut};
use crate::shape::Shape;
use crate::tape::record_triangle;

/// Returns planes with the elements of `x`'s last dim on a diagonal and zeros elsewhere; the planes' dims are `dim1`
/// and `dim2` of the result.
///
/// # Errors
/// If `x` has no dims, a position is out of range, the sizes overflow, or memory is missing.
pub fn diagonal_matrix(
    op: &'static str,
    x: &Raw,
    offset: i64,
    dim1: usize,
    dim2: usize,
) -> Result<Raw> {
    let refuse = |what: String| {
        Error::new(ErrorKind::Shape, op, what)
            .operand(&Names::default(), x.shape())
            .hint("use a smaller offset")
    };
    let side = x
        .shape()
        .last()
        .and_then(|&last| {
            let apart = usize::try_from(offset.unsigned_abs()).ok()?;
            last.checked_add(apart)
        })
        .ok_or_else(|| refuse(format!("offset {offset} overflows the sizes")))?;
    let mut shape = Shape::from_slice(&x.shape()[..x.rank() - 1]);
    for at in [dim1.min(dim2), dim1.max(dim2)] {
        if at > shape.len() {
            return Err(refuse(format!("dim {at} is out of range")));
        }
        shape.insert(at, side);
    }
    let mut out = Raw::zeros(op, &shape, x.dtype(), x.device())?;
    let offset = isize::try_from(offset).map_err(|_| refuse(format!("offset {offset}")))?;
    copy_into(out.as_mut()?.diagonal(dim1, dim2, offset)?, x)?;
    Ok(out)
}

/// Returns the elements on a diagonal of the last two dims and on one side of it, and zeros on the other side.
///
/// # Errors
/// [`ErrorKind::Rank`] for fewer than two dims; also if memory is missing.
pub fn triangle(op: &'static str, x: &Raw, diagonal: i64, upper: bool) -> Result<Raw> {
    check(op, x.shape())?;
    let mut out = Raw::empty(op, x.shape(), x.dtype(), x.device())?;
    write_elements(out.as_mut()?, x)?;
    triangle_in_place(op, out.as_mut()?, diagonal, upper)?;
    record_triangle(out, x, diagonal, upper)
}

/// Writes zeros on one side of a diagonal of the last two dims.
///
/// # Errors
/// [`ErrorKind::Rank`] for fewer than two dims.
pub fn triangle_in_place(
    op: &'static str,
    mut dest: RawMut<'_>,
    diagonal: i64,
    upper: bool,
) -> Result<()> {
    check(op, dest.shape())?;
    if dest.records([]) {
        return assign(op, dest, |x| triangle(op, x, diagonal, upper));
    }
    let place = Place {
        ptr: dest.as_mut_ptr(),
        dtype: dest.dtype(),
    };
    let job = TriangleJob {
        shape: dest.shape(),
        strides: dest.strides(),
        diagonal,
        upper,
    };
    // SAFETY: the layout of a tensor to which nothing else has access.
    unsafe { backend(op, dest.device())?.triangle(&job, place) }
}

fn check(op: &'static str, shape: &[usize]) -> Result<()> {
    if shape.len() >= 2 {
        return Ok(());
    }
    let what = format!("takes at least 2 dims, not {}", shape.len());
    Err(Error::new(ErrorKind::Rank, op, what)
        .operand(&Names::default(), shape)
        .hint("add a dim with `unsqueeze`"))
}

/// Sums the numbers below `end`, each raised to at least 0 and limited to `most`.
fn below(end: i128, most: usize) -> u128 {
    let (end, most) = (end.max(0) as u128, most as u128);
    let rising = end.min(most + 1);
    let triangle: u128 = rising * rising.saturating_sub(1) / 2;
    triangle.saturating_add((end - rising).saturating_mul(most))
}

/// Returns the indices of the elements of a matrix that [`triangle`] keeps, row by row: a row of row numbers and a row
/// of column numbers.
///
/// # Errors
/// If the sizes overflow or memory is missing.
pub fn triangle_indices(
    op: &'static str,
    (rows, columns): (usize, usize),
    offset: i64,
    upper: bool,
    dtype: DType,
    device: Device,
) -> Result<Raw> {
    let kept = |row: usize| {
        let edge = row as i128 + i128::from(offset);
        if upper {
            edge.clamp(0, columns as i128) as usize..columns
        } else {
            0..(edge + 1).clamp(0, columns as i128) as usize
        }
    };
    // Row `row` has `row + first` elements, counted up or, for an upper triangle, from the last row.
    let first = if upper {
        columns as i128 - i128::from(offset) - rows as i128 + 1
    } else {
        i128::from(offset) + 1
    };
    let count = below(first + rows as i128, columns) - below(first, columns);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    // Only rows with elements.
    let (from, to) = if upper {
        (0, columns as i128 - i128::from(offset))
    } else {
        (-i128::from(offset), rows as i128)
    };
    let within = |row: i128| row.clamp(0, rows as i128) as usize;
    let rows = if count == 0 {
        0..0
    } else {
        within(from)..within(to)
    };
    let mut data: Vec<i64> = list(op, [2, count])?;
    for row in rows.clone() {
        data.extend(kept(row).map(|_| row as i64));
    }
    for row in rows {
        data.extend(kept(row).map(|column| column as i64));
    }
    let indices = to_dtype(&Raw::from_vec(data, &[2, count])?, dtype)?;
    if !device.is_cpu() {
        crate::cuda::host_fallback::count(op);
    }
    crate::call::to_device(&indices, device)
}

//! Rule 9: merging dims into one, and splitting one.

use alloc::format;
use alloc::string::String;

use smallvec::SmallVec;

use super::arg::DimArg;
use super::item::{NameItem, distinct};
use super::lookup::{DimRef, find};
use super::remove::rank_limit;
use super::{Positions, Shape, numel};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// The effect of `flatten` on the dims: `len` of them from `start` on become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flattening {
    /// The first of the dims.
    pub start: usize,
    /// The number of dims; 0 for a zero-dim tensor, which becomes a vector with 1 element.
    pub len: usize,
    /// The names of the result.
    pub names: Names,
}

/// Merges a list of dims, which must be adjacent and in order, into one dim named `out`.
///
/// # Errors
/// [`ErrorKind::Flatten`] if they are not adjacent or the list is empty;
/// [`ErrorKind::DuplicateNames`] if a remaining dim is named `out`; [`ErrorKind::InvalidName`]; and
/// if a dim does not exist.
pub fn flatten(
    op: &'static str,
    names: &Names,
    dims: &DimArg<'_>,
    out: Option<&str>,
) -> Result<Flattening> {
    let positions = dims.listed(op, names)?;
    if let Some(pair) = positions.windows(2).find(|pair| pair[1] != pair[0] + 1) {
        return Err(apart(op, names, &positions, pair[0], pair[1]));
    }
    match positions.first() {
        Some(&start) => flat(op, names, start, positions.len(), out),
        None if names.is_empty() && dims.is_all() && dims.items().is_empty() => {
            flat(op, names, 0, 0, out)
        }
        None => Err(Error::new(ErrorKind::Flatten, op, "no dims to flatten")
            .operand(names, &[])
            .hint("list at least one dim, or use `unsqueeze` for a dim of size 1")),
    }
}

/// Merges the dims from `start` to `end`, inclusive, into one dim named `out`.
///
/// # Errors
/// The errors of [`flatten`]; [`ErrorKind::Flatten`] if `end` is before `start`.
pub fn flatten_range(
    op: &'static str,
    names: &Names,
    start: DimRef<'_>,
    end: DimRef<'_>,
    out: Option<&str>,
) -> Result<Flattening> {
    let (start, end) = (
        start.position_or_scalar(op, names)?,
        end.position_or_scalar(op, names)?,
    );
    match (start, end) {
        (Some(start), Some(end)) if start <= end => flat(op, names, start, end - start + 1, out),
        (Some(start), Some(end)) => Err(Error::new(
            ErrorKind::Flatten,
            op,
            format!("the last dim, {end}, is before the first, {start}"),
        )
        .operand(names, &[])
        .hint("swap them, or `align_to` the order you want first")),
        _ => flat(op, names, 0, 0, out),
    }
}

fn flat(
    op: &'static str,
    names: &Names,
    start: usize,
    len: usize,
    out: Option<&str>,
) -> Result<Flattening> {
    let mut result: Names = names[..start].iter().cloned().collect();
    // If a flattened dim already has the name, reuse it without an allocation.
    result.push(match out {
        None => None,
        Some(out) => match find(names, out) {
            Some(at) if (start..start + len).contains(&at) => names[at].clone(),
            Some(_) => {
                return Err(Error::new(
                    ErrorKind::DuplicateNames,
                    op,
                    format!("dim `{out}` remains, the flattened dim can't have its name"),
                )
                .operand(names, &[])
                .hint("give the flattened dim another name"));
            }
            None => Some(Name::new(out).map_err(|e| e.in_op(op))?),
        },
    });
    for name in &names[start + len..] {
        result.push(name.clone());
    }
    Ok(Flattening {
        start,
        len,
        names: result,
    })
}

#[cold]
fn apart(op: &'static str, names: &Names, positions: &Positions, a: usize, b: usize) -> Error {
    let name = |i: usize| match &names[i] {
        Some(name) => format!("`{name}`"),
        None => format!("{i}"),
    };
    let mut order = String::new();
    for &i in positions {
        order.push_str(if order.is_empty() { "" } else { ", " });
        order.push_str(name(i).trim_matches('`'));
    }
    Error::new(
        ErrorKind::Flatten,
        op,
        format!("dim {} does not follow dim {}", name(b), name(a)),
    )
    .operand(names, &[])
    .hint(format!(
        "bring them together first: `x.align_to((.., {order}))`"
    ))
}

/// Returns the sizes of the flattened tensor.
///
/// # Errors
/// [`ErrorKind::Shape`] if the product overflows, which is impossible for the shape of a tensor.
pub fn flatten_shape(op: &'static str, shape: &[usize], flat: &Flattening) -> Result<Shape> {
    let end = flat.start + flat.len;
    let mut result = Shape::from_slice(&shape[..flat.start]);
    result.push(numel(op, &shape[flat.start..end])?);
    result.extend_from_slice(&shape[end..]);
    Ok(result)
}

/// The effect of `unflatten` on the dims: the one at `position` becomes dims of `sizes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unflattening {
    /// The dim that is split.
    pub position: usize,
    /// The sizes of the new dims.
    pub sizes: Shape,
    /// The names of the result, all dims.
    pub names: Names,
}

/// Splits one dim into several, named and sized; one size may be -1, which is inferred from the
/// others.
///
/// # Errors
/// [`ErrorKind::Flatten`] if the sizes do not multiply to the dim's size;
/// [`ErrorKind::DuplicateNames`], [`ErrorKind::InvalidName`]; and if the dim does not exist.
pub fn unflatten(
    op: &'static str,
    names: &Names,
    shape: &[usize],
    dim: DimRef<'_>,
    sizes: &[(NameItem<'_>, i64)],
) -> Result<Unflattening> {
    let position = dim.position(op, names)?;
    let whole = shape[position];
    let given: SmallVec<[i64; 8]> = sizes.iter().map(|(_, size)| *size).collect();
    let Some(inferred) = split(whole, &given) else {
        return Err(Error::new(
            ErrorKind::Flatten,
            op,
            format!("sizes {:?} do not multiply to {whole}", given.as_slice()),
        )
        .operand(names, shape)
        .at(0, position)
        .hint("one size may be -1, which is computed"));
    };
    rank_limit(op, names.len() - 1 + sizes.len())?;
    let mut result: Names = names[..position].iter().cloned().collect();
    for (item, _) in sizes {
        result.push(item.name(op)?);
    }
    for name in &names[position + 1..] {
        result.push(name.clone());
    }
    let names = distinct(op, result).map_err(|e| e.operand(names, shape))?;
    Ok(Unflattening {
        position,
        sizes: inferred,
        names,
    })
}

/// Returns `given` with its only -1 replaced, if the sizes then multiply to `whole`.
pub(super) fn split(whole: usize, given: &[i64]) -> Option<Shape> {
    let mut product: usize = 1;
    let mut free = None;
    let mut sizes = Shape::new();
    for (i, &size) in given.iter().enumerate() {
        match usize::try_from(size) {
            Ok(size) => {
                // A zero decides the product, whatever the other sizes are.
                product = if product == 0 || size == 0 {
                    0
                } else {
                    product.checked_mul(size)?
                };
                sizes.push(size);
            }
            Err(_) if size == -1 && free.is_none() => {
                free = Some(i);
                sizes.push(1);
            }
            Err(_) => return None,
        }
    }
    if let Some(free) = free {
        sizes[free] = whole
            .checked_div(product)
            .filter(|_| whole.is_multiple_of(product))?;
        return Some(sizes);
    }
    (!given.is_empty() && product == whole).then_some(sizes)
}

//! Rule 9: reordering dims by name.

use alloc::format;

use smallvec::SmallVec;

use super::item::{NameItem, distinct, rest};
use super::lookup::{find, listed};
use super::remove::rank_limit;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// The effect of `align_to` and `align_as` on the dims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The input's position for each output dim, or `None` for a new dim of size 1.
    pub positions: SmallVec<[Option<usize>; 8]>,
    /// The names of the result.
    pub names: Names,
}

/// Reorders the dims by `order`; new names become dims of size 1. One `..` is replaced by the dims
/// not mentioned, in their order.
///
/// ```
/// use nomina_core::{Names, rule};
/// let names = Names::from_static(&[Some("N"), Some("C")]);
/// let aligned = rule::align_to("align_to", &names, &["C".into(), "H".into(), "N".into()])?;
/// assert_eq!(aligned.positions.as_slice(), [Some(1), None, Some(0)]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Align`] if the order lacks a dim, or has both `None` and `..`;
/// [`ErrorKind::UnnamedDim`] if a dim is unnamed and there is no `..`; [`ErrorKind::Ellipsis`] for
/// a second `..`; [`ErrorKind::DuplicateNames`] for a repeated name in the order;
/// [`ErrorKind::InvalidName`].
pub fn align_to(op: &'static str, names: &Names, order: &[NameItem<'_>]) -> Result<Alignment> {
    align(op, names, order, |i| order[i].name(op))
}

/// Reorders the dims like those of `other`; dims that only `other` has become size 1.
///
/// # Errors
/// The errors of [`align_to`].
pub fn align_as(op: &'static str, names: &Names, other: &Names) -> Result<Alignment> {
    let order: SmallVec<[NameItem<'_>; 8]> = other.iter().map(NameItem::from).collect();
    align(op, names, &order, |i| Ok(other[i].clone()))
}

/// Aligns to `order`. `new` returns the name of a new dim at a position of the order, avoiding an
/// allocation if the name exists.
fn align(
    op: &'static str,
    names: &Names,
    order: &[NameItem<'_>],
    new: impl Fn(usize) -> Result<Option<Name>>,
) -> Result<Alignment> {
    let rest = rest(op, order)?;
    if rest.is_none() {
        if let Some(i) = names.iter().position(Option::is_none) {
            return Err(
                Error::new(ErrorKind::UnnamedDim, op, format!("dim {i} has no name"))
                    .operand(names, &[])
                    .hint("name every dim first, with `refine_names`, or use `..` in the order"),
            );
        }
    } else if order.contains(&NameItem::Unnamed) {
        return Err(
            Error::new(ErrorKind::Align, op, "the order has both `None` and `..`")
                .operand(names, &[])
                .hint("add the unnamed dim with `unsqueeze` afterwards"),
        );
    }
    let mut positions = SmallVec::new();
    let mut result = Names::default();
    for (i, item) in order.iter().enumerate() {
        match item {
            NameItem::Name(name) => {
                let position = find(names, name);
                positions.push(position);
                result.push(match position {
                    Some(position) => names[position].clone(),
                    None => new(i)?,
                });
            }
            NameItem::Unnamed => {
                positions.push(None);
                result.push(None);
            }
            NameItem::Rest => {
                for (i, name) in names.iter().enumerate() {
                    if !mentions(order, name.as_ref().map(|name| name.as_str())) {
                        positions.push(Some(i));
                        result.push(name.clone());
                    }
                }
            }
        }
    }
    let result = distinct(op, result).map_err(|e| e.operand(names, &[]))?;
    if rest.is_none() {
        for name in names.iter().flatten() {
            if !mentions(order, Some(name.as_str())) {
                return Err(left_out(op, names, &result, name.as_str()));
            }
        }
    }
    rank_limit(op, result.len())?;
    Ok(Alignment {
        positions,
        names: result,
    })
}

fn mentions(order: &[NameItem<'_>], name: Option<&str>) -> bool {
    name.is_some_and(|name| order.contains(&NameItem::Name(name)))
}

#[cold]
fn left_out(op: &'static str, names: &Names, order: &Names, name: &str) -> Error {
    Error::new(
        ErrorKind::Align,
        op,
        format!("dim `{name}` is not in {order}"),
    )
    .operand(names, &[])
    .hint(format!(
        "list all of {}; `..` means the rest",
        listed(names)
    ))
}

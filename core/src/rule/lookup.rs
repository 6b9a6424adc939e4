//! Look-up of dims.

use alloc::format;
use alloc::string::String;
use core::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::name::{Names, is_name};

/// One dim as an argument: by name or by index. A marker of `dims!` acts as its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DimRef<'a> {
    /// The dim with this name.
    Name(&'a str),
    /// The dim at this position; negative counts from the end.
    Index(i64),
    /// PyTorch's `None`. Looking up a dim by it is always an error.
    Unnamed,
}

impl DimRef<'_> {
    /// Returns the position of the dim in `names`.
    ///
    /// # Errors
    /// [`ErrorKind::NameNotFound`], [`ErrorKind::InvalidName`], [`ErrorKind::Index`], or
    /// [`ErrorKind::UnnamedDim`] for [`DimRef::Unnamed`].
    pub fn position(self, op: &'static str, names: &Names) -> Result<usize> {
        position(op, names, self)
    }

    /// Like [`DimRef::position`], but returns `None` if the tensor is zero-dim and the index is 0
    /// or -1: reductions and scans then work on the number itself.
    ///
    /// # Errors
    /// The errors of [`DimRef::position`].
    pub fn position_or_scalar(self, op: &'static str, names: &Names) -> Result<Option<usize>> {
        match self {
            Self::Index(0 | -1) if names.is_empty() => Ok(None),
            dim => position(op, names, dim).map(Some),
        }
    }

    pub(super) fn is_name(self) -> bool {
        !matches!(self, Self::Index(_))
    }
}

/// Prints like source code: `"N"`, `-1`, `None`.
impl fmt::Debug for DimRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{name:?}"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Unnamed => f.write_str("None"),
        }
    }
}

/// Returns the position of `dim` in `names`; see [`DimRef::position`].
///
/// # Errors
/// [`ErrorKind::NameNotFound`], [`ErrorKind::InvalidName`], [`ErrorKind::Index`], or
/// [`ErrorKind::UnnamedDim`].
pub fn position(op: &'static str, names: &Names, dim: DimRef<'_>) -> Result<usize> {
    match dim {
        DimRef::Name(name) => find(names, name).ok_or_else(|| not_found(op, names, name)),
        DimRef::Index(index) => wrap(index, names.len()).ok_or_else(|| outside(op, names, index)),
        DimRef::Unnamed => Err(unnamed(op, names)),
    }
}

/// Returns the position of `name`, compared by spelling.
#[must_use]
pub fn find(names: &Names, name: &str) -> Option<usize> {
    names
        .iter()
        .position(|other| other.as_ref().is_some_and(|other| other == name))
}

/// Returns the position of a new dim: `0..=rank`; negative counts from the end, -1 is after the
/// last dim.
///
/// # Errors
/// [`ErrorKind::Index`] if `index` is out of range.
pub fn insert_position(op: &'static str, rank: usize, index: i64) -> Result<usize> {
    wrap(index, rank + 1).ok_or_else(|| {
        Error::new(
            ErrorKind::Index,
            op,
            format!("position {index} of a new dim is out of range for a tensor with {rank} dims"),
        )
        .hint(format!("use {} to {rank}", -(rank as i64) - 1))
    })
}

/// Resolves an index into `size` elements; negative counts from the end.
pub(super) fn wrap(index: i64, size: usize) -> Option<usize> {
    let size = i64::try_from(size).ok()?;
    let wrapped = if index < 0 { index + size } else { index };
    usize::try_from(wrapped).ok().filter(|_| wrapped < size)
}

#[cold]
fn not_found(op: &'static str, names: &Names, name: &str) -> Error {
    if !is_name(name) {
        return Error::new(
            ErrorKind::InvalidName,
            op,
            format!("{name:?} is not a valid dim name"),
        )
        .operand(names, &[])
        .hint("a name is an ASCII identifier: letters, digits and `_`, no leading digit");
    }
    let hint = if names.has_names() {
        format!("use one of {}", listed(names))
    } else if names.is_empty() {
        String::from("the tensor has no dims")
    } else {
        format!(
            "name the dims first, with `refine_names`, or use an index below {}",
            names.len()
        )
    };
    Error::new(
        ErrorKind::NameNotFound,
        op,
        format!("dim `{name}` not found"),
    )
    .operand(names, &[])
    .hint(hint)
}

#[cold]
fn outside(op: &'static str, names: &Names, index: i64) -> Error {
    let rank = names.len() as i64;
    let hint = match rank {
        0 => String::from("the tensor has no dims"),
        _ => format!("use {} to {}", -rank, rank - 1),
    };
    Error::new(
        ErrorKind::Index,
        op,
        format!("dim {index} is out of range for {rank} dims"),
    )
    .operand(names, &[])
    .hint(hint)
}

#[cold]
fn unnamed(op: &'static str, names: &Names) -> Error {
    Error::new(
        ErrorKind::UnnamedDim,
        op,
        "an unnamed dim can't be looked up by name",
    )
    .operand(names, &[])
    .hint("use its index, or name it first: `x.refine_names(..)`")
}

/// Formats the names for a hint.
pub(super) fn listed(names: &Names) -> String {
    let mut text = String::new();
    for name in names.iter().flatten() {
        text.push_str(if text.is_empty() { "`" } else { ", `" });
        text.push_str(name.as_str());
        text.push('`');
    }
    text
}

//! Dims as arguments: one dim, a list of one kind, or all of them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::RangeFull;

use smallvec::{SmallVec, smallvec};

use super::Positions;
use super::lookup::DimRef;
use crate::dims::{Dim, Keep};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// The dims an operator works on: one, a list of one kind (names or indices), or `..` for all; and
/// whether to keep them with size 1.
///
/// ```
/// use nomina_core::{Names, rule::DimArg};
/// let names = Names::from_static(&[Some("N"), Some("C")]);
/// assert_eq!(DimArg::from("C").positions("sum", &names)?.as_slice(), [1]);
/// assert_eq!(DimArg::from([-1, 0]).positions("sum", &names)?.as_slice(), [1, 0]);
/// assert_eq!(DimArg::from(..).positions("sum", &names)?.as_slice(), [0, 1]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct DimArg<'a> {
    picked: Picked<'a>,
    keepdim: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Picked<'a> {
    All,
    One(DimRef<'a>),
    Many(SmallVec<[DimRef<'a>; 8]>),
}

impl<'a> DimArg<'a> {
    /// Selects all dims.
    #[must_use]
    pub const fn all() -> Self {
        Self {
            picked: Picked::All,
            keepdim: false,
        }
    }

    /// Selects one dim.
    #[must_use]
    pub fn from_dim(dim: impl Into<DimRef<'a>>) -> Self {
        Self {
            picked: Picked::One(dim.into()),
            keepdim: false,
        }
    }

    /// Selects a list of dims; to a reduction, an empty list means all dims.
    #[must_use]
    pub fn list<D: Into<DimRef<'a>>>(dims: impl IntoIterator<Item = D>) -> Self {
        Self {
            picked: Picked::Many(dims.into_iter().map(Into::into).collect()),
            keepdim: false,
        }
    }

    /// Keeps the dims with size 1.
    #[must_use]
    pub fn keep(self) -> Self {
        self.with_keepdim(true)
    }

    /// Sets whether the dims are kept with size 1.
    #[must_use]
    pub fn with_keepdim(self, keepdim: bool) -> Self {
        Self { keepdim, ..self }
    }

    /// Returns whether reduced dims are kept with size 1.
    #[must_use]
    pub fn keepdim(&self) -> bool {
        self.keepdim
    }

    /// Returns whether all dims are selected: by `..` or an empty list.
    #[must_use]
    pub fn is_all(&self) -> bool {
        match &self.picked {
            Picked::All => true,
            Picked::One(_) => false,
            Picked::Many(dims) => dims.is_empty(),
        }
    }

    /// Returns the dims as written; empty for `..`.
    #[must_use]
    pub fn items(&self) -> &[DimRef<'a>] {
        match &self.picked {
            Picked::All => &[],
            Picked::One(dim) => core::slice::from_ref(dim),
            Picked::Many(dims) => dims,
        }
    }

    /// Returns the positions of the dims, in the order given and each once; an empty list means all
    /// dims.
    ///
    /// # Errors
    /// If a dim does not exist or is repeated ([`ErrorKind::DuplicateNames`] by name,
    /// [`ErrorKind::Index`] by index), or if names and indices are mixed ([`ErrorKind::Argument`]).
    pub fn positions(&self, op: &'static str, names: &Names) -> Result<Positions> {
        if self.is_all() {
            Ok((0..names.len()).collect())
        } else {
            self.listed(op, names)
        }
    }

    /// Like [`DimArg::positions`], but an empty list stays empty.
    ///
    /// # Errors
    /// The errors of [`DimArg::positions`].
    pub fn listed(&self, op: &'static str, names: &Names) -> Result<Positions> {
        match &self.picked {
            Picked::All => Ok((0..names.len()).collect()),
            Picked::One(dim) => match dim.position_or_scalar(op, names)? {
                Some(position) => Ok(smallvec![position]),
                None => Ok(Positions::new()),
            },
            Picked::Many(dims) => listed(op, names, dims),
        }
    }

    /// Returns the position of the only dim; `None` for a zero-dim tensor.
    ///
    /// # Errors
    /// The errors of [`DimArg::positions`], and [`ErrorKind::Argument`] for a list of another
    /// length.
    pub fn single(&self, op: &'static str, names: &Names) -> Result<Option<usize>> {
        match (self.items(), names.len()) {
            (&[dim], _) => dim.position_or_scalar(op, names),
            ([], 0) => Ok(None),
            ([], 1) => Ok(Some(0)),
            _ => Err(Error::new(ErrorKind::Argument, op, "takes one dim")
                .operand(names, &[])
                .hint(format!(
                    "call `{op}` once per dim, or `flatten` the dims first"
                ))),
        }
    }

    /// Like [`DimArg::from_dim`], but `..` means the dim at index `default`.
    ///
    /// # Errors
    /// The errors of [`DimArg::from_dim`].
    pub fn single_or(
        &self,
        op: &'static str,
        names: &Names,
        default: i64,
    ) -> Result<Option<usize>> {
        if self.is_all() {
            DimRef::Index(default).position_or_scalar(op, names)
        } else {
            self.single(op, names)
        }
    }
}

fn listed(op: &'static str, names: &Names, dims: &[DimRef<'_>]) -> Result<Positions> {
    if dims.iter().any(|dim| dim.is_name() != dims[0].is_name()) {
        return Err(Error::new(
            ErrorKind::Argument,
            op,
            format!("names and indices in {dims:?}"),
        )
        .operand(names, &[])
        .hint("list the dims all by name or all by index"));
    }
    let mut positions = Positions::new();
    for &dim in dims {
        let Some(position) = dim.position_or_scalar(op, names)? else {
            continue;
        };
        if positions.contains(&position) {
            return Err(twice(op, names, dim, position));
        }
        positions.push(position);
    }
    Ok(positions)
}

#[cold]
fn twice(op: &'static str, names: &Names, dim: DimRef<'_>, position: usize) -> Error {
    let kind = if dim.is_name() {
        ErrorKind::DuplicateNames
    } else {
        ErrorKind::Index
    };
    let what = match &names[position] {
        Some(name) => format!("dim `{name}` appears more than once in the list of dims"),
        None => format!("dim {position} appears more than once in the list of dims"),
    };
    Error::new(kind, op, what)
        .operand(names, &[])
        .hint("list each dim once")
}

/// Prints like source code: `..`, `"N"`, `["N", "C"]`, `keep("N")`.
impl fmt::Debug for DimArg<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.keepdim { "keep(" } else { "" })?;
        match &self.picked {
            Picked::All => f.write_str("..")?,
            Picked::One(dim) => write!(f, "{dim:?}")?,
            Picked::Many(dims) => write!(f, "{dims:?}")?,
        }
        f.write_str(if self.keepdim { ")" } else { "" })
    }
}

// One conversion per type: a blanket one over `Into<DimRef>` would overlap with those of lists.
macro_rules! one_dim {
    ($($from:ty => |$value:ident| $dim:expr;)*) => {$(
        impl<'a> From<$from> for DimRef<'a> {
            fn from($value: $from) -> Self {
                $dim
            }
        }

        impl<'a> From<$from> for DimArg<'a> {
            fn from(value: $from) -> Self {
                Self::from_dim(value)
            }
        }
    )*};
}

one_dim! {
    &'a str => |name| Self::Name(name);
    &'a String => |name| Self::Name(name);
    &'a Name => |name| Self::Name(name.as_str());
    Option<&'a str> => |name| name.map_or(Self::Unnamed, Self::Name);
    &'a Option<Name> => |name| name.as_ref().map_or(Self::Unnamed, Self::from);
    i64 => |index| Self::Index(index);
    i32 => |index| Self::Index(index.into());
    // An index beyond `i64` exceeds every rank: the look-up reports it.
    usize => |index| Self::Index(i64::try_from(index).unwrap_or(i64::MAX));
}

// A marker of `dims!` acts as its name: `d.sum(C)` is `d.sum("C")`.
impl<X: Dim> From<X> for DimRef<'_> {
    fn from(_: X) -> Self {
        X::NAME.map_or(Self::Unnamed, Self::Name)
    }
}

impl<X: Dim> From<X> for DimArg<'_> {
    fn from(dim: X) -> Self {
        Self::from_dim(dim)
    }
}

impl<'a> From<DimRef<'a>> for DimArg<'a> {
    fn from(dim: DimRef<'a>) -> Self {
        Self::from_dim(dim)
    }
}

impl<'a, A: Into<DimArg<'a>>> From<Keep<A>> for DimArg<'a> {
    fn from(Keep(dims): Keep<A>) -> Self {
        dims.into().keep()
    }
}

impl From<RangeFull> for DimArg<'_> {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}

impl<'a, D: Into<DimRef<'a>>, const K: usize> From<[D; K]> for DimArg<'a> {
    fn from(dims: [D; K]) -> Self {
        Self::list(dims)
    }
}

impl<'a, D: Into<DimRef<'a>> + Clone, const K: usize> From<&[D; K]> for DimArg<'a> {
    fn from(dims: &[D; K]) -> Self {
        Self::list(dims.iter().cloned())
    }
}

impl<'a, D: Into<DimRef<'a>> + Clone> From<&[D]> for DimArg<'a> {
    fn from(dims: &[D]) -> Self {
        Self::list(dims.iter().cloned())
    }
}

impl<'a, D: Into<DimRef<'a>> + Clone> From<&Vec<D>> for DimArg<'a> {
    fn from(dims: &Vec<D>) -> Self {
        Self::list(dims.iter().cloned())
    }
}

impl<'a, D: Into<DimRef<'a>>> From<Vec<D>> for DimArg<'a> {
    fn from(dims: Vec<D>) -> Self {
        Self::list(dims)
    }
}

// Lists that own their names, and the names of a tensor.
macro_rules! owned_names {
    ($($name:ty),*) => {$(
        impl<'a, const K: usize> From<&'a [$name; K]> for DimArg<'a> {
            fn from(names: &'a [$name; K]) -> Self {
                Self::list(names)
            }
        }

        impl<'a> From<&'a [$name]> for DimArg<'a> {
            fn from(names: &'a [$name]) -> Self {
                Self::list(names)
            }
        }

        impl<'a> From<&'a Vec<$name>> for DimArg<'a> {
            fn from(names: &'a Vec<$name>) -> Self {
                Self::list(names)
            }
        }
    )*};
}
owned_names!(String, Name);

impl<'a> From<&'a Names> for DimArg<'a> {
    fn from(names: &'a Names) -> Self {
        Self::list(names)
    }
}

macro_rules! tuple_of_dims {
    ($($letter:ident)*) => {
        impl<'a, $($letter: Into<DimRef<'a>>),*> From<($($letter,)*)> for DimArg<'a> {
            #[allow(non_snake_case)]
            fn from(($($letter,)*): ($($letter,)*)) -> Self {
                let dims: [DimRef<'a>; _] = [$($letter.into()),*];
                Self::list(dims)
            }
        }
    };
}
tuple_of_dims!(A);
tuple_of_dims!(A B);
tuple_of_dims!(A B C);
tuple_of_dims!(A B C D);
tuple_of_dims!(A B C D E);
tuple_of_dims!(A B C D E F);
tuple_of_dims!(A B C D E F G);
tuple_of_dims!(A B C D E F G H);

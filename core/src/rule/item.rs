//! Names as arguments: of factories, `rename`, `refine_names` and `align_to`.

use alloc::format;
use alloc::string::String;
use core::ops::RangeFull;

use crate::dims::Dim;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// An item in a list of new names or in an order of dims.
///
/// The text `...` converts to [`NameItem::Rest`], as in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameItem<'a> {
    /// A name.
    Name(&'a str),
    /// No name.
    Unnamed,
    /// The dims not mentioned, in their order: `..` in Rust, `...` in PyTorch.
    Rest,
}

impl NameItem<'_> {
    /// Returns the item as a checked name.
    pub(super) fn name(self, op: &'static str) -> Result<Option<Name>> {
        match self {
            Self::Name(name) => Name::new(name).map(Some).map_err(|e| e.in_op(op)),
            Self::Unnamed => Ok(None),
            Self::Rest => Err(misplaced(op)),
        }
    }
}

#[cold]
fn misplaced(op: &'static str) -> Error {
    Error::new(ErrorKind::Ellipsis, op, "`..` is not a name")
        .hint("list every name, `None` for a dim without one")
}

impl<'a> From<&'a str> for NameItem<'a> {
    fn from(name: &'a str) -> Self {
        if name == "..." {
            Self::Rest
        } else {
            Self::Name(name)
        }
    }
}

impl<'a> From<&'a String> for NameItem<'a> {
    fn from(name: &'a String) -> Self {
        Self::from(name.as_str())
    }
}

impl<'a> From<&'a Name> for NameItem<'a> {
    fn from(name: &'a Name) -> Self {
        Self::Name(name.as_str())
    }
}

impl<'a> From<Option<&'a str>> for NameItem<'a> {
    fn from(name: Option<&'a str>) -> Self {
        name.map_or(Self::Unnamed, Self::from)
    }
}

impl<'a> From<&'a Option<Name>> for NameItem<'a> {
    fn from(name: &'a Option<Name>) -> Self {
        name.as_ref().map_or(Self::Unnamed, Self::from)
    }
}

// A marker of `dims!` acts as its name.
impl<X: Dim> From<X> for NameItem<'_> {
    fn from(_: X) -> Self {
        X::NAME.map_or(Self::Unnamed, Self::Name)
    }
}

impl From<RangeFull> for NameItem<'_> {
    fn from(_: RangeFull) -> Self {
        Self::Rest
    }
}

/// An item in a list of names, borrowed or owned: lists of `&str`, of `String` and of [`Name`] are lists of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameArg<'a> {
    /// A borrowed name, no name, or the dims not mentioned.
    Item(NameItem<'a>),
    /// An owned text.
    Text(String),
    /// An owned name.
    Name(Name),
}

impl NameArg<'_> {
    /// Returns the item, borrowed.
    #[must_use]
    pub fn as_item(&self) -> NameItem<'_> {
        match self {
            Self::Item(item) => *item,
            Self::Text(text) => text.into(),
            Self::Name(name) => name.into(),
        }
    }
}

impl<'a, T: Into<NameItem<'a>>> From<T> for NameArg<'a> {
    fn from(item: T) -> Self {
        Self::Item(item.into())
    }
}

impl From<String> for NameArg<'_> {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Name> for NameArg<'_> {
    fn from(name: Name) -> Self {
        Self::Name(name)
    }
}

/// An item of the argument of `rename`: a new name, or a pair of an old and a new name.
pub trait RenameItem<'a> {
    /// Whether the item is a pair.
    const IS_PAIR: bool;

    /// Returns the old name, if there is one, and the new name.
    fn names(self) -> (Option<NameArg<'a>>, NameArg<'a>);
}

impl<'a, T: Into<NameArg<'a>>> RenameItem<'a> for T {
    const IS_PAIR: bool = false;

    fn names(self) -> (Option<NameArg<'a>>, NameArg<'a>) {
        (None, self.into())
    }
}

impl<'a, A: Into<NameArg<'a>>, B: Into<NameArg<'a>>> RenameItem<'a> for (A, B) {
    const IS_PAIR: bool = true;

    fn names(self) -> (Option<NameArg<'a>>, NameArg<'a>) {
        (Some(self.0.into()), self.1.into())
    }
}

/// Returns the names of a new tensor with `rank` dims, as given to a factory.
///
/// # Errors
/// [`ErrorKind::InvalidName`], [`ErrorKind::NamesLen`], [`ErrorKind::DuplicateNames`], or
/// [`ErrorKind::Ellipsis`] for `..`.
pub fn names_of(op: &'static str, items: &[NameItem<'_>], rank: usize) -> Result<Names> {
    let names = items
        .iter()
        .map(|item| item.name(op))
        .collect::<Result<Names>>()?;
    same_len(op, &names, rank)?;
    distinct(op, names)
}

/// Checks that there is one name per dim.
pub(super) fn same_len(op: &'static str, names: &Names, rank: usize) -> Result<()> {
    if names.len() == rank {
        return Ok(());
    }
    let given = names.len();
    Err(Error::new(
        ErrorKind::NamesLen,
        op,
        format!(
            "{given} {} {names} for {rank} dims",
            if given == 1 { "name" } else { "names" }
        ),
    )
    .hint("give one name per dim, `None` for a dim without one"))
}

/// Checks that a result repeats no name.
pub(super) fn distinct(op: &'static str, names: Names) -> Result<Names> {
    match names.duplicate() {
        None => Ok(names),
        Some(name) => Err(Error::new(
            ErrorKind::DuplicateNames,
            op,
            format!("dim `{name}` appears more than once in {names}"),
        )
        .hint("give each dim a name of its own")),
    }
}

/// Returns the position of the only `..`, if there is one.
pub(super) fn rest(op: &'static str, items: &[NameItem<'_>]) -> Result<Option<usize>> {
    let mut found = items
        .iter()
        .enumerate()
        .filter(|(_, item)| **item == NameItem::Rest);
    let first = found.next().map(|(i, _)| i);
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Error::new(ErrorKind::Ellipsis, op, "`..` is repeated")
            .hint("one `..` covers all dims not listed")),
    }
}

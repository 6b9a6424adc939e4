//! Arguments that are names, orders of names and sizes.

use nomina_core::rule::{self, NameArg, NameItem, RenameItem};
use nomina_core::{Name, Names, Result};
use smallvec::SmallVec;

/// The names of a new tensor: `names!["N", _]`, a list or tuple of strings, names or dims (`None` for a dim without a
/// name), or `()` for none.
///
/// ```
/// use nomina_runtime::DynTensor;
/// let columns: Vec<String> = vec!["day".into(), "place".into()];
/// let x = DynTensor::zeros(&[2, 3], &columns)?;
/// assert_eq!(x.names().to_string(), "(day, place)");
/// assert_eq!(DynTensor::zeros(&[2, 3], ("N", None))?.names().to_string(), "(N, _)");
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of names",
    label = "expected names such as `names![\"N\", _]`, or `()` for none"
)]
pub trait IntoNames {
    /// Returns one name per dim.
    ///
    /// # Errors
    /// If a name is not an identifier, is given twice, or there is not one per dim.
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names>;
}

#[diagnostic::do_not_recommend]
impl IntoNames for () {
    fn into_names(self, _: &'static str, rank: usize) -> Result<Names> {
        Ok(Names::unnamed(rank))
    }
}

#[diagnostic::do_not_recommend]
impl<'a, L: Into<Order<'a>>> IntoNames for L {
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names> {
        rule::names_of(op, &self.into().items(), rank)
    }
}

/// An order of dims: names, `None` for a new dim without a name, and at most one `..` (spelled
/// `"..."` among strings).
#[derive(Clone, Debug)]
pub struct Order<'a>(SmallVec<[NameArg<'a>; 8]>);

impl<'a> Order<'a> {
    /// Creates an order from its items.
    pub fn new<T: Into<NameArg<'a>>>(items: impl IntoIterator<Item = T>) -> Self {
        Self(items.into_iter().map(Into::into).collect())
    }

    /// Returns the items, borrowed.
    #[must_use]
    pub fn items(&self) -> SmallVec<[NameItem<'_>; 8]> {
        self.0.iter().map(NameArg::as_item).collect()
    }
}

impl<'a> From<&'a Names> for Order<'a> {
    fn from(names: &'a Names) -> Self {
        Self::new(names)
    }
}

impl From<Names> for Order<'_> {
    fn from(names: Names) -> Self {
        Self(names.iter().map(owned).collect())
    }
}

/// Returns a name of a list as an item that owns it.
fn owned<'a>(name: &Option<Name>) -> NameArg<'a> {
    name.clone()
        .map_or(NameArg::Item(NameItem::Unnamed), NameArg::Name)
}

/// The ways to rename: a list (`["A", "B"]`, with at most one `"..."`), pairs (`[("N", "A")]`), or
/// `()` for no names.
#[derive(Clone, Debug)]
pub enum Rename<'a> {
    /// One name per dim, in order.
    List(Order<'a>),
    /// Old name, new name.
    Map(SmallVec<[(NameArg<'a>, NameArg<'a>); 4]>),
    /// No names.
    Drop,
}

impl<'a> Rename<'a> {
    /// Creates the argument from a list of names or a list of pairs.
    pub fn new<T: RenameItem<'a>>(items: impl IntoIterator<Item = T>) -> Self {
        let items = items.into_iter().map(T::names);
        if T::IS_PAIR {
            Self::Map(items.filter_map(|(old, new)| Some((old?, new))).collect())
        } else {
            Self::List(Order(items.map(|(_, new)| new).collect()))
        }
    }

    /// Returns `names` with the new names.
    ///
    /// # Errors
    /// If there is not one name per dim, a name to replace is missing, or a name would occur twice.
    pub(super) fn apply(&self, names: &Names) -> Result<Names> {
        match self {
            Self::List(order) => rule::rename("rename", names, &order.items()),
            Self::Map(pairs) => {
                let pairs: SmallVec<[(&str, NameItem<'_>); 4]> = pairs
                    .iter()
                    .map(|(old, new)| (spelling(old.as_item()), new.as_item()))
                    .collect();
                rule::rename_map("rename", names, &pairs)
            }
            Self::Drop => Ok(Names::unnamed(names.len())),
        }
    }
}

/// Returns the spelling of an old name. The others are not names, so they are not found.
fn spelling(item: NameItem<'_>) -> &str {
    match item {
        NameItem::Name(name) => name,
        NameItem::Unnamed => "None",
        NameItem::Rest => "...",
    }
}

impl From<()> for Rename<'_> {
    fn from((): ()) -> Self {
        Self::Drop
    }
}

impl<'a> From<&'a Names> for Rename<'a> {
    fn from(names: &'a Names) -> Self {
        Self::List(names.into())
    }
}

impl From<Names> for Rename<'_> {
    fn from(names: Names) -> Self {
        Self::List(names.into())
    }
}

macro_rules! from_lists {
    ($target:ident, $($item:tt)+) => {
        impl<'a, T: $($item)+, const K: usize> From<[T; K]> for $target<'a> {
            fn from(items: [T; K]) -> Self {
                Self::new(items)
            }
        }

        impl<'a, T: $($item)+ + Clone, const K: usize> From<&[T; K]> for $target<'a> {
            fn from(items: &[T; K]) -> Self {
                Self::new(items.iter().cloned())
            }
        }

        impl<'a, T: $($item)+ + Clone> From<&[T]> for $target<'a> {
            fn from(items: &[T]) -> Self {
                Self::new(items.iter().cloned())
            }
        }

        impl<'a, T: $($item)+> From<Vec<T>> for $target<'a> {
            fn from(items: Vec<T>) -> Self {
                Self::new(items)
            }
        }

        impl<'a, T: $($item)+ + Clone> From<&Vec<T>> for $target<'a> {
            fn from(items: &Vec<T>) -> Self {
                Self::new(items.iter().cloned())
            }
        }
    };
}
from_lists!(Order, Into<NameArg<'a>>);
from_lists!(Rename, RenameItem<'a>);

macro_rules! tuple_of_names {
    ($($letter:ident)*) => {
        impl<'a, $($letter: Into<NameArg<'a>>),*> From<($($letter,)*)> for Order<'a> {
            #[allow(non_snake_case)]
            fn from(($($letter,)*): ($($letter,)*)) -> Self {
                let items: [NameArg<'a>; _] = [$($letter.into()),*];
                Self::new(items)
            }
        }

        impl<'a, $($letter: Into<NameArg<'a>>),*> From<($($letter,)*)> for Rename<'a> {
            fn from(names: ($($letter,)*)) -> Self {
                Self::List(names.into())
            }
        }
    };
}
tuple_of_names!(A);
tuple_of_names!(A B);
tuple_of_names!(A B C);
tuple_of_names!(A B C D);
tuple_of_names!(A B C D E);
tuple_of_names!(A B C D E F);
tuple_of_names!(A B C D E F G);
tuple_of_names!(A B C D E F G H);

/// The sizes of a split: one size, where the last piece may be smaller, or the sizes of all pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitSizes<'a> {
    /// The size of each piece.
    Each(i64),
    /// The sizes of all pieces, which add up to that of the dim.
    All(std::borrow::Cow<'a, [i64]>),
}

macro_rules! split_from {
    ($($number:ty)*) => {$(
        impl From<$number> for SplitSizes<'_> {
            fn from(size: $number) -> Self {
                Self::Each(i64::try_from(size).unwrap_or(i64::MAX))
            }
        }
    )*};
}
split_from!(i32 i64 usize);

impl<const K: usize> From<[i64; K]> for SplitSizes<'_> {
    fn from(sizes: [i64; K]) -> Self {
        Self::All(sizes.to_vec().into())
    }
}

impl<'a> From<&'a [i64]> for SplitSizes<'a> {
    fn from(sizes: &'a [i64]) -> Self {
        Self::All(sizes.into())
    }
}

impl From<Vec<i64>> for SplitSizes<'_> {
    fn from(sizes: Vec<i64>) -> Self {
        Self::All(sizes.into())
    }
}

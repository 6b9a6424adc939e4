//! Arguments that are names, orders of names and sizes.

use nomina_core::rule::{self, NameItem};
use nomina_core::{Name, Names, Result};
use smallvec::SmallVec;

/// The names of a new tensor: `names!["N", _]`, `["N", "C"]`, `[Some("N"), None]`, or `()` for none.
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
impl IntoNames for Names {
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names> {
        (&self).into_names(op, rank)
    }
}

#[diagnostic::do_not_recommend]
impl IntoNames for &Names {
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names> {
        let items: SmallVec<[NameItem<'_>; 8]> = self.iter().map(NameItem::from).collect();
        rule::names_of(op, &items, rank)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Into<NameItem<'a>>, const K: usize> IntoNames for [T; K] {
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names> {
        rule::names_of(op, &self.map(Into::into), rank)
    }
}

#[diagnostic::do_not_recommend]
impl<'a, T: Into<NameItem<'a>> + Clone> IntoNames for &[T] {
    fn into_names(self, op: &'static str, rank: usize) -> Result<Names> {
        let items: SmallVec<[NameItem<'_>; 8]> = self.iter().cloned().map(Into::into).collect();
        rule::names_of(op, &items, rank)
    }
}

/// An order of dims: names, `None` for a new dim without a name, and at most one `..` (spelled
/// `"..."` among strings).
#[derive(Clone, Debug)]
pub struct Order<'a>(SmallVec<[NameItem<'a>; 8]>);

impl<'a> Order<'a> {
    /// Creates an order from its items.
    pub fn new<T: Into<NameItem<'a>>>(items: impl IntoIterator<Item = T>) -> Self {
        Self(items.into_iter().map(Into::into).collect())
    }

    /// Returns the items.
    #[must_use]
    pub fn items(&self) -> &[NameItem<'a>] {
        &self.0
    }
}

impl<'a, T: Into<NameItem<'a>>, const K: usize> From<[T; K]> for Order<'a> {
    fn from(items: [T; K]) -> Self {
        Self::new(items)
    }
}

impl<'a, T: Into<NameItem<'a>> + Clone> From<&[T]> for Order<'a> {
    fn from(items: &[T]) -> Self {
        Self::new(items.iter().cloned())
    }
}

impl<'a, T: Into<NameItem<'a>>> From<Vec<T>> for Order<'a> {
    fn from(items: Vec<T>) -> Self {
        Self::new(items)
    }
}

macro_rules! tuple_of_names {
    ($($letter:ident)*) => {
        impl<'a, $($letter: Into<NameItem<'a>>),*> From<($($letter,)*)> for Order<'a> {
            #[allow(non_snake_case)]
            fn from(($($letter,)*): ($($letter,)*)) -> Self {
                let items: [NameItem<'a>; _] = [$($letter.into()),*];
                Self::new(items)
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

impl<'a> From<&'a Vec<String>> for Order<'a> {
    fn from(items: &'a Vec<String>) -> Self {
        Self::new(items)
    }
}

impl<'a> From<&'a Names> for Order<'a> {
    fn from(names: &'a Names) -> Self {
        Self::new(names)
    }
}

/// The ways to rename: a list (`["A", "B"]`, with at most one `"..."`), pairs (`[("N", "A")]`), or
/// `()` for no names.
#[derive(Clone, Debug)]
pub enum Rename<'a> {
    /// One name per dim, in order.
    List(SmallVec<[NameItem<'a>; 8]>),
    /// Old name, new name.
    Map(SmallVec<[(&'a str, NameItem<'a>); 8]>),
    /// No names.
    Drop,
}

impl From<()> for Rename<'_> {
    fn from((): ()) -> Self {
        Self::Drop
    }
}

// Concrete types, so that a list of pairs is distinguished from a list of names.
macro_rules! rename_from {
    ($($item:ty),*) => {$(
        impl<'a, const K: usize> From<[$item; K]> for Rename<'a> {
            fn from(items: [$item; K]) -> Self {
                Self::List(items.into_iter().map(NameItem::from).collect())
            }
        }

        impl<'a> From<&[$item]> for Rename<'a> {
            fn from(items: &[$item]) -> Self {
                Self::List(items.iter().copied().map(NameItem::from).collect())
            }
        }

        impl<'a> From<Vec<$item>> for Rename<'a> {
            fn from(items: Vec<$item>) -> Self {
                Self::List(items.into_iter().map(NameItem::from).collect())
            }
        }

        impl<'a, const K: usize> From<[(&'a str, $item); K]> for Rename<'a> {
            fn from(pairs: [(&'a str, $item); K]) -> Self {
                Self::Map(pairs.into_iter().map(|(old, new)| (old, new.into())).collect())
            }
        }

        impl<'a> From<&[(&'a str, $item)]> for Rename<'a> {
            fn from(pairs: &[(&'a str, $item)]) -> Self {
                Self::Map(pairs.iter().map(|&(old, new)| (old, new.into())).collect())
            }
        }

        impl<'a> From<Vec<(&'a str, $item)>> for Rename<'a> {
            fn from(pairs: Vec<(&'a str, $item)>) -> Self {
                Self::Map(pairs.into_iter().map(|(old, new)| (old, new.into())).collect())
            }
        }
    )*};
}
rename_from!(&'a str, Option<&'a str>, NameItem<'a>, &'a String, &'a Name);

impl<'a> From<&'a Names> for Rename<'a> {
    fn from(names: &'a Names) -> Self {
        Self::List(names.iter().map(NameItem::from).collect())
    }
}

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

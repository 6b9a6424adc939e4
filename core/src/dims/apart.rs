//! The places of generic dims, as rustc learns them from a bound.
//!
//! In a generic function rustc cannot compare `B: Dim` with other dims, so a search in `(N, B)` has no result. The bound
//! `(N, B): Distinct` gives the results: [`Apart`] is a supertrait of it, with one equality for each dim. Bounds hide
//! the impls of their trait, so searches have a trait of their own, [`SearchFor`], apart from
//! [`DimList`](super::DimList).

use super::axis::{Axis, Named, NoDim, Unnamed, Wild};
use super::dims::Dims;
use super::place::{Place, SearchFor};
use super::verdict::NamesOf;

/// The first dim that is repeated in a list.
#[doc(hidden)]
pub trait FirstRepeat {
    /// The dim; [`NoDim`] if none is repeated.
    type Twice: Axis;
}

/// The names of the list `List`.
#[doc(hidden)]
pub trait ListOfNames {
    /// The list.
    type List;
}
impl<D> ListOfNames for NamesOf<D> {
    type List = D;
}

macro_rules! apart {
    ($($item:ident $place:ident $at:ident)*) => {
        /// The dims of a list and their places.
        #[doc(hidden)]
        pub trait Items {
            $(
                #[doc(hidden)]
                type $item: Axis;
                #[doc(hidden)]
                type $place: Place;
            )*
        }
        impl<D: Dims> Items for NamesOf<D> {
            $(
                type $item = D::$at;
                type $place = D::$place;
            )*
        }

        /// Rustc can tell the dims of a list apart: a search for each finds its place. Implied by
        /// [`Distinct`](super::Distinct), which is the bound to write.
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(
            message = "rustc cannot tell the generic dims {Self} apart",
            label = "write the bound `{Self}: Distinct`"
        )]
        pub trait Apart:
            Sized
            + FirstRepeat<Twice = NoDim>
            $(+ SearchFor<<NamesOf<Self> as Items>::$item, At = <NamesOf<Self> as Items>::$place>)*
        where
            NamesOf<Self>: Items,
        {
        }

        /// `X` is [`NoDim`]: no dim is repeated in `D`. Implies what [`Apart`] says of `D`.
        #[diagnostic::on_unimplemented(
            message = "dim `{X}` appears more than once in dims {D}",
            label = "duplicate dim name"
        )]
        pub trait NoneTwice<X, D: Dims>:
            ListOfNames<List = D>
            + ListOfNames<List: FirstRepeat<Twice = NoDim> $(+ SearchFor<D::$at, At = D::$place>)*>
        {
        }
        #[diagnostic::do_not_recommend]
        impl<D> NoneTwice<NoDim, D> for NamesOf<D>
        where
            D: Dims + FirstRepeat<Twice = NoDim> $(+ SearchFor<D::$at, At = D::$place>)*
        {
        }
        // A second impl, so that rustc prints the message above instead of unifying with a single impl.
        #[diagnostic::do_not_recommend]
        impl<D> NoneTwice<Wild, D> for NamesOf<D>
        where
            D: Dims + FirstRepeat<Twice = NoDim> $(+ SearchFor<D::$at, At = D::$place>)*
        {
        }
    };
}
apart! {
    Item0 Place0 At0
    Item1 Place1 At1
    Item2 Place2 At2
    Item3 Place3 At3
    Item4 Place4 At4
    Item5 Place5 At5
    Item6 Place6 At6
    Item7 Place7 At7
}

#[diagnostic::do_not_recommend]
impl<D: Dims> Apart for D where NamesOf<D>: ToldNone<<D::Repeated as Axis>::Kind, D::Repeated, D> {}

/// Rustc knows `X`, whose kind is `Kind`. Implies [`NoneTwice`]: of two errors at one place, rustc drops the one that
/// the other implies, so only this one is reported for unknown dims.
#[doc(hidden)]
pub trait ToldNone<Kind, X, D: Dims>: NoneTwice<X, D> {}
#[diagnostic::do_not_recommend]
impl<X, D: Dims> ToldNone<Named, X, D> for NamesOf<D> where Self: NoneTwice<X, D> {}
#[diagnostic::do_not_recommend]
impl<X, D: Dims> ToldNone<Unnamed, X, D> for NamesOf<D> where Self: NoneTwice<X, D> {}

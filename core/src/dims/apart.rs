//! The places of generic dims, as rustc learns them from a bound.
//!
//! In a generic function rustc cannot compare `B: Dim` with other dims, so a search in `(N, B)` has no result. The bound
//! `(N, B): Distinct` gives the results: [`Apart`] is a supertrait of it, with one equality for each dim. Bounds hide
//! the impls of their trait, so searches have a trait of their own, [`SearchFor`], apart from
//! [`DimList`](super::DimList).

use super::axis::{Axis, NoDim, Wild};
use super::dims::Dims;
use super::distinct::Told;
use super::place::{Place, SearchFor};
use super::verdict::NamesOf;

/// The first dim that is repeated in a list.
#[doc(hidden)]
pub trait FirstRepeat {
    /// The dim; [`NoDim`] if none is repeated.
    type Twice: Axis;
}

/// A way to state bounds on the list `D` with another type as the subject: supertraits are known to rustc only where the
/// subject is `Self`.
#[doc(hidden)]
pub trait About<D> {
    /// The list.
    type List;
}
impl<T, D> About<D> for T {
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
        pub trait Apart:
            Sized
            + FirstRepeat<Twice = NoDim>
            $(+ SearchFor<<NamesOf<Self> as Items>::$item, At = <NamesOf<Self> as Items>::$place>)*
        where
            NamesOf<Self>: Items,
        {
        }

        /// No dim is repeated in `D`. Implies what [`Apart`] says of `D`.
        #[doc(hidden)]
        pub trait PlacesOf<D: Dims>:
            About<D, List = D>
            + About<D, List: FirstRepeat<Twice = NoDim> $(+ SearchFor<D::$at, At = D::$place>)*>
        {
        }
        impl<T, D> PlacesOf<D> for T
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
impl<D: Dims> Apart for D where NamesOf<D>: Once<<D::Repeated as Axis>::Kind, D::Repeated, D> {}

/// Rustc knows whether a dim of the list is repeated. Carries the message for generic dims.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "rustc cannot tell the generic dims {Self} apart",
    label = "write the bound `{Self}: Distinct`"
)]
pub trait ToldApart {}
#[diagnostic::do_not_recommend]
impl<D: Dims> ToldApart for D where NamesOf<D>: Told<<D::Repeated as Axis>::Kind, D::Repeated> {}

/// The repeated dim `X` of `D`, whose kind is `Kind`, is [`NoDim`].
#[doc(hidden)]
pub trait Once<Kind, X, D: Dims>: PlacesOf<D> {}
impl<Kind, X, D: Dims> Once<Kind, X, D> for NamesOf<D> where Self: Told<Kind, X, Dim: NoneTwice<D>> {}

/// The repeated dim of `D` is [`NoDim`]: no dim is repeated.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "dim `{Self}` appears more than once in dims {D}",
    label = "duplicate dim name"
)]
pub trait NoneTwice<D: Dims>: PlacesOf<D> {}
#[diagnostic::do_not_recommend]
impl<D: Dims> NoneTwice<D> for NoDim where Self: PlacesOf<D> {}
// A second impl, so that rustc prints the message above instead of unifying with a single impl.
#[diagnostic::do_not_recommend]
impl<D: Dims> NoneTwice<D> for Wild where Self: PlacesOf<D> {}

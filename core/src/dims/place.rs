//! Positions of dims in a list: the outcome of a search, from which results are plain look-ups.
//!
//! A search compares heads, which are hashes of whole spellings, and ends there if at most one dim
//! of the list has the head. The place found is right if the dim is in the list, so results need no
//! more. The check that it is there, [`Has`](super::Has), lets rustc compare both spellings as one
//! type. Spellings are compared symbol by symbol only for a dim that must *not* be there, and for
//! two dims with the same head.

use core::marker::PhantomData;

use super::axis::{Alike, Axis, Mismatch, Pairing, RightIsWild};
use super::dims::{DimList, Dims};
use super::id::{Bool, False, IsTrue, Same, True};

/// The place of a dim `X` in a list `D`. Total: a missing dim leaves the list unchanged.
pub trait Place: 'static {
    /// This place if a `Wild` precedes the searched dims.
    #[doc(hidden)]
    type BesideWild: Place;
    /// This place if `P` is a possible place too.
    #[doc(hidden)]
    type Also<P: Place>: Place;
    /// The relation of two dims, if one was searched for among a list of the other.
    #[doc(hidden)]
    type Pairing: Pairing;
    /// This place, or the place found by comparing all symbols if several dims have the sought head.
    #[doc(hidden)]
    type Resolved<D: Dims, X: Axis>: Place;
    /// The place of `X` in `D`, if heads led to this place.
    #[doc(hidden)]
    type Exact<D: Dims, X: Axis>: Place;
    /// The type that must implement [`Stands`] for the dim to be there.
    #[doc(hidden)]
    type Claim<D: Dims, X: Axis>;
    /// Whether the dim is there.
    type Found: Bool;
    /// `A` if it is there, else `B`.
    type Axis<A: Axis, B: Axis>: Axis;
    /// `L` if it is there, else `L` followed by `X`.
    #[doc(hidden)]
    type Unless<L: Dims, X: Axis>: Dims;
    /// Like [`Unless`](Self::Unless) for `X` in `D`, if heads led to this place.
    #[doc(hidden)]
    type UnlessIn<D: Dims, L: Dims, X: Axis>: Dims;
    /// `D` without the dim.
    type Remove<D: Dims, X: Axis>: Dims;
    /// `L`, of the rank of `D`, with `Y` at this place.
    type Set<D: Dims, X: Axis, L: Dims, Y: Axis>: Dims;
    /// `D` with the dims `E` at this place.
    type Splice<D: Dims, X: Axis, E: Dims>: Dims;
    /// The dims of `D` from this place on; none if the dim is missing.
    type From<D: Dims, X: Axis>: Dims;
    /// The dims of `D` before this place; all if the dim is missing.
    type Until<D: Dims, X: Axis>: Dims;
}

/// The dim is not in the list.
#[derive(Clone, Copy, Debug)]
pub enum Nowhere {}

/// No known dim of the list is the sought one, but a `Wild` could be.
#[derive(Clone, Copy, Debug)]
pub enum BehindWild {}

/// Several dims of the list have the sought head.
#[derive(Clone, Copy, Debug)]
pub enum Several {}

macro_rules! nowhere {
    ($($name:ident $pairing:ident;)*) => {$(
        impl Place for $name {
            type BesideWild = BehindWild;
            type Also<P: Place> = P;
            type Pairing = $pairing;
            type Resolved<D: Dims, X: Axis> = Self;
            type Exact<D: Dims, X: Axis> = Self;
            type Claim<D: Dims, X: Axis> = Self;
            type Found = False;
            type Axis<A: Axis, B: Axis> = B;
            type Unless<L: Dims, X: Axis> = L::Push<X>;
            type UnlessIn<D: Dims, L: Dims, X: Axis> = L::Push<X>;
            type Remove<D: Dims, X: Axis> = D;
            type Set<D: Dims, X: Axis, L: Dims, Y: Axis> = L;
            type Splice<D: Dims, X: Axis, E: Dims> = D;
            type From<D: Dims, X: Axis> = ();
            type Until<D: Dims, X: Axis> = D;
        }
    )*};
}
nowhere! {
    Nowhere Mismatch;
    BehindWild RightIsWild;
}

// Every answer is that of the place found by comparing all symbols.
impl Place for Several {
    type BesideWild = Self;
    type Also<P: Place> = Self;
    type Pairing = Alike;
    type Resolved<D: Dims, X: Axis> = D::Scan<X>;
    type Exact<D: Dims, X: Axis> = D::Scan<X>;
    type Claim<D: Dims, X: Axis> = <D::Scan<X> as Place>::Claim<D, X>;
    type Found = True;
    type Axis<A: Axis, B: Axis> = A;
    type Unless<L: Dims, X: Axis> = L;
    type UnlessIn<D: Dims, L: Dims, X: Axis> = <D::Scan<X> as Place>::Unless<L, X>;
    type Remove<D: Dims, X: Axis> = <D::Scan<X> as Place>::Remove<D, X>;
    type Set<D: Dims, X: Axis, L: Dims, Y: Axis> = <D::Scan<X> as Place>::Set<D, X, L, Y>;
    type Splice<D: Dims, X: Axis, E: Dims> = <D::Scan<X> as Place>::Splice<D, X, E>;
    type From<D: Dims, X: Axis> = <D::Scan<X> as Place>::From<D, X>;
    type Until<D: Dims, X: Axis> = <D::Scan<X> as Place>::Until<D, X>;
}

macro_rules! places {
    ($($name:ident $order:literal $remove:ident $set:ident $from:ident $past:ident $until:ident $at:ident;)*) => {$(
        #[doc = concat!("The ", $order, " dim of a list.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Place for $name {
            type BesideWild = Self;
            type Also<P: Place> = Several;
            type Pairing = Alike;
            type Resolved<D: Dims, X: Axis> = Self;
            type Exact<D: Dims, X: Axis> = <Same<D::$at, X> as Bool>::OrScan<Self, D, X>;
            type Claim<D: Dims, X: Axis> = Sought<<D::$at as Axis>::Id, X::Id>;
            type Found = True;
            type Axis<A: Axis, B: Axis> = A;
            type Unless<L: Dims, X: Axis> = L;
            type UnlessIn<D: Dims, L: Dims, X: Axis> =
                <Same<D::$at, X> as Bool>::UnlessScan<D, L, X>;
            type Remove<D: Dims, X: Axis> = D::$remove;
            type Set<D: Dims, X: Axis, L: Dims, Y: Axis> = L::$set<Y>;
            type Splice<D: Dims, X: Axis, E: Dims> =
                <D::$past as DimList>::After<<E as DimList>::After<D::$until>>;
            type From<D: Dims, X: Axis> = D::$from;
            type Until<D: Dims, X: Axis> = D::$until;
        }
    )*};
}
places! {
    Place0 "first" Remove0 Set0 From0 From1 Until0 At0;
    Place1 "second" Remove1 Set1 From1 From2 Until1 At1;
    Place2 "third" Remove2 Set2 From2 From3 Until2 At2;
    Place3 "fourth" Remove3 Set3 From3 From4 Until3 At3;
    Place4 "fifth" Remove4 Set4 From4 From5 Until4 At4;
    Place5 "sixth" Remove5 Set5 From5 From6 Until5 At5;
    Place6 "seventh" Remove6 Set6 From6 From7 Until6 At6;
    Place7 "eighth" Remove7 Set7 From7 From8 Until7 At7;
}

/// The outcome of a search for `X` in `D`: the type behind [`Has`](super::Has).
pub(super) type Hit<D, X> = <<D as DimList>::Seek<X> as Place>::Claim<D, X>;

/// The search for `X` in a list. Apart from [`DimList`], so that a bound such as `(N, B): Distinct` can give the places
/// of generic dims without hiding the other functions of the list.
#[doc(hidden)]
pub trait SearchFor<X> {
    /// The place of the dim with the name of `X`, if it is there; compares heads, and whole names only if several dims
    /// have the sought head.
    type At: Place;
}

/// Rustc knows the outcome of a search: the check behind [`HasOrLacks`](super::HasOrLacks).
#[doc(hidden)]
pub trait Decided {
    /// Whether the dim is not behind a `Wild`.
    type Visible: Bool;
    /// The type that must be [`Stands`].
    type There;
}

/// The dim of a search is not behind a `Wild`: the check behind [`NotBehindWild`](super::NotBehindWild).
#[doc(hidden)]
pub trait NoWild {}
// One impl for all outcomes: an unknown one fails at `Decided`, as it does in the other checks, and of equal causes
// rustc reports the first.
#[diagnostic::do_not_recommend]
impl<O: Decided<Visible: IsTrue>> NoWild for O {}

/// The dim of a search is at the place found, or could be: the check behind [`Has`](super::Has).
#[doc(hidden)]
pub trait IsThere {}
#[diagnostic::do_not_recommend]
impl<O: Decided<There: Stands>> IsThere for O {}

/// The outcome of a search is the place of the dim.
#[doc(hidden)]
pub trait Stands {}
#[diagnostic::do_not_recommend]
impl<I> Stands for Sought<I, I> {}
// For this place, `NotBehindWild` fails and reports the only error.
#[diagnostic::do_not_recommend]
impl Stands for BehindWild {}

/// A dim was sought, and a dim has its head: the spellings of both.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Sought<I, J>(PhantomData<(I, J)>);

macro_rules! outcomes {
    ($([$($params:tt)*] $outcome:ty: $visible:ident;)*) => {$(
        impl<$($params)*> Decided for $outcome {
            type Visible = $visible;
            type There = Self;
        }
    )*};
}
outcomes! {
    [I, J] Sought<I, J>: True;
    [] Nowhere: True;
    [] BehindWild: False;
}

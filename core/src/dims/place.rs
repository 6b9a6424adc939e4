//! Positions of dims in a list: the end of a search, from which results are plain look-ups.
//!
//! A search compares heads only, which are hashes of whole spellings, and that is the end
//! of it where one dim of the list or none has the head. What it found is right wherever the
//! dim is there at all, so results need no more; the check that it is there,
//! [`Has`](super::Has), lets rustc compare both spellings as one type. Only a dim that must *not*
//! be there, and two dims of one head, are compared symbol by symbol.

use core::marker::PhantomData;

use super::axis::{Alike, Axis, Mismatch, Pairing, RightIsWild};
use super::dims::{DimList, Dims};
use super::id::{Bool, False, Same, True};

/// Where a dim `X` stands in a list `D`. Total: a dim that is not there leaves the list as it is.
pub trait Place: 'static {
    /// What this is where a `Wild` stands before what was searched.
    #[doc(hidden)]
    type BesideWild: Place;
    /// What this is where `P` could be it too.
    #[doc(hidden)]
    type Also<P: Place>: Place;
    /// What two dims are to each other of which one was searched by the other.
    #[doc(hidden)]
    type Pairing: Pairing;
    /// Where `X` stands in `D`, if heads led here.
    #[doc(hidden)]
    type Exact<D: Dims, X: Axis>: Place;
    /// What must hold for the dim to be there: [`Stands`].
    #[doc(hidden)]
    type Claim<D: Dims, X: Axis>;
    /// Whether the dim is there.
    type Found: Bool;
    /// Whether rustc can tell: it is there, or every name is known.
    type Known<D: Dims, X: Axis>: Bool;
    /// `A` if it is there, else `B`.
    type Axis<A: Axis, B: Axis>: Axis;
    /// `L` if it is there, else `L` with `X` behind it.
    #[doc(hidden)]
    type Unless<L: Dims, X: Axis>: Dims;
    /// The same of `X` in `D`, if heads led here.
    #[doc(hidden)]
    type UnlessIn<D: Dims, L: Dims, X: Axis>: Dims;
    /// `D` without the dim.
    type Remove<D: Dims, X: Axis>: Dims;
    /// `L`, as long as `D`, with `Y` in its place.
    type Set<D: Dims, X: Axis, L: Dims, Y: Axis>: Dims;
    /// `D` with the dims `E` in its place.
    type Splice<D: Dims, X: Axis, E: Dims>: Dims;
    /// The dims of `D` from it on; none without it.
    type From<D: Dims, X: Axis>: Dims;
    /// The dims of `D` before it; all without it.
    type Until<D: Dims, X: Axis>: Dims;
}

/// No dim of the list is it.
#[derive(Clone, Copy, Debug)]
pub enum Nowhere {}

/// No known dim of the list is it, and a `Wild` could be.
#[derive(Clone, Copy, Debug)]
pub enum BehindWild {}

/// Several dims of the list have its head.
#[derive(Clone, Copy, Debug)]
pub enum Several {}

macro_rules! nowhere {
    ($($name:ident $pairing:ident $known:ident;)*) => {$(
        impl Place for $name {
            type BesideWild = BehindWild;
            type Also<P: Place> = P;
            type Pairing = $pairing;
            type Exact<D: Dims, X: Axis> = Self;
            type Claim<D: Dims, X: Axis> = Self;
            type Found = False;
            type Known<D: Dims, X: Axis> = $known;
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
    Nowhere Mismatch True;
    BehindWild RightIsWild False;
}

// Everything is asked again of the place that comparing all symbols finds.
impl Place for Several {
    type BesideWild = Self;
    type Also<P: Place> = Self;
    type Pairing = Alike;
    type Exact<D: Dims, X: Axis> = D::Scan<X>;
    type Claim<D: Dims, X: Axis> = <D::Scan<X> as Place>::Claim<D, X>;
    type Found = True;
    type Known<D: Dims, X: Axis> = <D::Scan<X> as Place>::Known<D, X>;
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
            type Exact<D: Dims, X: Axis> = <Same<D::$at, X> as Bool>::OrScan<Self, D, X>;
            type Claim<D: Dims, X: Axis> = Sought<D::$at, X>;
            type Found = True;
            type Known<D: Dims, X: Axis> = True;
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

/// A dim that was searched stands where the search led to, or could stand there: the check behind
/// [`Has`](super::Has).
#[doc(hidden)]
pub trait Stands {}

/// The dim `X` was sought, and the dim `A` begins as it does.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Sought<A, X>(PhantomData<(A, X)>);

#[diagnostic::do_not_recommend]
impl<A: Axis, X: Axis<Id = A::Id>> Stands for Sought<A, X> {}
// Here `NotBehindWild` fails, and nothing else.
#[diagnostic::do_not_recommend]
impl Stands for BehindWild {}

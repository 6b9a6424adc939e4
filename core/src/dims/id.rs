//! The identity of a dim in types: its spelling, symbol by symbol.
//!
//! Two markers are the same dim when they are spelled alike, whichever crate declared them. So
//! `dims!` writes the spelling down as a type, `S17<S39<End>>`, and equality is a walk over both
//! that stops at the first difference, two steps of rustc's a symbol. The first symbol is a hash
//! of the whole spelling: most pairs of different names part there. The last symbol of all stands in
//! front of a primed dim's spelling, and nowhere else.

use core::marker::PhantomData;

use super::axis::{Alike, Axis, LeftIsWild, Mismatch, Pairing};
use super::dims::Dims;
use super::place::{
    Nowhere, Place, Place0, Place1, Place2, Place3, Place4, Place5, Place6, Place7,
};
use super::verdict::Outcome;

/// A truth value in types.
pub trait Bool: 'static {
    /// The other one.
    type Not: Bool;
    /// Whether both are true.
    type And<B: Bool>: Bool;
    /// Whether one is true.
    type Or<B: Bool>: Bool;
    /// `A` if true, else `B`.
    type Axis<A: Axis, B: Axis>: Axis;
    /// `A` if true, else `B`.
    type Dims<A: Dims, B: Dims>: Dims;
    /// `A` if true, else `B`.
    type Outcome<A: Outcome, B: Outcome>: Outcome;
    /// `P` if true, else `Q`.
    #[doc(hidden)]
    type Place<P: Place, Q: Place>: Place;
    /// `P` if true, else where a search name by name finds `X` in `D`.
    #[doc(hidden)]
    type OrScan<P: Place, D: Dims, X: Axis>: Place;
    /// `L` if true or if a search name by name finds `X` in `D`, else `L` with `X` behind it.
    #[doc(hidden)]
    type UnlessScan<D: Dims, L: Dims, X: Axis>: Dims;
}

/// Yes.
#[derive(Clone, Copy, Debug)]
pub struct True;

/// No.
#[derive(Clone, Copy, Debug)]
pub struct False;

impl Bool for True {
    type Not = False;
    type And<B: Bool> = B;
    type Or<B: Bool> = True;
    type Axis<A: Axis, B: Axis> = A;
    type Dims<A: Dims, B: Dims> = A;
    type Outcome<A: Outcome, B: Outcome> = A;
    type Place<P: Place, Q: Place> = P;
    type OrScan<P: Place, D: Dims, X: Axis> = P;
    type UnlessScan<D: Dims, L: Dims, X: Axis> = L;
}

impl Bool for False {
    type Not = True;
    type And<B: Bool> = False;
    type Or<B: Bool> = B;
    type Axis<A: Axis, B: Axis> = B;
    type Dims<A: Dims, B: Dims> = B;
    type Outcome<A: Outcome, B: Outcome> = B;
    type Place<P: Place, Q: Place> = Q;
    type OrScan<P: Place, D: Dims, X: Axis> = D::Scan<X>;
    type UnlessScan<D: Dims, L: Dims, X: Axis> = <D::Scan<X> as Place>::Unless<L, X>;
}

/// Holds for [`True`] only: turns a computed truth into a bound.
pub trait IsTrue {}
impl IsTrue for True {}

/// Whether two dims are spelled alike.
pub type Same<A, B> = <<A as Axis>::Id as Spelling>::Eq<<B as Axis>::Id>;

/// The end of a spelling.
#[derive(Clone, Copy, Debug)]
pub enum End {}

/// The spelling of what has no name; equal to no other, nor to itself.
#[derive(Clone, Copy, Debug)]
pub enum Nameless {}

/// A spelling that is equal to itself: every one that has an end. Generic code that wraps a dim's
/// spelling, as [`Prime`](super::Prime) does, knows by it that the whole is equal to itself.
pub trait Reflexive: Spelling<Eq<Self> = True> + Sized {}

/// Writes the trait of spellings and the symbols: each asks the other spelling the one question
/// that belongs to it, "are you my symbol, with this behind it?", and each answers its own.
macro_rules! symbols {
    ($($name:ident $is:ident $seek:ident)*) => {
        /// A list of symbols: a dim's spelling, or the digits of its constant size.
        pub trait Spelling: 'static {
            /// Whether both are spelled alike.
            type Eq<O: Spelling>: Bool;
            /// What this is beside `O` at one position of two lists, by their first symbols alone.
            #[doc(hidden)]
            type Facing<O: Spelling>: Pairing;
            /// What a `Wild` is beside this.
            #[doc(hidden)]
            type FacingWild: Pairing;
            // Which of the spellings begins as this one does.
            #[doc(hidden)]
            type Among1<I0: Spelling>: Place;
            #[doc(hidden)]
            type Among2<I0: Spelling, I1: Spelling>: Place;
            #[doc(hidden)]
            type Among3<I0: Spelling, I1: Spelling, I2: Spelling>: Place;
            #[doc(hidden)]
            type Among4<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling>: Place;
            #[doc(hidden)]
            type Among5<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling>: Place;
            #[doc(hidden)]
            type Among6<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling>: Place;
            #[doc(hidden)]
            type Among7<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling>: Place;
            #[doc(hidden)]
            type Among8<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling, I7: Spelling>: Place;
            #[doc(hidden)]
            type IsEnd: Bool;
            $(
                #[doc(hidden)]
                type $is<T: Spelling>: Bool;
                #[doc(hidden)]
                type $seek<P: Place, Q: Place>: Place;
            )*
        }

        impl Spelling for End {
            type Eq<O: Spelling> = O::IsEnd;
            type Facing<O: Spelling> = Mismatch;
            type FacingWild = LeftIsWild;
            type Among1<I0: Spelling> = Nowhere;
            type Among2<I0: Spelling, I1: Spelling> = Nowhere;
            type Among3<I0: Spelling, I1: Spelling, I2: Spelling> = Nowhere;
            type Among4<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling> = Nowhere;
            type Among5<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling> = Nowhere;
            type Among6<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling> = Nowhere;
            type Among7<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling> = Nowhere;
            type Among8<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling, I7: Spelling> = Nowhere;
            type IsEnd = True;
            $(type $is<T: Spelling> = False;)*
            $(type $seek<P: Place, Q: Place> = Q;)*
        }

        impl Reflexive for End {}

        impl Spelling for Nameless {
            type Eq<O: Spelling> = False;
            type Facing<O: Spelling> = O::FacingWild;
            type FacingWild = Alike;
            type Among1<I0: Spelling> = Nowhere;
            type Among2<I0: Spelling, I1: Spelling> = Nowhere;
            type Among3<I0: Spelling, I1: Spelling, I2: Spelling> = Nowhere;
            type Among4<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling> = Nowhere;
            type Among5<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling> = Nowhere;
            type Among6<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling> = Nowhere;
            type Among7<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling> = Nowhere;
            type Among8<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling, I7: Spelling> = Nowhere;
            type IsEnd = False;
            $(type $is<T: Spelling> = False;)*
            $(type $seek<P: Place, Q: Place> = Q::BesideWild;)*
        }

        symbols!(@each [] $($name $is $seek)*);
    };
    (
        @each [$($before:ident $seek_before:ident)*]
        $name:ident $is:ident $seek:ident
        $($after:ident $is_after:ident $seek_after:ident)*
    ) => {
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(PhantomData<T>);

        impl<T: Spelling> Spelling for $name<T> {
            type Eq<O: Spelling> = O::$is<T>;
            type Facing<O: Spelling> = <O::$seek<Place0, Nowhere> as Place>::Pairing;
            type FacingWild = LeftIsWild;
            type Among1<I0: Spelling> =
                I0::$seek<Place0, Nowhere>;
            type Among2<I0: Spelling, I1: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, Nowhere>>;
            type Among3<I0: Spelling, I1: Spelling, I2: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, Nowhere>>>;
            type Among4<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, Nowhere>>>>;
            type Among5<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, Nowhere>>>>>;
            type Among6<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, Nowhere>>>>>>;
            type Among7<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, I6::$seek<Place6, Nowhere>>>>>>>;
            type Among8<I0: Spelling, I1: Spelling, I2: Spelling, I3: Spelling, I4: Spelling, I5: Spelling, I6: Spelling, I7: Spelling> =
                I0::$seek<Place0, I1::$seek<Place1, I2::$seek<Place2, I3::$seek<Place3, I4::$seek<Place4, I5::$seek<Place5, I6::$seek<Place6, I7::$seek<Place7, Nowhere>>>>>>>>;
            type IsEnd = False;
            $(
                type $before<U: Spelling> = False;
                type $seek_before<P: Place, Q: Place> = Q;
            )*
            type $is<U: Spelling> = U::Eq<T>;
            type $seek<P: Place, Q: Place> = Q::Also<P>;
            $(
                type $is_after<U: Spelling> = False;
                type $seek_after<P: Place, Q: Place> = Q;
            )*
        }

        impl<T: Reflexive> Reflexive for $name<T> {}

        symbols!(@each [$($before $seek_before)* $is $seek] $($after $is_after $seek_after)*);
    };
    (@each [$($before:ident $seek_before:ident)*]) => {};
}

symbols! {
    S0 Is0 Seek0 S1 Is1 Seek1 S2 Is2 Seek2 S3 Is3 Seek3
    S4 Is4 Seek4 S5 Is5 Seek5 S6 Is6 Seek6 S7 Is7 Seek7
    S8 Is8 Seek8 S9 Is9 Seek9 S10 Is10 Seek10 S11 Is11 Seek11
    S12 Is12 Seek12 S13 Is13 Seek13 S14 Is14 Seek14 S15 Is15 Seek15
    S16 Is16 Seek16 S17 Is17 Seek17 S18 Is18 Seek18 S19 Is19 Seek19
    S20 Is20 Seek20 S21 Is21 Seek21 S22 Is22 Seek22 S23 Is23 Seek23
    S24 Is24 Seek24 S25 Is25 Seek25 S26 Is26 Seek26 S27 Is27 Seek27
    S28 Is28 Seek28 S29 Is29 Seek29 S30 Is30 Seek30 S31 Is31 Seek31
    S32 Is32 Seek32 S33 Is33 Seek33 S34 Is34 Seek34 S35 Is35 Seek35
    S36 Is36 Seek36 S37 Is37 Seek37 S38 Is38 Seek38 S39 Is39 Seek39
    S40 Is40 Seek40 S41 Is41 Seek41 S42 Is42 Seek42 S43 Is43 Seek43
    S44 Is44 Seek44 S45 Is45 Seek45 S46 Is46 Seek46 S47 Is47 Seek47
    S48 Is48 Seek48 S49 Is49 Seek49 S50 Is50 Seek50 S51 Is51 Seek51
    S52 Is52 Seek52 S53 Is53 Seek53 S54 Is54 Seek54 S55 Is55 Seek55
    S56 Is56 Seek56 S57 Is57 Seek57 S58 Is58 Seek58 S59 Is59 Seek59
    S60 Is60 Seek60 S61 Is61 Seek61 S62 Is62 Seek62 S63 Is63 Seek63
    S64 Is64 Seek64
}

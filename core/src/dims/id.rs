//! The identity of a dim in types: its spelling, symbol by symbol.
//!
//! Two markers are the same dim if they are spelled alike, whichever crate declared them. So
//! `dims!` writes the spelling as a type, `S17<S39<End>>`, and equality walks over both until the
//! first difference, in two steps of rustc per symbol. The last symbol is the prefix of a primed
//! dim's spelling, and is used nowhere else. Searches do not walk: they compare
//! [heads](super::head) first.

use core::marker::PhantomData;

use super::axis::Axis;
use super::dims::Dims;
use super::place::Place;
use super::verdict::Outcome;
use crate::mesh::{State, Verdict};

/// A truth value in types.
pub trait Bool: 'static {
    /// The negation.
    type Not: Bool;
    /// Whether both are true.
    type And<B: Bool>: Bool;
    /// Whether at least one is true.
    type Or<B: Bool>: Bool;
    /// `A` if true, else `B`.
    type Axis<A: Axis, B: Axis>: Axis;
    /// `A` if true, else `B`.
    type Dims<A: Dims, B: Dims>: Dims;
    /// `A` if true, else `B`.
    type Outcome<A: Outcome, B: Outcome>: Outcome;
    /// `A` if true, else `B`.
    #[doc(hidden)]
    type Verdict<A: Verdict, B: Verdict>: Verdict;
    /// `A` if true, else `B`.
    #[doc(hidden)]
    type State<A: State, B: State>: State;
    /// `P` if true, else `Q`.
    #[doc(hidden)]
    type Place<P: Place, Q: Place>: Place;
    /// `P` if true, else the place that a search by whole names finds for `X` in `D`.
    #[doc(hidden)]
    type OrScan<P: Place, D: Dims, X: Axis>: Place;
    /// `L` if true or if a search by whole names finds `X` in `D`, else `L` followed by `X`.
    #[doc(hidden)]
    type UnlessScan<D: Dims, L: Dims, X: Axis>: Dims;
}

/// The truth value "true".
#[derive(Clone, Copy, Debug)]
pub struct True;

/// The truth value "false".
#[derive(Clone, Copy, Debug)]
pub struct False;

impl Bool for True {
    type Not = False;
    type And<B: Bool> = B;
    type Or<B: Bool> = True;
    type Axis<A: Axis, B: Axis> = A;
    type Dims<A: Dims, B: Dims> = A;
    type Outcome<A: Outcome, B: Outcome> = A;
    type Verdict<A: Verdict, B: Verdict> = A;
    type State<A: State, B: State> = A;
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
    type Verdict<A: Verdict, B: Verdict> = B;
    type State<A: State, B: State> = B;
    type Place<P: Place, Q: Place> = Q;
    type OrScan<P: Place, D: Dims, X: Axis> = D::Scan<X>;
    type UnlessScan<D: Dims, L: Dims, X: Axis> = <D::Scan<X> as Place>::Unless<L, X>;
}

/// Holds for [`True`] only: turns a computed truth value into a bound.
pub trait IsTrue {}
impl IsTrue for True {}

/// Whether two dims are spelled alike.
pub type Same<A, B> = <<A as Axis>::Id as Spelling>::Eq<<B as Axis>::Id>;

/// The end of a spelling.
#[derive(Clone, Copy, Debug)]
pub enum End {}

/// The spelling of a nameless dim; unequal to every spelling, itself included.
#[derive(Clone, Copy, Debug)]
pub enum Nameless {}

/// A spelling that is equal to itself: every spelling that ends in [`End`]. Generic code that wraps
/// a dim's spelling, as [`Prime`](super::Prime) does, needs it to prove that the wrapped spelling
/// is equal to itself.
pub trait Reflexive: Spelling<Eq<Self> = True> + Sized {}

/// Writes the trait of spellings and the symbols: each asks the other spelling its own question,
/// "are you my symbol, followed by this?", and each answers true only to its own.
macro_rules! symbols {
    ($($name:ident $is:ident)*) => {
        /// A list of symbols: a dim's spelling, or the digits of its constant size.
        pub trait Spelling: 'static {
            /// Whether both are spelled alike.
            type Eq<O: Spelling>: Bool;
            #[doc(hidden)]
            type IsEnd: Bool;
            $(
                #[doc(hidden)]
                type $is<T: Spelling>: Bool;
            )*
        }

        impl Spelling for End {
            type Eq<O: Spelling> = O::IsEnd;
            type IsEnd = True;
            $(type $is<T: Spelling> = False;)*
        }

        impl Reflexive for End {}

        impl Spelling for Nameless {
            type Eq<O: Spelling> = False;
            type IsEnd = False;
            $(type $is<T: Spelling> = False;)*
        }

        symbols!(@each [] $($name $is)*);
    };
    (
        @each [$($before:ident)*]
        $name:ident $is:ident
        $($after:ident $is_after:ident)*
    ) => {
        #[doc(hidden)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T>(PhantomData<T>);

        impl<T: Spelling> Spelling for $name<T> {
            type Eq<O: Spelling> = O::$is<T>;
            type IsEnd = False;
            $(
                type $before<U: Spelling> = False;
            )*
            type $is<U: Spelling> = U::Eq<T>;
            $(
                type $is_after<U: Spelling> = False;
            )*
        }

        impl<T: Reflexive> Reflexive for $name<T> {}

        symbols!(@each [$($before)* $is] $($after $is_after)*);
    };
    (@each [$($before:ident)*]) => {};
}

symbols! {
    S0 Is0 S1 Is1 S2 Is2 S3 Is3 S4 Is4 S5 Is5
    S6 Is6 S7 Is7 S8 Is8 S9 Is9 S10 Is10 S11 Is11
    S12 Is12 S13 Is13 S14 Is14 S15 Is15 S16 Is16 S17 Is17
    S18 Is18 S19 Is19 S20 Is20 S21 Is21 S22 Is22 S23 Is23
    S24 Is24 S25 Is25 S26 Is26 S27 Is27 S28 Is28 S29 Is29
    S30 Is30 S31 Is31 S32 Is32 S33 Is33 S34 Is34 S35 Is35
    S36 Is36 S37 Is37 S38 Is38 S39 Is39 S40 Is40 S41 Is41
    S42 Is42 S43 Is43 S44 Is44 S45 Is45 S46 Is46 S47 Is47
    S48 Is48 S49 Is49 S50 Is50 S51 Is51 S52 Is52 S53 Is53
    S54 Is54 S55 Is55 S56 Is56 S57 Is57 S58 Is58 S59 Is59
    S60 Is60 S61 Is61 S62 Is62 S63 Is63 S64 Is64
}

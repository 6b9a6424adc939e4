//! One dim in types: a name that rustc knows, or [`Wild`].

use core::fmt;
use core::marker::PhantomData;

use super::at::{At, Subscript};
use super::dims::Dims;
use super::head::{Head, HeadOfName, HeadOfNone};
use super::id::{Bool, False, Reflexive, Same, Spelling, True};
use super::labels::LabelType;
use super::place::{Nowhere, Place};
use super::size::{AnySize, DimSize, Meets, Open, SizeOf};
use super::verdict::{Foreign, LeftAligns, Misaligned, OneName, Outcome, RightAligns};

/// One dim of a tensor's type: a marker declared by `dims!`, or [`Wild`].
///
/// `dims!` writes the impls; nothing in them can fail. The total functions of [`AxisFn`] compute the relation of two
/// axes. An axis agrees with itself by a supertrait bound, so generic code needs no bound for `x + x`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "not a dim",
    note = "declare dims with `dims! {{ N, C }}`"
)]
pub trait Axis:
    Copy
    + Default
    + fmt::Debug
    + Send
    + Sync
    + 'static
    + AxisFn<Unified<Self> = Self, Beside<Self> = Alike, Accepts<Self> = True>
{
    /// The spelling.
    type Id: Spelling;
    /// A hash of the spelling, for searches.
    type Head: Head;
    /// [`Named`] or [`Unnamed`].
    type Kind: Kind;
    /// [`AnySize`], or [`Fixed`](super::Fixed) for a constant size.
    type Size: DimSize<Equals<Self::Size> = True> + Meets<Self::Size>;
    /// The name at run time; `None` for [`Wild`].
    const NAME: Option<&'static str>;
    /// The type of the labels along the dim; `None` for a dim without labels.
    const LABELS: Option<LabelType> = None;
}

/// A dim whose name rustc knows.
///
/// ```
/// # use nomina_core::dims::*;
/// fn rows<N: Dim>(n: N) -> Of<N>
/// where
///     SizeOf<N>: Open<N>,
/// {
///     n.of(3)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a named dim",
    label = "a name is needed here",
    note = "declare dims with `dims! {{ N, C }}`"
)]
pub trait Dim: Axis<Id: Reflexive, Head: HeadOfName, Kind = Named> {
    /// Attaches a size, for factories and for `unflatten`: `Tensor::zeros((N.of(2), C.of(3)))`.
    ///
    /// A dim with a constant size has no such method and is written without one: `(N.of(2), Rgb)`.
    fn of(self, size: usize) -> Of<Self>
    where
        SizeOf<Self>: Open<Self>,
    {
        Of {
            size,
            dim: PhantomData,
        }
    }

    /// Attaches an index, for `at`, `at_mut` and `get`: a number (`N.i(0)`, `N.i(-1)`), a range (`N.i(2..)`,
    /// `N.i(..).step(2)`), an index tensor or a mask (`N.i(&ids)`).
    fn i<I: Subscript>(self, index: I) -> At<Self, I> {
        At::new(index)
    }
}

/// Exactly one dim, for arguments that may not be a tuple or `..`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "one dim is needed here",
    note = "declare dims with `dims! {{ N, C }}`"
)]
pub trait OneDim: Dim {}
#[diagnostic::do_not_recommend]
impl<X: Dim> OneDim for X {}

/// A dim with a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Of<A> {
    /// The size.
    pub size: usize,
    dim: PhantomData<A>,
}

/// A dim whose name rustc does not know: at run time it may be named or unnamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wild;

#[diagnostic::do_not_recommend]
impl Axis for Wild {
    type Id = super::id::Nameless;
    type Head = HeadOfNone;
    type Kind = Unnamed;
    type Size = AnySize;
    const NAME: Option<&'static str> = None;
}

/// No dim: the result of a search in types that found nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NoDim;

#[diagnostic::do_not_recommend]
impl Axis for NoDim {
    type Id = super::id::Nameless;
    type Head = HeadOfNone;
    type Kind = Unnamed;
    type Size = AnySize;
    const NAME: Option<&'static str> = None;
}

/// Relations between two axes. Total: defined also for axes that do not match.
#[doc(hidden)]
pub trait AxisFn {
    /// The more specific axis of the two; the left marker if both are named.
    type Unified<B: Axis>: Axis;
    /// The relation of two axes at the same position of two lists.
    type Beside<B: Axis>: Pairing;
    /// Whether a tensor with this axis can hold a result with that one.
    type Accepts<B: Axis>: Bool;
}

impl<A: Axis> AxisFn for A {
    type Unified<B: Axis> = <A::Kind as Kind>::Unified<A, B>;
    type Beside<B: Axis> = <A::Head as Head>::Facing<B::Head>;
    type Accepts<B: Axis> = <A::Kind as Kind>::Accepts<A, B>;
}

/// Whether an axis has a name that rustc knows.
pub trait Kind: 'static {
    /// [`True`] for a known name.
    type IsName: Bool;
    #[doc(hidden)]
    type Unified<A: Axis, B: Axis>: Axis;
    /// The place `Q`, adjusted if a [`Wild`] precedes it.
    #[doc(hidden)]
    type Before<Q: Place>: Place;
    /// `Q` if a search finds such an axis.
    #[doc(hidden)]
    type At<Q: Place>: Place;
    #[doc(hidden)]
    type Accepts<A: Axis, B: Axis>: Bool;
}

/// The kind of an axis with a name.
#[derive(Clone, Copy, Debug)]
pub struct Named;

/// The kind of [`Wild`].
#[derive(Clone, Copy, Debug)]
pub struct Unnamed;

impl Kind for Named {
    type IsName = True;
    type Unified<A: Axis, B: Axis> = A;
    type Before<Q: Place> = Q;
    type At<Q: Place> = Q;
    type Accepts<A: Axis, B: Axis> = Same<A, B>;
}

impl Kind for Unnamed {
    type IsName = False;
    type Unified<A: Axis, B: Axis> = B;
    type Before<Q: Place> = Q::BesideWild;
    type At<Q: Place> = Nowhere;
    type Accepts<A: Axis, B: Axis> = True;
}

/// The relation of two axes at the same position of two lists, counted from the right. Decides whether the check
/// continues.
#[doc(hidden)]
pub trait Pairing: 'static {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome>: Outcome;
}

/// One step of a check from the right: compares axis `A` of dims `L` with axis `B` of dims `M`.
#[doc(hidden)]
pub type PairVerdict<A, B, L, M, Rest> =
    <<A as AxisFn>::Beside<B> as Pairing>::Then<A, B, L, M, Rest>;

/// Two dims with the same head, or two `Wild`s.
#[derive(Clone, Copy, Debug)]
pub struct Alike;

/// Two dims with different names.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch;

/// A name on the right, a `Wild` on the left: the name must not be elsewhere on the left.
#[derive(Clone, Copy, Debug)]
pub struct LeftIsWild;

/// A name on the left, a `Wild` on the right: the name must not be elsewhere on the right.
#[derive(Clone, Copy, Debug)]
pub struct RightIsWild;

// Equal names and sizes are checked by rustc when the outcome becomes a bound.
impl Pairing for Alike {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome> = OneName<A, B, Rest>;
}

impl Pairing for Mismatch {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome> =
        <L::Contains<B> as Bool>::Outcome<
            RightAligns<A, B>,
            <M::Contains<A> as Bool>::Outcome<LeftAligns<A, B>, Foreign<A, B>>,
        >;
}

impl Pairing for LeftIsWild {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome> =
        <L::Contains<B> as Bool>::Outcome<Misaligned<B, L>, Rest>;
}

impl Pairing for RightIsWild {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome> =
        <M::Contains<A> as Bool>::Outcome<Misaligned<A, M>, Rest>;
}

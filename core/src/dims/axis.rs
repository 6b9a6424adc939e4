//! One dim in types: a name that rustc knows, or [`Wild`].

use core::fmt;
use core::marker::PhantomData;

use super::at::{At, Subscript};
use super::dims::Dims;
use super::head::{Head, HeadOfNone};
use super::id::{Bool, False, Reflexive, Same, Spelling, True};
use super::place::Place;
use super::size::{AnySize, DimSize, Meets, Open, SizeOf};
use super::verdict::{Foreign, LeftAligns, Misaligned, OneName, Outcome, RightAligns};

/// One dim of a tensor's type: a marker that `dims!` declared, or [`Wild`].
///
/// `dims!` writes the impls; nothing in them can fail. What two axes are to each other is
/// computed by the functions of [`AxisFn`], which are total; that an axis agrees with itself is
/// part of being one, so that generic code needs no bound for `x + x`.
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
    /// A hash of the spelling.
    type Head: Head;
    /// [`Named`] or [`Unnamed`].
    type Kind: Kind;
    /// [`AnySize`], or [`Fixed`](super::Fixed) for a constant one.
    type Size: DimSize<Equals<Self::Size> = True> + Meets<Self::Size>;
    /// The name at run time; `None` for [`Wild`].
    const NAME: Option<&'static str>;
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
pub trait Dim: Axis<Id: Reflexive, Kind = Named> {
    /// This dim with a size, for factories and for `unflatten`: `Tensor::zeros((N.of(2), C.of(3)))`.
    ///
    /// A dim with a constant size has no such method: it stands bare, `(N.of(2), Rgb)`.
    fn of(self, size: usize) -> Of<Self>
    where
        SizeOf<Self>: Open<Self>,
    {
        Of {
            size,
            dim: PhantomData,
        }
    }

    /// This dim with an index along it, for `at`, `at_mut` and `get`: a number (`N.i(0)`,
    /// `N.i(-1)`), a range (`N.i(2..)`, `N.i(..).step(2)`), an index tensor or a mask
    /// (`N.i(&ids)`).
    fn i<I: Subscript>(self, index: I) -> At<Self, I> {
        At::new(index)
    }
}

/// Exactly one dim, where an argument may not be a tuple or `..`.
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

/// A dim whose name rustc does not know: at run time it has one, or none.
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

/// No dim: what a search in types gives when it finds nothing.
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

/// What two axes are to each other. Total: defined also where they do not go together.
#[doc(hidden)]
pub trait AxisFn {
    /// The more specific of both; the left one's marker where both are named.
    type Unified<B: Axis>: Axis;
    /// What they are at one position of two lists.
    type Beside<B: Axis>: Pairing;
    /// Whether a tensor with this axis can hold a result with that one.
    type Accepts<B: Axis>: Bool;
}

impl<A: Axis> AxisFn for A {
    type Unified<B: Axis> = <A::Kind as Kind>::Unified<A, B>;
    type Beside<B: Axis> = <A::Head as Head>::Facing<B::Head>;
    type Accepts<B: Axis> = <A::Kind as Kind>::Accepts<A, B>;
}

/// Whether rustc knows an axis' name.
pub trait Kind: 'static {
    /// Whether it does.
    type IsName: Bool;
    #[doc(hidden)]
    type Unified<A: Axis, B: Axis>: Axis;
    /// `Q`, which learns of it where this is no name.
    #[doc(hidden)]
    type Before<Q: Place>: Place;
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
    type Accepts<A: Axis, B: Axis> = Same<A, B>;
}

impl Kind for Unnamed {
    type IsName = False;
    type Unified<A: Axis, B: Axis> = B;
    type Before<Q: Place> = Q::BesideWild;
    type Accepts<A: Axis, B: Axis> = True;
}

/// What stands at one position of two lists, counted from the right; decides whether the check
/// goes on.
#[doc(hidden)]
pub trait Pairing: 'static {
    type Then<A: Axis, B: Axis, L: Dims, M: Dims, Rest: Outcome>: Outcome;
}

/// One step of a check from the right: axis `A` of dims `L` beside axis `B` of dims `M`.
#[doc(hidden)]
pub type Beside<A, B, L, M, Rest> = <<A as AxisFn>::Beside<B> as Pairing>::Then<A, B, L, M, Rest>;

/// Two dims of one head, or two `Wild`s.
#[derive(Clone, Copy, Debug)]
pub struct Alike;

/// Two different names.
#[derive(Clone, Copy, Debug)]
pub struct Mismatch;

/// A name on the right that may stand nowhere else on the left.
#[derive(Clone, Copy, Debug)]
pub struct LeftIsWild;

/// A name on the left that may stand nowhere else on the right.
#[derive(Clone, Copy, Debug)]
pub struct RightIsWild;

// That both are one name, and of one size, rustc finds out where the outcome is asked for.
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

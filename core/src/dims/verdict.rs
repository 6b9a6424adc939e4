//! Outcomes of checks: one type per outcome, and one trait with a message per failure.
//!
//! A check folds its questions into the first failure and asks once whether that is [`Accepted`].
//! Every failure implements `Accepted` under a condition that never holds, and the condition
//! carries the message: rustc descends to it and prints it at the user's operator.

use core::marker::PhantomData;

use super::axis::Axis;
use super::size::Meets;

/// The outcome of a check of two lists of dims.
pub trait Outcome: 'static {}

/// The outcome is success. `L` and `M` are the lists that were checked.
pub trait Accepted<L, M> {}

/// Success.
#[derive(Clone, Copy, Debug)]
pub struct Fine;

/// Two different names are at one position, and the right one is elsewhere on the left.
#[derive(Clone, Copy, Debug)]
pub struct RightAligns<A, B>(PhantomData<(A, B)>);

/// Two different names are at one position, and the left one is elsewhere on the right.
#[derive(Clone, Copy, Debug)]
pub struct LeftAligns<A, B>(PhantomData<(A, B)>);

/// Two different names are at one position, and neither is elsewhere in the other list.
#[derive(Clone, Copy, Debug)]
pub struct Foreign<A, B>(PhantomData<(A, B)>);

/// A name is at the position of a `Wild`, and also elsewhere in the list `D` with the `Wild`.
#[derive(Clone, Copy, Debug)]
pub struct Misaligned<X, D>(PhantomData<(X, D)>);

/// Two names with the same head are at one position. Succeeds if they are the same name, their
/// sizes can be equal, and `Rest` succeeds.
#[derive(Clone, Copy, Debug)]
pub struct OneName<A, B, Rest>(PhantomData<(A, B, Rest)>);

impl Outcome for Fine {}
impl<A: 'static, B: 'static> Outcome for RightAligns<A, B> {}
impl<A: 'static, B: 'static> Outcome for LeftAligns<A, B> {}
impl<A: 'static, B: 'static> Outcome for Foreign<A, B> {}
impl<X: 'static, D: 'static> Outcome for Misaligned<X, D> {}
impl<A: 'static, B: 'static, Rest: Outcome> Outcome for OneName<A, B, Rest> {}

impl<L, M> Accepted<L, M> for Fine {}
impl<A, B, L, M> Accepted<L, M> for RightAligns<A, B> where Position<A, B>: SameDim<A, B, L, M> {}
impl<A, B, L, M> Accepted<L, M> for LeftAligns<A, B> where Position<A, B>: SameDimLeft<A, B, L, M> {}
impl<A, B, L, M> Accepted<L, M> for Foreign<A, B> where Position<A, B>: SameName<A, B, L, M> {}
impl<X, D, L, M> Accepted<L, M> for Misaligned<X, D> where Elsewhere<X>: MayFaceWild<X, D, L, M> {}
impl<A, B, L, M, Rest> Accepted<L, M> for OneName<A, B, Rest>
where
    Position<A, B>: SameName<A, B, L, M> + SameSize<A, B, L, M>,
    Rest: Accepted<L, M>,
{
}

/// One position, counted from the right, of two lists of dims.
#[derive(Clone, Copy, Debug)]
pub struct Position<A, B>(PhantomData<(A, B)>);

/// A dim that is at two positions.
#[derive(Clone, Copy, Debug)]
pub struct Elsewhere<X>(PhantomData<X>);

/// Never holds: the message for two names at one position that aligning the right operand would
/// fix.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` and dim `{B}` are at the same position from the right but do not match",
    label = "cannot broadcast dims {L} with dims {M}; align by name first: `y.align_as(&x)`"
)]
pub trait SameDim<A, B, L, M> {}

/// Never holds: the message for two names at one position that aligning the left operand would fix.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` and dim `{B}` are at the same position from the right but do not match",
    label = "cannot broadcast dims {L} with dims {M}; align by name first: `x.align_as(&y)`"
)]
pub trait SameDimLeft<A, B, L, M> {}

/// Two names that no reordering brings together are the same name.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` and dim `{B}` are at the same position from the right but do not match",
    label = "cannot broadcast dims {L} with dims {M}; if both are one dim: `y.rename({B}, {A})`"
)]
pub trait SameName<A, B, L, M> {}
#[diagnostic::do_not_recommend]
impl<A: Axis, B: Axis<Id = A::Id>, L, M> SameName<A, B, L, M> for Position<A, B> {}

/// Never holds: the message for a name at the position of a `Wild` that is also elsewhere.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` is misaligned: it faces `Wild`, but is at another position in dims {D}",
    label = "cannot broadcast dims {L} with dims {M}",
    note = "name the dims first, `x.refine_names(..)`, then align by name: `y.align_as(&x)`"
)]
pub trait MayFaceWild<X, D, L, M> {}

/// The sizes of two dims with the same name can be equal.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` and dim `{B}` have one name but different constant sizes",
    label = "cannot broadcast dims {L} with dims {M}; give one another name: `y.rename({B}, ..)`"
)]
pub trait SameSize<A, B, L, M> {}
#[diagnostic::do_not_recommend]
impl<A: Axis<Size: Meets<B::Size>>, B: Axis, L, M> SameSize<A, B, L, M> for Position<A, B> {}

/// The names in a list of dims.
#[derive(Clone, Copy, Debug)]
pub struct NamesOf<D>(PhantomData<D>);

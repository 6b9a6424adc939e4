//! Elementwise operators: two lists of dims unify from the right.

use super::dims::{DimList, Dims};
use super::distinct::Distinct;
use super::id::IsTrue;

/// `Self` and `E` unify from the right, as `x + y` requires.
///
/// A dim that only one list has is taken from it. Two names at one position must be spelled alike.
/// A `Wild` matches a name that is nowhere else in the list with the `Wild`.
///
/// In generic code the bound also implies that the sum broadcasts with `Self` again, to itself:
/// `x * y + x`. [`Dims`] is not a supertrait: write `D: Dims + Broadcast<E>`. Otherwise, in a
/// bound on a type alias such as `Contracted<D, E, X>: Broadcast<E>`, rustc would search this
/// bound for what it needs to normalize the alias.
///
/// ```
/// # use nomina_core::dims::*;
/// # struct Tensor<D>(core::marker::PhantomData<D>);
/// fn add<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
/// #   Tensor(core::marker::PhantomData)
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "dims {Self} cannot be broadcast with dims {E}",
    label = "cannot broadcast dims {Self} with dims {E}",
    note = "in generic code, add the bound `D: Broadcast<E>`"
)]
pub trait Broadcast<E: Dims>:
    Sized + BroadcastWith<E> + DimList<Sum<E>: BroadcastWith<Self> + DimList<Sum<Self> = Sum<Self, E>>>
{
}
impl<D: Dims + BroadcastWith<E>, E: Dims> Broadcast<E> for D where
    Sum<D, E>: BroadcastWith<D> + DimList<Sum<D> = Sum<D, E>>
{
}

/// Part of [`Broadcast`], implemented rank by rank.
///
/// Operators on tensors use this bound, which makes their messages a line shorter.
#[diagnostic::on_unimplemented(
    message = "dims {Self} cannot be broadcast with dims {E}",
    label = "cannot broadcast dims {Self} with dims {E}",
    note = "in generic code, add the bound `D: Broadcast<E>`"
)]
pub trait BroadcastWith<E> {}
// One impl serves every `E`, so that generic code needs no bound for a zero-dim left operand.
impl<E: Dims> BroadcastWith<E> for () {}

/// The dims of `x + y`: unified from the right; the left operand's markers stay.
pub type Sum<D, E> = <D as DimList>::Sum<E>;

/// The operand whose dtype decides in `x + y`: see [`PromotionRule`](crate::PromotionRule).
pub type DtypeRule<D, E> = <D as DimList>::Rule<E>;

/// A tensor with these dims can store the result of an operator on itself, of dims `O`, in place.
///
/// The result's dims are these dims unified with others from the right, so only the rank can
/// differ. `Wild` may become a name at run time.
#[diagnostic::on_unimplemented(
    message = "the result has dims {O}, which dims {Self} cannot hold",
    label = "in-place would change dims {Self}",
    note = "use the out-of-place operator"
)]
pub trait HoldsInPlace<O> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, O: Dims> HoldsInPlace<O> for D where D::SameRank<O>: IsTrue {}

/// A tensor with these dims can take a result of dims `O` as `out`.
///
/// The ranks are equal and the names are those of the result; `Wild` matches any.
#[diagnostic::on_unimplemented(
    message = "the result has dims {O}, which dims {Self} cannot hold",
    label = "the result would change dims {Self}",
    note = "use the out-of-place operator"
)]
pub trait Holds<O>: HoldsInPlace<O> {}

/// `x += &y` is defined for dims `Self` and `E`: the dims broadcast, and the result has no more
/// dims than `x`. Generic code needs no other bound for `x += &y` and similar operators.
///
/// ```
/// # use nomina_core::dims::*;
/// # struct Tensor<D>(core::marker::PhantomData<D>);
/// fn accumulate<D: Absorbs<E>, E: Dims>(x: &mut Tensor<D>, y: &Tensor<E>) {
/// #   let _ = (x, y);
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "dims {E} do not fit into dims {Self} in place",
    label = "in-place would change dims {Self}",
    note = "use the out-of-place operator"
)]
pub trait Absorbs<E: Dims>: Dims + Broadcast<E> + HoldsInPlace<Sum<Self, E>> {}
impl<D: Dims + Broadcast<E> + HoldsInPlace<Sum<D, E>>, E: Dims> Absorbs<E> for D {}

/// `D` expands to `T`: dims are added on the left, dims of size 1 are repeated.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not expand to dims {T}",
    label = "expand adds dims on the left and keeps the others in order",
    note = "for another order, align first: `x.align_to(..)`"
)]
pub trait ExpandInto<T> {}
// `T` holds the sum, so all names match: `T` is fully named.
#[diagnostic::do_not_recommend]
impl<D: Dims, T: Dims + Distinct + Holds<Sum<D, T>>> ExpandInto<T> for D {}

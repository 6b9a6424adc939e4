//! Elementwise operators: two lists of dims unify from the right.

use super::dims::{DimList, Dims};
use super::distinct::Distinct;
use super::id::IsTrue;

/// `Self` and `E` unify from the right, as `x + y` needs it.
///
/// Where one list has no dim, the other's is taken. Two names at one position must be spelled
/// alike; `Wild` goes with a name that stands nowhere else in the list that has the `Wild`.
///
/// In generic code it says too that the sum broadcasts with `Self` again, to itself: `x * y + x`.
/// [`Dims`] is no part of it: write `D: Dims + Broadcast<E>`. Where `Self` is a noun, as in
/// `Contracted<D, E, X>: Broadcast<E>`, rustc would otherwise seek in this bound what it needs to
/// find out which list the noun is.
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
    note = "generic code asks for it in a bound: `D: Broadcast<E>`"
)]
pub trait Broadcast<E: Dims>:
    Sized + BroadcastWith<E> + DimList<Sum<E>: BroadcastWith<Self> + DimList<Sum<Self> = Sum<Self, E>>>
{
}
impl<D: Dims + BroadcastWith<E>, E: Dims> Broadcast<E> for D where
    Sum<D, E>: BroadcastWith<D> + DimList<Sum<D> = Sum<D, E>>
{
}

/// As [`Broadcast`], rank by rank; a part of it.
///
/// Operators on tensors ask for this one, which makes their messages a line shorter.
#[diagnostic::on_unimplemented(
    message = "dims {Self} cannot be broadcast with dims {E}",
    label = "cannot broadcast dims {Self} with dims {E}",
    note = "generic code asks for it in a bound: `D: Broadcast<E>`"
)]
pub trait BroadcastWith<E> {}
// Of lists without dims the one impl serves all: so generic code needs no bound for them.
impl<E: Dims> BroadcastWith<E> for () {}

/// The dims of `x + y`: unified from the right; the left operand's markers stay.
pub type Sum<D, E> = <D as DimList>::Sum<E>;

/// Which operand's dtype leads in `x + y`: see [`Rule`](crate::Rule).
pub type DtypeRule<D, E> = <D as DimList>::Rule<E>;

/// A tensor with these dims can take the result `O` of an operator on itself in place.
///
/// The result unified these dims with others from the right, so what can differ is the rank.
/// `Wild` may take a name at run time.
#[diagnostic::on_unimplemented(
    message = "the result has dims {O}, which dims {Self} cannot hold",
    label = "in-place would change dims {Self}",
    note = "use the operator that makes a new tensor"
)]
pub trait HoldsInPlace<O> {}
#[diagnostic::do_not_recommend]
impl<D: Dims, O: Dims> HoldsInPlace<O> for D where D::SameRank<O>: IsTrue {}

/// A tensor with these dims can take a result with dims `O` as `out`.
///
/// The ranks are equal and every name is the result's; `Wild` takes any.
#[diagnostic::on_unimplemented(
    message = "the result has dims {O}, which dims {Self} cannot hold",
    label = "the result would change dims {Self}",
    note = "use the operator that makes a new tensor"
)]
pub trait Holds<O>: HoldsInPlace<O> {}

/// `x += &y` of dims `Self` and `E` is defined: the dims broadcast, and the result has no more
/// dims than `x`. In generic code it is all that `x += &y` and the like need.
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
    note = "use the operator that makes a new tensor"
)]
pub trait Absorbs<E: Dims>: Dims + Broadcast<E> + HoldsInPlace<Sum<Self, E>> {}
impl<D: Dims + Broadcast<E> + HoldsInPlace<Sum<D, E>>, E: Dims> Absorbs<E> for D {}

/// `D` expands to `T`: new dims on the left, size-1 dims repeated.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not expand to dims {T}",
    label = "expand adds dims on the left and keeps the others in order",
    note = "where the order differs, align by name first: `x.align_to(..)`"
)]
pub trait ExpandInto<T> {}
// Where `T` holds the sum, all names match: `T` is fully named.
#[diagnostic::do_not_recommend]
impl<D: Dims, T: Dims + Distinct + Holds<Sum<D, T>>> ExpandInto<T> for D {}

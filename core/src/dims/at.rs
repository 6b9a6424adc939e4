//! Dims with an index: `x.at((N.i(0), H.i(2..10), W.i(..).step(2)))`.

use core::marker::PhantomData;
use core::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use super::axis::Axis;
use super::dims::{DimList, Dims};
use super::size::{Resizable, SizeOf};

/// A dim with an index along it: `N.i(0)`, `N.i(2..)`, `N.i(&ids)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At<A, I = i64> {
    /// The index.
    pub index: I,
    dim: PhantomData<A>,
}

impl<A, I> At<A, I> {
    /// Pairs a dim with an index, as [`Dim::i`](super::Dim::i) does. `dims!` uses it for the words of a dim.
    #[doc(hidden)]
    pub const fn new(index: I) -> Self {
        Self {
            index,
            dim: PhantomData,
        }
    }
}

impl<A, R> At<A, R> {
    /// Takes every `step`-th index of the range, starting with its first; `step` is at least 1.
    #[must_use]
    pub fn step(self, step: usize) -> At<A, Step<R>>
    where
        R: Unstepped,
    {
        At::new(Step {
            range: self.index,
            step,
        })
    }
}

/// A range with a step: `W.i(..).step(2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<R> {
    /// The range.
    pub range: R,
    /// The distance from one index to the next.
    pub step: usize,
}

/// An index, the argument of `N.i(..)`: a number, which drops the dim; a range, which keeps it; an
/// index tensor, whose dims replace it; or a mask along the dim.
///
/// Numbers are applied first, then tensors, in order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index along a dim",
    label = "expected a number, a range, or a tensor of i64, i32 or bool"
)]
pub trait Subscript {
    /// `D` without `X`, for a number.
    type Removed<D: Dims, X: Axis>: Dims;
    /// `D` with `X` replaced by the tensor's dims, for an index tensor.
    type Placed<D: Dims, X: Axis>: Dims;
}

/// The index applies to dim `X`, where dims `D` are the tensor's after the preceding indices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index dim `{X}` of dims {D}",
    label = "cannot index `{X}`"
)]
pub trait SubscriptOf<D, X>: Subscript {}

/// A number or a range: the part it selects is a view, which can be written to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a number or a range",
    label = "elements at index tensors cannot be written to",
    note = "write with `index_put_`, `index_copy_` or `masked_fill_`"
)]
pub trait SubscriptView: Subscript {}

/// A range of indices, with or without a step.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a range", label = "expected a range")]
pub trait SubscriptRange: Subscript {}

/// A range that has no step yet.
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes no step",
    label = "expected a range without a step"
)]
pub trait Unstepped: SubscriptRange {}

macro_rules! numbers {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Subscript for $t {
            type Removed<D: Dims, X: Axis> = <D as DimList>::Remove<X>;
            type Placed<D: Dims, X: Axis> = D;
        }
        #[diagnostic::do_not_recommend]
        impl<D, X> SubscriptOf<D, X> for $t {}
        impl SubscriptView for $t {}
    )*};
}
numbers!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

macro_rules! ranges {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<I> Subscript for $t {
            type Removed<D: Dims, X: Axis> = D;
            type Placed<D: Dims, X: Axis> = D;
        }
        impl<I, D, X> SubscriptOf<D, X> for $t where SizeOf<X>: Resizable<X> {}
        impl<I> SubscriptView for $t {}
        #[diagnostic::do_not_recommend]
        impl<I> SubscriptRange for $t {}
        #[diagnostic::do_not_recommend]
        impl<I> Unstepped for $t {}
    )*};
}
ranges!(Range<I> RangeFrom<I> RangeTo<I> RangeInclusive<I> RangeToInclusive<I>);

#[diagnostic::do_not_recommend]
impl Subscript for RangeFull {
    type Removed<D: Dims, X: Axis> = D;
    type Placed<D: Dims, X: Axis> = D;
}
impl<D, X> SubscriptOf<D, X> for RangeFull {}
impl SubscriptView for RangeFull {}
#[diagnostic::do_not_recommend]
impl SubscriptRange for RangeFull {}
#[diagnostic::do_not_recommend]
impl Unstepped for RangeFull {}

#[diagnostic::do_not_recommend]
impl<R: Unstepped> Subscript for Step<R> {
    type Removed<D: Dims, X: Axis> = D;
    type Placed<D: Dims, X: Axis> = D;
}
impl<R: Unstepped, D, X> SubscriptOf<D, X> for Step<R> where SizeOf<X>: Resizable<X> {}
impl<R: Unstepped> SubscriptView for Step<R> {}
#[diagnostic::do_not_recommend]
impl<R: Unstepped> SubscriptRange for Step<R> {}

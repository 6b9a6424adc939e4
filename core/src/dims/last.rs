//! The result dims of methods whose last argument is a dim.

use super::axis::Axis;
use super::dims::Dims;
use super::place::Place;

/// Functions on dims, as associated types of a method's last argument.
///
/// While rustc checks a call, it infers that argument last. Functions on it are therefore computed
/// once, when everything is known. This is not part of [`Axis`], so that generic code can normalize
/// it.
#[doc(hidden)]
pub trait LastDim {
    /// `D` with `X` and this dim exchanged.
    type Swapped<D: Dims, X: Axis>: Dims;
    /// `D` with this dim in front.
    type Before<D: Dims>: Dims;
    /// `D` with this dim at the end.
    type Behind<D: Dims>: Dims;
    /// `D`. A bound on it waits until this dim is known, so that rustc's messages about `D` have no
    /// unknown types.
    type Delayed<D: Dims>: Dims;
}

impl<A: Axis> LastDim for A {
    type Swapped<D: Dims, X: Axis> =
        <D::Seek<A> as Place>::Set<D, A, <D::Seek<X> as Place>::Set<D, X, D, A>, X>;
    type Before<D: Dims> = D::After<(A,)>;
    type Behind<D: Dims> = D::Push<A>;
    type Delayed<D: Dims> = D;
}

//! Result dims of methods whose last argument is a dim.

use super::axis::Axis;
use super::dims::Dims;
use super::place::Place;

/// Functions of dims, asked of the last argument of the method that needs them.
///
/// While rustc checks a call, that argument is unknown longest: asked of it, nothing is computed
/// before everything is known, and nothing twice. This is no part of [`Axis`], so that generic
/// code sees through it.
#[doc(hidden)]
pub trait LastDim {
    /// `D` with `X` and this dim exchanged.
    type Swapped<D: Dims, X: Axis>: Dims;
    /// `D` with this dim in front.
    type Before<D: Dims>: Dims;
    /// `D` with this dim behind.
    type Behind<D: Dims>: Dims;
    /// `D`. A bound on it waits until this dim is known, so that what rustc says about a `D` it
    /// knows nothing of has no holes.
    type Given<D: Dims>: Dims;
}

impl<A: Axis> LastDim for A {
    type Swapped<D: Dims, X: Axis> =
        <D::Seek<A> as Place>::Set<D, A, <D::Seek<X> as Place>::Set<D, X, D, A>, X>;
    type Before<D: Dims> = D::After<(A,)>;
    type Behind<D: Dims> = D::Push<A>;
    type Given<D: Dims> = D;
}

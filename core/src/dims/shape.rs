//! Sizes as arguments: arrays, and dims with sizes.

use super::axis::{Axis, Dim, Of};
use super::dims::Dims;
use super::size::{DimSize, Fixed};

pub use crate::rule::Shape;

/// One dim with its size: `N.of(2)`, or a marker with a constant size alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim with a size",
    label = "expected a dim with a size, such as `N.of(2)`",
    note = "only a dim with a constant size needs none: `dims! {{ Rgb = 3 }}`"
)]
pub trait SizedDim {
    /// The dim.
    type Dim: Axis;
    /// Returns the size of the dim.
    fn size(&self) -> usize;
}
#[diagnostic::do_not_recommend]
impl<A: Dim> SizedDim for Of<A> {
    type Dim = A;
    fn size(&self) -> usize {
        self.size
    }
}
#[diagnostic::do_not_recommend]
impl<A: Dim> SizedDim for A
where
    A::Size: Constant,
{
    type Dim = A;
    fn size(&self) -> usize {
        <A::Size as Constant>::SIZE
    }
}

/// A constant size.
pub trait Constant: DimSize {
    /// The size.
    const SIZE: usize;
}
impl<const K: usize, N> Constant for Fixed<K, N>
where
    Self: DimSize,
{
    const SIZE: usize = K;
}

/// The size of a dim `A`, `Hidden.of(384)`, or of each of a tuple of dims `A`: `(Head.of(12), Feature.of(32))`. A dim
/// with a constant size is written alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the size of `{A}`",
    label = "expected the size of `{A}`, such as `N.of(2)`",
    note = "a tuple of dims takes a tuple of sizes: `(Head.of(12), Feature.of(32))`"
)]
pub trait SizesFor<A> {
    /// Returns the sizes, in order.
    fn sizes(&self) -> Shape;
}
#[diagnostic::do_not_recommend]
impl<X: Dim> SizesFor<X> for Of<X> {
    fn sizes(&self) -> Shape {
        Shape::from_slice(&[self.size])
    }
}
#[diagnostic::do_not_recommend]
impl<X: Dim> SizesFor<X> for X
where
    X::Size: Constant,
{
    fn sizes(&self) -> Shape {
        Shape::from_slice(&[<X::Size as Constant>::SIZE])
    }
}
macro_rules! sizes_for {
    ($($size:ident $dim:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($size: SizedDim<Dim = $dim>, $dim: Dim),*> SizesFor<($($dim,)*)> for ($($size,)*) {
            fn sizes(&self) -> Shape {
                Shape::from_slice(&[$(self.$at.size()),*])
            }
        }
    };
}
sizes_for!(S A 0);
sizes_for!(S A 0, T B 1);
sizes_for!(S A 0, T B 1, U C 2);
sizes_for!(S A 0, T B 1, U C 2, V D 3);

/// A tuple of dims with sizes, such as `(C.of(3), H.of(4), Rgb)`, or `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of dims with sizes",
    label = "expected dims with sizes, such as `(C.of(3), H.of(4))`"
)]
pub trait Sizes {
    /// The dims.
    type Dims: Dims;
    /// `D` with `X` replaced by these dims.
    type Unflattened<D: Dims, X: Axis>: Dims;
    /// `D`. A bound on it waits until the sizes are known.
    #[doc(hidden)]
    type Delayed<D: Dims>: Dims;
    /// Returns the sizes of the dims.
    fn sizes(&self) -> Shape;
}

/// A shape for dims `D`: an array with one size per dim, `[2, 3]`, or a tuple of dims with sizes, `(N.of(2), C.of(3))`,
/// from which `D` is inferred.
///
/// An array is a shape for any dtype `T`, which then comes from the tensor's type. A tuple is a shape for `f32`,
/// because often nothing else determines the dtype; for other dtypes, use `zeros_with::<f64>(..)` and similar
/// functions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape for dims {D}",
    label = "give one size for each dim of {D}",
    note = "for dims (N, C): `[2, 3]`, or `(N.of(2), C.of(3))`; to name the dims: `Tensor::<(N, C)>::zeros(..)`; a tuple gives `f32`, otherwise `zeros_with::<{T}>(..)`"
)]
pub trait ShapeFor<D, T = f32> {
    /// Returns the sizes, in order.
    fn sizes(&self) -> Shape;
}

// The shape of no tensor. Without a second impl, rustc would take an array for a shape of unknown dims, `(_, _)`, and
// report each of them.
#[diagnostic::do_not_recommend]
impl<T, const K: usize> ShapeFor<super::MoreThan8Dims, T> for [usize; K] {
    fn sizes(&self) -> Shape {
        Shape::from_slice(self)
    }
}

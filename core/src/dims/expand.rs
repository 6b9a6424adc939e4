//! Sizes to expand to: dims with sizes, or one size per dim.

use super::broadcast::ExpandInto;
use super::dims::Dims;
use super::shape::{Shape, ShapeFor, Sizes};

/// The argument of `x.expand(S)`: the dims of the result with sizes, `(N.of(3), C.of(2))`; or one
/// size per dim, `[3, 2]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which sizes to expand to",
    label = "expected dims with sizes, such as `(N.of(3), C.of(2))`, or one size for each dim"
)]
pub trait ExpandArg {
    /// The dims that `D` becomes.
    type Expanded<D: Dims>: Dims;
    /// Returns the sizes, in order.
    fn new_sizes(&self) -> Shape;
}

/// The dims of `x.expand(S)` for `x` of dims `D`.
pub type Expanded<D, S> = <S as ExpandArg>::Expanded<D>;

impl<S: Sizes> ExpandArg for S {
    type Expanded<D: Dims> = S::Dims;
    fn new_sizes(&self) -> Shape {
        self.sizes()
    }
}

#[diagnostic::do_not_recommend]
impl<const K: usize> ExpandArg for [usize; K] {
    type Expanded<D: Dims> = D;
    fn new_sizes(&self) -> Shape {
        Shape::from_slice(self)
    }
}

/// Dims `D` expand to these sizes.
#[diagnostic::on_unimplemented(
    message = "dims {D} do not expand to sizes `{Self}`",
    label = "expected one size for each dim of {D}, or dims with sizes"
)]
pub trait Expand<D>: ExpandArg {}
impl<D: Dims + ExpandInto<S::Dims>, S: Sizes> Expand<D> for S {}
#[diagnostic::do_not_recommend]
impl<D: Dims, const K: usize> Expand<D> for [usize; K] where Self: ShapeFor<D> {}

//! Arguments that select one dim, or all: `max`, `argmax`.

use core::ops::RangeFull;

use super::axes::{Axes, Keep};
use super::axis::Dim;

/// One dim, or `..` for all; either may be kept.
///
/// The maximum over one dim comes with its indices; over all dims it comes alone:
/// [`Found`](Self::Found).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not one dim",
    label = "expected a dim, or `..` for all",
    note = "for the value alone over several dims: `x.amax((N, C))`, `x.amin((N, C))`"
)]
pub trait OneOrAll: Axes {
    /// The result of an operator that finds values at indices: both, or the value alone for `..`.
    type Found<V, I>;
    /// Builds the result.
    fn found<V, I>(values: V, indices: impl FnOnce() -> I) -> Self::Found<V, I>;
}

#[diagnostic::do_not_recommend]
impl<X: Dim> OneOrAll for X {
    type Found<V, I> = (V, I);
    fn found<V, I>(values: V, indices: impl FnOnce() -> I) -> (V, I) {
        (values, indices())
    }
}

#[diagnostic::do_not_recommend]
impl OneOrAll for RangeFull {
    type Found<V, I> = V;
    fn found<V, I>(values: V, _: impl FnOnce() -> I) -> V {
        values
    }
}

#[diagnostic::do_not_recommend]
impl<A: OneOrAll> OneOrAll for Keep<A> {
    type Found<V, I> = A::Found<V, I>;
    fn found<V, I>(values: V, indices: impl FnOnce() -> I) -> A::Found<V, I> {
        A::found(values, indices)
    }
}

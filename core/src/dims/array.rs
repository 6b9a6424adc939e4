//! Nested arrays as tensors: `tensor!`, `from_array`.

use alloc::vec::Vec;

use super::shape::Shape;

/// A nested array that holds dims `D`: its depth is their number, and its lengths agree with their
/// constant sizes.
#[diagnostic::on_unimplemented(
    message = "this array does not hold dims {D}",
    label = "its nesting, or a length, is not that of dims {D}"
)]
pub trait ArrayFor<D> {
    /// The elements.
    type Item;
    /// Returns the elements in row-major order, and the size of each dim.
    fn into_parts(self) -> (Vec<Self::Item>, Shape);
}

//! Nested arrays as tensors: `tensor!`, `from_array`.

use alloc::vec::Vec;

use super::shape::Shape;

/// A nested array that holds dims `D`: its depth is their number, and its lengths agree with their
/// constant sizes.
#[diagnostic::on_unimplemented(
    message = "this array does not fit dims {D}",
    label = "wrong nesting or length for dims {D}"
)]
pub trait ArrayFor<D> {
    /// The elements.
    type Item;
    /// Returns the elements in row-major order, and the size of each dim.
    fn into_parts(self) -> (Vec<Self::Item>, Shape);
}

//! Where [`fuse!`](crate::fuse) arrives.

use nomina_core::dims::Dims;
use nomina_core::{Element, Scalar};
use nomina_runtime::call::Node;

use super::Tensor;
use crate::call::{Known, Look, done, fused};

/// What the body of `fuse!` knows a tensor as. A borrowed one is borrowed once more, and coerced.
#[doc(hidden)]
pub fn fuse_tensor<D: Dims, T: Element>(tensor: &Tensor<D, T>) -> &Tensor<D, T> {
    tensor
}

/// The tensor without its types.
#[doc(hidden)]
pub fn fuse_side<D: Dims, T: Element>(tensor: &Tensor<D, T>) -> Look<'_> {
    tensor.look()
}

/// The result of a program. `check` is the same expression of separate operators: rustc checks it
/// and takes the result's type from it; it is never called.
///
/// # Panics
/// As the separate operators.
#[doc(hidden)]
#[track_caller]
#[must_use]
pub fn fuse<D: Dims, T: Element>(
    program: &[Node<'_>],
    tensors: &[Look<'_>],
    numbers: &[Scalar],
    _check: impl FnOnce() -> Tensor<D, T>,
) -> Tensor<D, T> {
    Tensor::wrap(done(fused::new(
        program,
        tensors,
        numbers,
        T::DTYPE,
        D::STATIC,
    )))
}

//! Sizes and strides.

use nomina_core::{DType, Result, rule};
use smallvec::SmallVec;

/// Sizes of dims, outermost first. Up to [`rule::INLINE_DIMS`] need no allocation.
pub type Shape = rule::Shape;

/// Strides of dims in elements, outermost first. Up to [`rule::INLINE_DIMS`] need no allocation.
pub type Strides = SmallVec<[isize; rule::INLINE_DIMS]>;

pub use rule::{MAX_NUMEL, numel};

/// Returns the number of bytes of a tensor of this shape.
///
/// # Errors
/// The errors of [`numel`].
#[inline]
pub fn bytes(op: &'static str, shape: &[usize], dtype: DType) -> Result<usize> {
    // The product of a valid number of elements and an element size does not wrap.
    Ok(numel(op, shape)? * dtype.size())
}

/// Returns the product of sizes, which need not be those of one tensor, and of element sizes. It saturates at
/// [`usize::MAX`], which no tensor and no memory has. Allocating functions take the factors of a size and multiply them
/// with this, so that a product cannot wrap before it is refused.
#[must_use]
#[inline(always)]
pub(crate) fn product(factors: impl IntoIterator<Item = usize>) -> usize {
    let (mut product, mut empty) = (1_usize, false);
    for factor in factors {
        empty |= factor == 0;
        product = product.saturating_mul(factor);
    }
    if empty { 0 } else { product }
}

/// Returns the product of all or some sizes of one tensor, which never wraps.
#[must_use]
#[inline(always)]
pub(crate) fn count(sizes: &[usize]) -> usize {
    product(sizes.iter().copied())
}

/// Multiplies a stride by a number of elements, or by the bytes of an element. The strides of tensors are short enough
/// that this never saturates.
#[must_use]
#[inline(always)]
pub(crate) fn scaled_stride(stride: isize, by: usize) -> isize {
    stride.saturating_mul(by as isize)
}

/// Returns `len` default values; without a loop if there are few.
#[inline]
pub(crate) fn zeros<V: Copy + Default>(len: usize) -> SmallVec<[V; rule::INLINE_DIMS]> {
    if len <= rule::INLINE_DIMS {
        SmallVec::from_buf_and_len([V::default(); rule::INLINE_DIMS], len)
    } else {
        SmallVec::from_elem(V::default(), len)
    }
}

/// Returns the strides of a row-major tensor. A dim of size 0 counts as size 1, so that no stride is zero.
#[must_use]
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = zeros(shape.len());
    let mut stride = 1_isize;
    for (out, &size) in strides.iter_mut().zip(shape).rev() {
        *out = stride;
        // Does not wrap for sizes that a tensor may have.
        stride = stride.wrapping_mul(size.max(1) as isize);
    }
    strides
}

/// Returns the shape that operands broadcast to, from the right, where sizes are equal or 1.
///
/// # Errors
/// [`ErrorKind::Shape`](nomina_core::ErrorKind::Shape), with all operands' sizes, if two sizes differ and neither is 1.
pub fn broadcast(op: &'static str, shapes: &[&[usize]]) -> Result<Shape> {
    rule::broadcast_all(op, shapes.iter().copied())
}

#[cfg(test)]
mod tests {
    use nomina_core::ErrorKind;

    use super::*;

    #[test]
    fn products_do_not_wrap() {
        assert_eq!(product([2, 3, 4]), 24);
        assert_eq!(product([]), 1);
        assert_eq!((count(&[2, 5]), scaled_stride(-3, 8)), (10, -24));
        assert_eq!(product([1 << 40, 1 << 40]), usize::MAX);
        assert_eq!(product([1 << 40, 1 << 40, 0]), 0);
        assert_eq!(product([1 << 40, 0, 1 << 40]), 0);
    }

    #[test]
    fn strides_of_row_major() {
        assert_eq!(row_major(&[2, 3, 4]).as_slice(), [12, 4, 1]);
        assert_eq!(row_major(&[2, 0, 4]).as_slice(), [4, 4, 1]);
        assert!(row_major(&[]).is_empty());
    }

    #[test]
    fn broadcasts_from_the_right() {
        assert_eq!(
            broadcast("add", &[&[2, 1], &[3]]).unwrap().as_slice(),
            [2, 3]
        );
        assert_eq!(broadcast("add", &[&[0], &[1]]).unwrap().as_slice(), [0]);
        let error = broadcast("add", &[&[2, 4], &[3]]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        assert!(error.to_string().contains("(2, 4) and (3,)"), "{error}");
        assert!(broadcast("add", &[&[0], &[2]]).is_err());
    }
}

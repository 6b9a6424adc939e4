//! Sizes and strides.

use nomina_core::{Error, ErrorKind, Names, Result, rule};
use smallvec::SmallVec;

/// Sizes of dims, outermost first. Up to [`rule::INLINE_DIMS`] need no allocation.
pub type Shape = rule::Shape;

/// Strides of dims in elements, outermost first. Up to [`rule::INLINE_DIMS`] need no allocation.
pub type Strides = SmallVec<[isize; rule::INLINE_DIMS]>;

/// The number of elements of a tensor of this shape.
///
/// # Errors
/// [`ErrorKind::Shape`] when no element type could fit so many into the address space.
pub fn numel(op: &'static str, shape: &[usize]) -> Result<usize> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let count = shape
        .iter()
        .try_fold(1_usize, |count, &size| count.checked_mul(size));
    count
        .filter(|&count| isize::try_from(count).is_ok())
        .ok_or_else(|| too_large(op, shape))
}

/// The number of bytes of a tensor of this shape, for elements of `size` bytes.
///
/// # Errors
/// [`ErrorKind::Shape`] when the address space is too small.
pub fn bytes(op: &'static str, shape: &[usize], size: usize) -> Result<usize> {
    let bytes = numel(op, shape)?.checked_mul(size);
    bytes
        .filter(|&bytes| isize::try_from(bytes).is_ok())
        .ok_or_else(|| too_large(op, shape))
}

#[cold]
fn too_large(op: &'static str, shape: &[usize]) -> Error {
    Error::new(
        ErrorKind::Shape,
        op,
        "the product of the sizes overflows the address space",
    )
    .operand(&Names::default(), shape)
    .hint("use smaller sizes")
}

/// `len` zeros, or false: without the loop over them where they are few.
#[inline]
pub(crate) fn zeros<V: Copy + Default>(len: usize) -> SmallVec<[V; rule::INLINE_DIMS]> {
    if len <= rule::INLINE_DIMS {
        SmallVec::from_buf_and_len([V::default(); rule::INLINE_DIMS], len)
    } else {
        SmallVec::from_elem(V::default(), len)
    }
}

/// The strides of a row-major tensor. A dim of size 0 counts as size 1, so that no stride is zero.
#[must_use]
pub fn row_major(shape: &[usize]) -> Strides {
    let mut strides: Strides = zeros(shape.len());
    let mut stride = 1_isize;
    for (out, &size) in strides.iter_mut().zip(shape).rev() {
        *out = stride;
        // Only a shape with a zero in it can wrap, and nothing is addressed through it.
        stride = stride.wrapping_mul(size.max(1) as isize);
    }
    strides
}

/// The shape that operands broadcast to, from the right, where sizes are equal or 1.
///
/// # Errors
/// [`ErrorKind::Shape`], with all operands' sizes, when two sizes differ and neither is 1.
pub fn broadcast(op: &'static str, shapes: &[&[usize]]) -> Result<Shape> {
    rule::broadcast_all(op, shapes.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_checked() {
        assert_eq!(numel("zeros", &[2, 3]).unwrap(), 6);
        assert_eq!(numel("zeros", &[]).unwrap(), 1);
        assert_eq!(numel("zeros", &[usize::MAX, usize::MAX, 0]).unwrap(), 0);
        let error = numel("zeros", &[usize::MAX, 2]).unwrap_err();
        assert_eq!((error.kind(), error.op()), (ErrorKind::Shape, "zeros"));
        assert_eq!(bytes("zeros", &[1 << 60], 4).unwrap(), 1 << 62);
        assert_eq!(
            bytes("zeros", &[1 << 60], 8).unwrap_err().kind(),
            ErrorKind::Shape
        );
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

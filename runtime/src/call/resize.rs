//! New sizes for the same buffer.

use nomina_core::Result;
use nomina_core::op::Op;

use super::convert::copied;
use super::copy_into;
use crate::raw::Raw;
use crate::shape::{numel, row_major};
use crate::tape::record_no_derivative;

/// Returns the buffer from `x`'s first element on, row-major with other sizes. If they have more elements than the
/// buffer, it is copied into a longer one that ends in zeros. A tensor that has the sizes already keeps its strides.
///
/// # Errors
/// If the sizes overflow, or memory is missing.
pub fn resize(x: &Raw, shape: &[usize]) -> Result<Raw> {
    if x.shape() == shape {
        return Ok(x.clone());
    }
    record_no_derivative(Op::Resize, resized(&x.clone().detach(), shape)?, [x])
}

fn resized(x: &Raw, shape: &[usize]) -> Result<Raw> {
    let wanted = numel("resize", shape)?;
    let copy;
    let x = if x.strides().iter().any(|&stride| stride < 0) {
        // With gaps or other strides, the elements after the first are not the next ones in the buffer.
        copy = copied("resize", x, x.dtype(), row_major(x.shape()))?;
        &copy
    } else {
        x
    };
    let over = |shape: &[usize]| {
        x.as_strided(
            "resize",
            x.dtype(),
            shape.into(),
            row_major(shape),
            x.offset(),
        )
    };
    let there = x.room();
    if wanted <= there {
        return over(shape);
    }
    let mut longer = Raw::zeros("resize", shape, x.dtype(), x.device())?;
    copy_into(
        longer.as_mut()?.view(&[wanted])?.narrow(0, 0, there)?,
        &over(&[there])?,
    )?;
    Ok(longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(x: &Raw) -> Vec<i64> {
        x.to_vec().unwrap()
    }

    #[test]
    fn the_buffer_stays() {
        let x = Raw::from_vec(vec![1_i64, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
        let fewer = resize(&x, &[2, 2]).unwrap();
        assert_eq!(values(&fewer), [1, 2, 3, 4]);
        assert!(fewer.shares_storage(&x));
        assert_eq!(
            values(&resize(&x, &[2, 4]).unwrap()),
            [1, 2, 3, 4, 5, 6, 0, 0]
        );
        assert_eq!(values(&resize(&fewer, &[5]).unwrap()), [1, 2, 3, 4, 5]);
        assert_eq!(values(&resize(&x, &[0]).unwrap()), []);
        assert_eq!(values(&resize(&x, &[]).unwrap()), [1]);
        assert!(resize(&x, &[usize::MAX, 2]).is_err());
    }

    #[test]
    fn strides_stay_with_the_sizes_alone() {
        let x = Raw::from_vec(vec![1_i64, 2, 3, 4], &[2, 2]).unwrap();
        let t = x.transpose(0, 1).unwrap();
        assert_eq!(values(&resize(&t, &[2, 2]).unwrap()), [1, 3, 2, 4]);
        assert_eq!(values(&resize(&t, &[4]).unwrap()), [1, 2, 3, 4]);
        let row = x.select(0, 1).unwrap();
        assert_eq!(values(&resize(&row, &[3]).unwrap()), [3, 4, 0]);
    }
}

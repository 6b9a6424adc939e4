//! Conversion to and from `ndarray`, without a copy if the layout allows.

use ndarray::{Array, ArrayView, Dimension, IxDyn, ShapeBuilder};
use nomina_core::{Element, Error, ErrorKind, Names, Result};

use super::Raw;
use crate::shape::{Shape, Strides, row_major};

impl<T: Element, D: Dimension> TryFrom<Array<T, D>> for Raw {
    type Error = Error;

    /// Takes over the array's allocation, with its strides.
    fn try_from(array: Array<T, D>) -> Result<Self> {
        let shape = Shape::from_slice(array.shape());
        let strides: Strides = array.strides().into();
        let (data, first) = array.into_raw_vec_and_offset();
        let count = data.len();
        let flat = Self::from_vec(data, &[count])?;
        if shape.contains(&0) {
            return flat.as_strided("from_array", T::DTYPE, shape.clone(), row_major(&shape), 0);
        }
        flat.as_strided("from_array", T::DTYPE, shape, strides, first.unwrap_or(0))
    }
}

impl Raw {
    /// Returns the elements as an `ndarray` view of any strides.
    ///
    /// # Errors
    /// If the dtype differs, or the tensor is not on the host.
    pub fn as_ndarray<T: Element>(&self) -> Result<ArrayView<'_, T, IxDyn>> {
        self.check_host("as_ndarray")?;
        if self.dtype() != T::DTYPE {
            let what = format!("the elements are {}, not {}", self.dtype(), T::DTYPE);
            return Err(Error::new(ErrorKind::DType, "as_ndarray", what)
                .operand(&Names::default(), self.shape())
                .hint(format!("convert with `to` to {} first", T::DTYPE)));
        }
        let shape = IxDyn(self.shape());
        if self.numel() == 0 {
            // Nothing is addressed, so any non-null pointer will do.
            let nothing: &[T] = &[];
            return ArrayView::from_shape(shape, nothing)
                .map_err(|error| Error::new(ErrorKind::Shape, "as_ndarray", error.to_string()));
        }
        // ndarray creates arrays of positive strides, and then inverts axes.
        let mut layout = self.layout().clone();
        let mut turned = crate::SmallVec::<[usize; 8]>::new();
        for axis in 0..self.rank() {
            if layout.strides[axis] < 0 {
                layout = layout.flip(axis)?;
                turned.push(axis);
            }
        }
        let strides: Vec<usize> = layout
            .strides
            .iter()
            .map(|&stride| stride as usize)
            .collect();
        let first = self
            .storage
            .as_ptr()
            .cast::<T>()
            .wrapping_add(layout.offset);
        // SAFETY: shape and strides reach initialised elements of `T` in a buffer that lives, and
        // is not written to, as long as `self` is borrowed.
        let mut view = unsafe { ArrayView::from_shape_ptr(shape.strides(IxDyn(&strides)), first) };
        for axis in turned {
            view.invert_axis(ndarray::Axis(axis));
        }
        Ok(view)
    }

    /// Converts the elements to an `ndarray` array in row-major order; without a copy if they came
    /// from a vector that is not shared.
    ///
    /// # Errors
    /// If the dtype differs.
    pub fn into_ndarray<T: Element>(self) -> Result<Array<T, IxDyn>> {
        let shape = self.layout().shape.clone();
        let data = self.into_vec::<T>()?;
        Array::from_shape_vec(IxDyn(&shape), data)
            .map_err(|error| Error::new(ErrorKind::Shape, "into_ndarray", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, array, s};

    use super::*;

    #[test]
    fn arrays_come_in_without_a_copy() {
        let standard = array![[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
        let address = standard.as_ptr();
        let raw = Raw::try_from(standard.clone()).unwrap();
        assert_eq!(raw.to_vec::<f32>().unwrap(), [1., 2., 3., 4., 5., 6.]);
        let raw = Raw::try_from(standard).unwrap();
        assert_eq!(raw.as_ptr(), address.cast());
        let back = raw.into_ndarray::<f32>().unwrap();
        assert_eq!((back.as_ptr(), back.shape()), (address, &[2, 3][..]));

        // Any order and direction, and parts.
        let mut columns =
            Array2::from_shape_fn((4, 3), |(i, j)| (10 * i + j) as i32).reversed_axes();
        columns.invert_axis(Axis(0));
        let expected: Vec<i32> = columns.iter().copied().collect();
        assert_eq!(
            Raw::try_from(columns).unwrap().to_vec::<i32>().unwrap(),
            expected
        );
        let part = Array2::from_shape_fn((4, 3), |(i, j)| (10 * i + j) as i32);
        let part = part.slice_move(s![1..;2, ..2]);
        assert_eq!(
            Raw::try_from(part).unwrap().to_vec::<i32>().unwrap(),
            [10, 11, 30, 31]
        );
        let nothing = Raw::try_from(Array2::<bool>::default((0, 3))).unwrap();
        assert_eq!((nothing.shape(), nothing.numel()), (&[0, 3][..], 0));
    }

    #[test]
    fn tensors_are_seen_without_a_copy() {
        let raw = Raw::from_vec((0..24_i64).collect(), &[2, 3, 4]).unwrap();
        let views = [
            raw.permute(&[2, 0, 1]).unwrap(),
            raw.flip(1).unwrap().flip(2).unwrap(),
            raw.slice(2, 3, 2, -2).unwrap(),
            raw.select(1, 1).unwrap().expand(&[5, 2, 4]).unwrap(),
            raw.narrow(0, 1, 0).unwrap(),
        ];
        for view in views {
            let seen = view.as_ndarray::<i64>().unwrap();
            assert_eq!(seen.shape(), view.shape());
            assert!(seen.iter().copied().eq(view.iter::<i64>().unwrap()));
        }
        assert_eq!(
            raw.as_ndarray::<f32>().unwrap_err().kind(),
            ErrorKind::DType
        );
        let scalar = Raw::from_vec(vec![7_u8], &[]).unwrap();
        assert_eq!(scalar.as_ndarray::<u8>().unwrap()[[]], 7);
    }
}

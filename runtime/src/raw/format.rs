//! Orders of dims in memory, determined like in PyTorch.

use nomina_core::{Error, ErrorKind, MemoryFormat, Names, Result};

use super::{Raw, Strided};
use crate::SmallVec;
use crate::plan::dense_strides;
use crate::shape::{Strides, row_major};

/// Returns the strides of a new tensor in a format.
///
/// # Errors
/// [`ErrorKind::Rank`] if the format is for another number of dims, [`ErrorKind::Argument`] for
/// [`MemoryFormat::Preserve`]: a new tensor has no order to preserve.
pub fn strides_in(op: &'static str, shape: &[usize], format: MemoryFormat) -> Result<Strides> {
    let error = |kind, what| Error::new(kind, op, what).operand(&Names::default(), shape);
    let Some(order) = format.order() else {
        if format == MemoryFormat::Preserve {
            let what = "no order to preserve".to_owned();
            return Err(error(ErrorKind::Argument, what).hint("give a memory format"));
        }
        return Ok(row_major(shape));
    };
    if order.len() != shape.len() {
        let what = format!("{format} is for {} dims, not {}", order.len(), shape.len());
        return Err(error(ErrorKind::Rank, what).hint("use the contiguous memory format"));
    }
    let mut strides = Strides::from_elem(1, order.len());
    let mut stride = 1_isize;
    for &dim in order.iter().rev() {
        strides[dim] = stride;
        stride = stride.wrapping_mul(shape[dim] as isize);
    }
    Ok(strides)
}

impl Strided {
    /// Returns whether elements are in the order of a format without gaps; false for a format of
    /// another number of dims.
    #[must_use]
    pub fn is_in(&self, format: MemoryFormat) -> bool {
        let Some(order) = format.order() else {
            return self.is_contiguous();
        };
        let mut expected = 1_isize;
        order.len() == self.shape.len()
            && order.iter().rev().all(|&dim| {
                let size = self.shape[dim];
                let fits = size == 1 || self.strides[dim] == expected;
                expected = expected.wrapping_mul(size as isize);
                fits
            })
    }

    /// Returns whether elements have no gaps and none is reached twice, in any order.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        if self.is_contiguous() {
            return true;
        }
        let dims = self.shape.iter().zip(&self.strides);
        let mut dims: SmallVec<[(isize, usize); 8]> = dims
            .filter(|&(&size, _)| size > 1)
            .map(|(&size, &stride)| (stride, size))
            .collect();
        dims.sort_unstable();
        let mut expected = 1_isize;
        dims.into_iter().all(|(stride, size)| {
            let fits = stride == expected;
            expected = expected.wrapping_mul(size as isize);
            fits
        })
    }

    /// Returns the format implied by the strides: a channels-last one only if it is unambiguous.
    #[must_use]
    pub fn suggested_format(&self) -> MemoryFormat {
        let formats = [MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d];
        formats
            .into_iter()
            .find(|&format| self.is_like(format))
            .unwrap_or_default()
    }

    /// Returns whether strides grow in the order of a channels-last format. If sizes of 1 make the
    /// order ambiguous, it counts as row-major.
    fn is_like(&self, format: MemoryFormat) -> bool {
        let Some(order) = format
            .order()
            .filter(|order| order.len() == self.shape.len())
        else {
            return false;
        };
        let mut least = 0;
        self.strides[1] != 0
            && order.iter().rev().all(|&dim| {
                let (size, stride) = (self.shape[dim], self.strides[dim]);
                if size == 0 || stride < least || (dim == 0 && least == self.strides[1]) {
                    return false;
                }
                least = stride.wrapping_mul(size as isize);
                true
            })
    }
}

/// Returns the strides of a dense tensor, or of a dense copy that keeps the order of its dims.
pub(crate) fn preserved(x: &Raw) -> Strides {
    dense(x.layout())
}

/// Returns the strides of a dense layout, or of a dense copy that keeps the order of its dims.
pub(crate) fn dense(layout: &Strided) -> Strides {
    if layout.is_dense() {
        layout.strides().into()
    } else {
        dense_strides(layout.shape(), layout.strides())
    }
}

/// Returns the strides of a new tensor like `x`, in a format.
///
/// # Errors
/// If the format is for another number of dims.
pub fn strides_like(op: &'static str, x: &Raw, format: MemoryFormat) -> Result<Strides> {
    match format {
        MemoryFormat::Preserve => Ok(preserved(x)),
        format => strides_in(op, x.shape(), format),
    }
}

impl Raw {
    /// Changes the memory format of a new tensor: the elements are not moved, so their order
    /// changes.
    ///
    /// # Errors
    /// The errors of [`strides_in`], and if the tensor is not row-major from the start of its
    /// buffer.
    pub fn in_format(self, op: &'static str, format: MemoryFormat) -> Result<Self> {
        self.check_new(op, self.shape())?;
        let strides = strides_in(op, self.shape(), format)?;
        Ok(self.laid_out(strides))
    }

    /// Changes the memory format of a new tensor, possibly to that of `other`, which has the same
    /// shape.
    ///
    /// # Errors
    /// The errors of [`Raw::in_format`], and if the shapes differ.
    pub fn in_format_like(
        self,
        op: &'static str,
        other: &Self,
        format: MemoryFormat,
    ) -> Result<Self> {
        self.check_new(op, other.shape())?;
        let strides = strides_like(op, other, format)?;
        Ok(self.laid_out(strides))
    }

    /// Checks that the strides are those of a new tensor of this shape.
    fn check_new(&self, op: &'static str, shape: &[usize]) -> Result<()> {
        if self.layout.offset == 0 && self.is_contiguous() && self.shape() == shape {
            return Ok(());
        }
        let what = format!("only a new tensor of sizes {shape:?} can take the format");
        Err(Error::new(ErrorKind::Layout, op, what)
            .operand(&Names::default(), self.shape())
            .hint("copy it with `call::clone_in`"))
    }

    /// Reads the same buffer with other strides: for a new tensor, whose elements have no order
    /// yet, or are all equal.
    pub(crate) fn laid_out(mut self, strides: Strides) -> Self {
        debug_assert!(self.layout.offset == 0 && self.is_contiguous());
        self.layout.strides = strides;
        debug_assert!(self.layout.is_dense(), "{:?}", self.layout);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryFormat::{ChannelsLast, ChannelsLast3d, Contiguous, Preserve};

    fn strided(shape: &[usize], strides: &[isize]) -> Strided {
        Strided {
            shape: shape.into(),
            strides: strides.into(),
            offset: 0,
        }
    }

    #[test]
    fn strides_of_formats() {
        let strides = |shape: &[usize], format| strides_in("zeros", shape, format);
        assert_eq!(
            strides(&[2, 3, 4, 5], ChannelsLast).unwrap()[..],
            [60, 1, 15, 3]
        );
        let volume = strides(&[2, 3, 4, 5, 6], ChannelsLast3d).unwrap();
        assert_eq!(volume[..], [360, 1, 90, 18, 3]);
        assert_eq!(
            strides(&[2, 3, 0, 2], ChannelsLast).unwrap()[..],
            [0, 1, 6, 3]
        );
        assert_eq!(strides(&[2, 3], Contiguous).unwrap()[..], [3, 1]);
        assert_eq!(
            strides(&[2, 3], ChannelsLast).unwrap_err().kind(),
            ErrorKind::Rank
        );
        assert_eq!(
            strides(&[2, 3], Preserve).unwrap_err().kind(),
            ErrorKind::Argument
        );
    }

    #[test]
    fn layouts_know_their_format() {
        let last = strided(&[2, 3, 4, 5], &[60, 1, 15, 3]);
        assert!(last.is_in(ChannelsLast) && last.is_dense() && !last.is_contiguous());
        assert_eq!(last.suggested_format(), ChannelsLast);
        // One channel is in both orders, and counts as row-major.
        let one = strided(&[2, 1, 4, 4], &[16, 16, 4, 1]);
        assert!(one.is_in(ChannelsLast) && one.is_contiguous());
        assert_eq!(one.suggested_format(), Contiguous);
        let pixels = strided(&[2, 1, 1, 1], &[1, 1, 1, 1]);
        assert_eq!(pixels.suggested_format(), Contiguous);
        let gaps = strided(&[2, 3], &[6, 2]);
        assert!(!gaps.is_dense() && !gaps.is_in(ChannelsLast));
        assert!(strided(&[2, 3], &[1, 2]).is_dense());
        assert!(!strided(&[2, 3], &[0, 1]).is_dense());
    }
}

//! The layout of a tensor's elements in its buffer.

mod views;

use nomina_core::{Error, ErrorKind, Names, Result};

use crate::shape::{MAX_NUMEL, Shape, Strides, numel, row_major};

/// Sizes, strides in elements, and the position of the first element.
///
/// Invariants: [`numel`] allows the sizes; no stride is longer than [`MAX_NUMEL`]; every index within the shape is
/// inside the tensor's buffer. Views preserve the last one, because each of them reaches a subset of the elements that
/// its base reaches.
#[derive(Debug, PartialEq, Eq)]
pub struct Strided {
    pub(super) shape: Shape,
    pub(super) strides: Strides,
    pub(super) offset: usize,
}

impl Clone for Strided {
    #[inline]
    fn clone(&self) -> Self {
        self.beginning_at(self.offset)
    }
}

impl Strided {
    /// Returns the row-major layout from the start of a buffer, for sizes that [`numel`] allowed.
    #[must_use]
    #[inline]
    pub(crate) fn row_major(shape: &[usize]) -> Self {
        Self {
            shape: shape.into(),
            strides: row_major(shape),
            offset: 0,
        }
    }

    /// Creates a layout of any sizes and strides; checks everything except that it stays within the buffer.
    pub(super) fn new(
        op: &'static str,
        shape: Shape,
        mut strides: Strides,
        offset: usize,
    ) -> Result<Self> {
        numel(op, &shape)?;
        strides.iter_mut().for_each(limit);
        Ok(Self {
            shape,
            strides,
            offset,
        })
    }

    /// Creates the layout of a new tensor with these strides, from the start of its buffer.
    pub(crate) fn with_strides(shape: Shape, strides: Strides) -> Self {
        debug_assert_eq!(shape.len(), strides.len());
        Self {
            shape,
            strides,
            offset: 0,
        }
    }

    /// Returns the sizes, outermost first.
    #[must_use]
    #[inline(always)]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the strides in elements, outermost first; negative after a flip, zero after an expansion.
    #[must_use]
    #[inline(always)]
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Returns the position of the first element, in elements.
    #[must_use]
    #[inline(always)]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns whether sizes or strides own an allocation.
    #[inline(always)]
    pub(crate) fn is_spilled(&self) -> bool {
        self.shape.spilled() || self.strides.spilled()
    }

    /// Returns the same sizes and strides from the start of a buffer.
    #[inline(always)]
    pub(super) fn at_start(&self) -> Self {
        self.beginning_at(0)
    }

    #[inline(always)]
    fn beginning_at(&self, offset: usize) -> Self {
        if self.is_spilled() {
            return self.spilled_at(offset);
        }
        // SAFETY: checked above.
        unsafe { self.copied_at(offset) }
    }

    /// Copies both lists bitwise, where a clone would copy number by number.
    ///
    /// # Safety
    /// It is not [spilled](Self::is_spilled).
    #[inline(always)]
    pub(super) unsafe fn copied_at(&self, offset: usize) -> Self {
        // SAFETY: lists that own no allocation are plain numbers, which may be copied bitwise.
        let (shape, strides) =
            unsafe { (std::ptr::read(&self.shape), std::ptr::read(&self.strides)) };
        Self {
            shape,
            strides,
            offset,
        }
    }

    #[cold]
    fn spilled_at(&self, offset: usize) -> Self {
        Self {
            shape: Shape::from_slice(&self.shape),
            strides: Strides::from_slice(&self.strides),
            offset,
        }
    }

    /// Returns the smallest and the largest position of an element; `None` if there are no elements.
    pub(super) fn reach(&self) -> Option<(isize, isize)> {
        let start = isize::try_from(self.offset).unwrap_or(isize::MAX);
        let mut reach = (start, start);
        for (&size, &stride) in self.shape.iter().zip(&self.strides) {
            let last = isize::try_from(size.checked_sub(1)?).unwrap_or(isize::MAX);
            let far = stride.saturating_mul(last);
            reach.0 = reach.0.saturating_add(far.min(0));
            reach.1 = reach.1.saturating_add(far.max(0));
        }
        Some(reach)
    }

    /// Returns the number of elements. It was checked when the tensor was created.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns whether elements are in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1_isize;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            match size {
                0 => return true,
                1 => {}
                _ if stride != expected => return self.shape.contains(&0),
                _ => expected *= size as isize,
            }
        }
        true
    }

    /// Returns whether the strides are those of a new row-major tensor, including dims of size 1.
    #[must_use]
    #[inline]
    pub fn is_row_major(&self) -> bool {
        let mut expected = 1_isize;
        let dims = self.shape.iter().zip(&self.strides).rev();
        dims.into_iter().all(|(&size, &stride)| {
            let fits = stride == expected;
            expected = expected.wrapping_mul(size.max(1) as isize);
            fits
        })
    }

    /// Returns the number of elements if the layout is row-major without gaps, including dims of size 1; `None` for
    /// other layouts, and if there are no elements.
    #[must_use]
    #[inline]
    pub(crate) fn dense_count(&self) -> Option<usize> {
        let mut count = 1_usize;
        for (&size, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if stride != count as isize || size == 0 {
                return None;
            }
            count = count.wrapping_mul(size);
        }
        Some(count)
    }

    /// Returns [`dense_count`](Self::dense_count) if both layouts have the same sizes and strides; offsets may differ.
    #[must_use]
    #[inline]
    pub(crate) fn dense_alike(&self, other: &Self) -> Option<usize> {
        let (shape, strides) = (&self.shape[..], &self.strides[..]);
        let (sizes, steps) = (&other.shape[..], &other.strides[..]);
        let rank = shape.len();
        if sizes.len() != rank || strides.len() != rank || steps.len() != rank {
            return None;
        }
        let mut count = 1_usize;
        for i in (0..rank).rev() {
            let (size, step) = (shape[i], count as isize);
            if size != sizes[i] || size == 0 || strides[i] != step || steps[i] != step {
                return None;
            }
            count = count.wrapping_mul(size);
        }
        Some(count)
    }

    /// Returns whether different indices are known to be different elements.
    #[must_use]
    pub fn is_disjoint(&self) -> bool {
        if self.is_row_major() || self.shape.contains(&0) {
            return true;
        }
        let dims = self
            .shape
            .iter()
            .zip(&self.strides)
            .filter(|&(&size, _)| size > 1);
        let mut dims: crate::SmallVec<[(usize, usize); 8]> = dims
            .map(|(&size, &stride)| (stride.unsigned_abs(), size))
            .collect();
        dims.sort_unstable();
        let mut reach = 0;
        dims.into_iter().all(|(stride, size)| {
            let disjoint = stride > reach;
            reach += stride * (size - 1);
            disjoint
        })
    }

    /// Returns the position of an element in the buffer; `None` if out of range or of another rank.
    #[must_use]
    pub fn position(&self, index: &[usize]) -> Option<usize> {
        if index.len() != self.shape.len() {
            return None;
        }
        let mut position = self.offset as isize;
        for ((&i, &size), &stride) in index.iter().zip(&self.shape).zip(&self.strides) {
            if i >= size {
                return None;
            }
            position += i as isize * stride;
        }
        Some(position as usize)
    }

    fn check_dim(&self, op: &'static str, dim: usize) -> Result<()> {
        if dim < self.shape.len() {
            return Ok(());
        }
        let what = format!("dim {dim} of a tensor with {} dims", self.shape.len());
        Err(self
            .error(ErrorKind::Index, op, what)
            .hint("count dims from 0"))
    }

    fn error(&self, kind: ErrorKind, op: &'static str, what: impl Into<String>) -> Error {
        Error::new(kind, op, what).operand(&Names::default(), &self.shape)
    }
}

/// Clamps a stride to the allowed range. A longer one belongs to a dim of one element, or to a tensor without elements,
/// and is never used.
fn limit(stride: &mut isize) {
    const MOST: isize = MAX_NUMEL as isize;
    *stride = (*stride).clamp(-MOST, MOST);
}

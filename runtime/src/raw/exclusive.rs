//! Exclusive access to the elements of a tensor, or to a part of them.

use crate::Device;
use nomina_core::{DType, Element};

use super::{Raw, Strided};
use crate::storage::Storage;

/// A region that can be written to: nothing else shares its buffer while this lives, and no two
/// indices are the same element.
#[derive(Debug)]
pub struct RawMut<'a> {
    pub(super) storage: &'a mut Storage,
    pub(super) layout: Strided,
    dtype: DType,
    /// The first byte of the buffer.
    base: *mut u8,
}

// SAFETY: `base` points into `storage`, which is borrowed exclusively.
unsafe impl Send for RawMut<'_> {}
// SAFETY: through a shared reference nothing is written.
unsafe impl Sync for RawMut<'_> {}

impl Raw {
    /// Exclusive access to all elements; `None` where the buffer is shared, or two indices are one element.
    pub(crate) fn exclusive(&mut self) -> Option<RawMut<'_>> {
        if !self.layout.is_disjoint() {
            return None;
        }
        let base = self.storage.unique_ptr()?;
        let (layout, dtype) = (self.layout.clone(), self.dtype);
        Some(RawMut {
            storage: &mut self.storage,
            layout,
            dtype,
            base,
        })
    }
}

impl<'a> RawMut<'a> {
    /// Sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.layout.shape
    }

    /// Strides in elements, outermost first.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        &self.layout.strides
    }

    /// Sizes, strides and offset.
    #[must_use]
    pub fn layout(&self) -> &Strided {
        &self.layout
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.layout.shape.len()
    }

    /// The number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.layout.numel()
    }

    /// The dtype.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.storage.device()
    }

    /// The address of the first element, on the tensor's device.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        // Within the buffer, or at its end when there are no elements.
        self.base
            .wrapping_add(self.layout.offset * self.dtype.size())
    }

    /// The same access for a shorter time.
    #[must_use]
    pub fn reborrow(&mut self) -> RawMut<'_> {
        RawMut {
            storage: self.storage,
            layout: self.layout.clone(),
            dtype: self.dtype,
            base: self.base,
        }
    }

    /// The elements as a slice, when they are `T`, on the host, and contiguous.
    #[must_use]
    pub fn into_slice<T: Element>(mut self) -> Option<&'a mut [T]> {
        if self.dtype != T::DTYPE || !self.device().is_cpu() || !self.layout.is_contiguous() {
            return None;
        }
        let (first, count) = (self.as_mut_ptr().cast(), self.numel());
        // SAFETY: contiguous, initialised elements of `T`, borrowed exclusively for `'a`.
        Some(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    /// The address of the element at an index; `None` where there is no such index.
    pub(crate) fn at(&mut self, index: &[usize]) -> Option<*mut u8> {
        let position = self.layout.position(index)?;
        Some(self.base.wrapping_add(position * self.dtype.size()))
    }

    /// The same region under another layout.
    pub(super) fn with_layout(self, layout: Strided) -> Self {
        Self { layout, ..self }
    }
}

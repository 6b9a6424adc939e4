//! Operands of the library, which are contiguous: others are copied.

use nomina_core::{DType, Result};

use super::super::context::Cuda;
use super::graph::ALIGNMENT;
use super::query::{ConvSizes, strides};
use crate::job::{Backend, Place};
use crate::plan::Plan;
use crate::storage::DeviceBuffer;

/// An operand of the library.
#[derive(Clone, Copy)]
pub(super) struct LibraryOperand {
    pub(super) at: *const u8,
    pub(super) sizes: ConvSizes,
    pub(super) strides: [isize; 5],
}

impl LibraryOperand {
    /// Returns an operand that is contiguous.
    pub(super) fn contiguous(at: *const u8, sizes: ConvSizes, last: bool) -> Self {
        let strides = strides(sizes, last);
        Self { at, sizes, strides }
    }

    /// Returns whether it is contiguous, at an address that the library accepts.
    fn is_packed(&self, last: bool) -> bool {
        let want = strides(self.sizes, last);
        let each = self.sizes.iter().zip(self.strides.iter().zip(&want));
        let same = each
            .into_iter()
            .all(|(&size, (have, want))| size == 1 || have == want);
        same && self.at.addr().is_multiple_of(ALIGNMENT)
    }

    /// Returns the address of the contiguous operand: its own, or that of a copy, which is put into `kept`.
    ///
    /// # Safety
    /// Elements of the dtype are at its address and strides, on this device.
    pub(super) unsafe fn packed(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        dtype: DType,
        last: bool,
        kept: &mut Option<DeviceBuffer>,
    ) -> Result<*const u8> {
        if self.is_packed(last) {
            return Ok(self.at);
        }
        let block = cuda.scratch(op, [crate::shape::bytes(op, &self.sizes, dtype)?])?;
        let to = strides(self.sizes, last);
        let size = dtype.size();
        let plan = Plan::new(&self.sizes, &[(&to[..], size), (&self.strides[..], size)]);
        let place = |ptr| Place { ptr, dtype };
        // SAFETY: the caller's promise; the block has the length of the copy.
        unsafe {
            Backend::copy(
                cuda,
                &plan,
                place(block.as_ptr()),
                place(self.at.cast_mut()),
            )?
        };
        Ok(kept.insert(block).as_ptr())
    }
}

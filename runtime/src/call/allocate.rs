//! New tensors on a device.

use nomina_core::{DType, Result};

use super::backend::allocate;
use super::contiguous;
use crate::Device;
use crate::raw::{Raw, check_count, not_viewed};
use crate::shape::{Strides, bytes};

impl Raw {
    /// Returns a row-major tensor of indeterminate elements. The caller writes all of them before it returns the
    /// tensor.
    pub(crate) fn empty(
        op: &'static str,
        shape: &[usize],
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        let storage = allocate(op, device, bytes(op, shape, dtype)?, false)?;
        Ok(Self::row_major(storage, shape, dtype))
    }

    /// Returns a row-major tensor whose bytes are zero, which is zero or false in every dtype.
    ///
    /// # Errors
    /// If memory or the device is missing, or the sizes overflow.
    pub fn zeros(op: &'static str, shape: &[usize], dtype: DType, device: Device) -> Result<Self> {
        let storage = allocate(op, device, bytes(op, shape, dtype)?, true)?;
        Ok(Self::row_major(storage, shape, dtype))
    }

    /// Returns a tensor of indeterminate elements, in a dim order without gaps. The caller writes all of them before it
    /// returns the tensor.
    pub(crate) fn empty_strided(
        op: &'static str,
        shape: &[usize],
        strides: Strides,
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        Ok(Self::empty(op, shape, dtype, device)?.laid_out(strides))
    }

    /// Returns the same elements in row-major order with other sizes; a view if strides allow it.
    ///
    /// # Errors
    /// If the number of elements changes, or memory for a copy is missing.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        check_count("reshape", self.layout(), shape)?;
        if let Some(view) = self.view(shape)? {
            return Ok(view);
        }
        let copy = contiguous(self)?;
        copy.view(shape)?
            .ok_or_else(|| not_viewed("reshape", copy.layout(), shape))
    }
}

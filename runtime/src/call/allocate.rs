//! New tensors on a device.

use nomina_core::{DType, Result};

use super::backend::allocate;
use super::contiguous;
use crate::Device;
use crate::raw::{Raw, check_count, not_viewed};
use crate::shape::{Strides, bytes};

impl Raw {
    /// A row-major tensor whose elements are indeterminate: the caller writes all of them before
    /// it hands the tensor on.
    pub(crate) fn empty(
        op: &'static str,
        shape: &[usize],
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        let storage = allocate(op, device, bytes(op, shape, dtype)?, false)?;
        Ok(Self::row_major(storage, shape, dtype))
    }

    /// A row-major tensor whose bytes are zero, which is zero, or false, in every dtype.
    ///
    /// # Errors
    /// When memory or the device is missing, or the sizes overflow.
    pub fn zeros(op: &'static str, shape: &[usize], dtype: DType, device: Device) -> Result<Self> {
        let storage = allocate(op, device, bytes(op, shape, dtype)?, true)?;
        Ok(Self::row_major(storage, shape, dtype))
    }

    /// A tensor whose elements are indeterminate, in an order of dims that leaves no gaps: the caller
    /// writes all of them before it hands the tensor on.
    pub(crate) fn empty_strided(
        op: &'static str,
        shape: &[usize],
        strides: Strides,
        dtype: DType,
        device: Device,
    ) -> Result<Self> {
        Ok(Self::empty(op, shape, dtype, device)?.laid_out(strides))
    }

    /// The same elements in row-major order under other sizes; a view where strides allow.
    ///
    /// # Errors
    /// When the number of elements changes, or memory for a copy is missing.
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

//! Calls that start several kernels of one module, and constants that these kernels share.

use std::ffi::CStr;

use nomina_core::Result;

use super::context::Cuda;
use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::source::{Source, always_wide};
use crate::shape::product;
use crate::storage::DeviceBuffer;

/// The threads of most blocks.
pub(super) const THREADS: u32 = 256;

/// The loads that a thread has in flight at once, because a single one would not keep memory busy: `AHEAD` of
/// `gather.cu` and `count.cu`.
pub(super) const AHEAD: usize = 4;

/// A call that starts kernels of one module, one after the other.
pub(super) struct ModuleCall {
    pub(super) cuda: &'static Cuda,
    pub(super) op: &'static str,
    source: Source,
    /// Whether positions have 64 bits.
    wide: bool,
}

impl ModuleCall {
    /// A call on `elements` elements, which decide the width of positions.
    pub(super) fn new(
        cuda: &Cuda,
        op: &'static str,
        source: Source,
        elements: usize,
    ) -> Result<Self> {
        let wide = elements >= WIDE || always_wide();
        Ok(Self {
            cuda: cuda.forever(op)?,
            op,
            source: source.index(wide),
            wide,
        })
    }

    /// Returns the bytes of a position.
    pub(super) fn position(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// Allocates a workspace of the product of the factors in bytes.
    pub(super) fn scratch<const N: usize>(&self, factors: [usize; N]) -> Result<DeviceBuffer> {
        self.cuda.scratch(self.op, factors)
    }

    /// Like [`Self::scratch`], but all zero.
    pub(super) fn zeros<const N: usize>(&self, factors: [usize; N]) -> Result<DeviceBuffer> {
        let buffer = self.scratch(factors)?;
        let bytes = product(factors);
        if bytes > 0 {
            // SAFETY: the block was just allocated with this length.
            unsafe { self.cuda.clear(self.op, buffer.as_ptr(), bytes)? };
        }
        Ok(buffer)
    }

    /// Starts a kernel with a thread for each of `count` items.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
    pub(super) unsafe fn each<A: Argument>(
        &self,
        entry: &'static CStr,
        count: usize,
        args: &A,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.start(entry, Grid::linear(count, THREADS), args) }
    }

    /// Starts a kernel with a block for each of `count` items.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
    pub(super) unsafe fn blocks<A: Argument>(
        &self,
        entry: &'static CStr,
        count: usize,
        args: &A,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.start(entry, Grid::blocks(count, THREADS), args) }
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
    pub(super) unsafe fn start<A: Argument>(
        &self,
        entry: &'static CStr,
        grid: Grid,
        args: &A,
    ) -> Result<()> {
        let function = self.cuda.function(self.op, self.source.clone(), entry)?;
        // SAFETY: the caller's promise.
        unsafe { self.cuda.launch(self.op, function, grid, args) }
    }
}

/// Returns the unsigned type of elements of `bytes` bytes, for kernels that only move elements.
pub(super) fn bits(bytes: usize) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "u64",
        _ => "c128",
    }
}

//! What classes of several kernels share: one module at work for one call.

use std::ffi::CStr;

use nomina_core::Result;

use super::context::Cuda;
use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::source::{Source, always_wide};
use crate::shape::product;
use crate::storage::DeviceBuffer;

/// Threads of most blocks.
pub(super) const THREADS: u32 = 256;

/// Elements that a thread has under way at once where one alone would not keep memory busy: `AHEAD` of
/// `gather.cu` and `count.cu`.
pub(super) const AHEAD: usize = 4;

/// A module whose kernels a call starts one after the other.
pub(super) struct Work {
    pub(super) cuda: &'static Cuda,
    pub(super) op: &'static str,
    source: Source,
    /// Whether positions are counted in 64 bits.
    wide: bool,
}

impl Work {
    /// For work on so many elements.
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

    /// The bytes of a position.
    pub(super) fn position(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// As many bytes for this call as the factors multiply to.
    pub(super) fn scratch<const N: usize>(&self, factors: [usize; N]) -> Result<DeviceBuffer> {
        self.cuda.scratch(self.op, factors)
    }

    /// The same, all zero.
    pub(super) fn zeros<const N: usize>(&self, factors: [usize; N]) -> Result<DeviceBuffer> {
        let buffer = self.scratch(factors)?;
        let bytes = product(factors);
        if bytes > 0 {
            // SAFETY: a block of that length, made just now.
            unsafe { self.cuda.clear(self.op, buffer.as_ptr(), bytes)? };
        }
        Ok(buffer)
    }

    /// Starts a kernel with a thread for each of `count` pieces of work.
    ///
    /// # Safety
    /// As [`Cuda::launch`].
    pub(super) unsafe fn each<A: Argument>(
        &self,
        entry: &'static CStr,
        count: usize,
        args: &A,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.start(entry, Grid::linear(count, THREADS), args) }
    }

    /// Starts a kernel with a block for each of `count` pieces of work.
    ///
    /// # Safety
    /// As [`Cuda::launch`].
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
    /// As [`Cuda::launch`].
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

/// The type whose bits are an element of so many bytes.
pub(super) fn bits(bytes: usize) -> &'static str {
    match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "u64",
        _ => "c128",
    }
}

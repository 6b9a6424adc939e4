//! Device memory, allocated and freed in the order of the stream: later work uses freed blocks again without waiting
//! for the device.

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};
use nomina_core::Result;

use super::context::Cuda;
use super::failure::{failed, out_of_memory};
use super::per_device::lock;
use super::properties::Stats;
use crate::Device;
use crate::shape::product;
use crate::storage::{DeviceBuffer, Release, Storage};

/// The address of buffers without elements: aligned like all others, and in no block.
const NOWHERE: usize = 512;

/// Blocks are a multiple of this: kernels write whole words.
const WORD: usize = 16;

impl Release for Cuda {
    fn release(&self, address: usize) {
        // Bind before the block leaves the table: a region that is captured meanwhile may use it.
        let bound = self.bind("drop");
        lock(&self.live).remove(address);
        if bound.is_err() || self.leave_to_region(address) || self.held.keeps(address) {
            return;
        }
        // SAFETY: the block has no owner any more.
        unsafe { self.free(address) };
    }

    fn is_lent(&self, address: usize) -> bool {
        self.held.is_lent(address)
    }
}

impl Cuda {
    /// Frees a block.
    ///
    /// # Safety
    /// The block was allocated here and has no owner, the device's context is bound, and all work that uses the block
    /// was started before.
    pub(super) unsafe fn free(&self, address: usize) {
        // No caller could handle an error. After one that ends the context its memory is gone as well.
        // SAFETY: the caller's promise. That work is on the same stream or, without a pool, the driver waits for it.
        let _ = unsafe {
            match self.pool {
                Some(_) => result::free_async(address as u64, self.stream),
                None => result::free_sync(address as u64),
            }
        };
    }

    /// Allocates a workspace of the product of the factors in bytes. It is freed after all work that was started before
    /// it is dropped.
    pub(crate) fn scratch<const N: usize>(
        &'static self,
        op: &'static str,
        factors: [usize; N],
    ) -> Result<DeviceBuffer> {
        self.block(op, product(factors))
    }

    /// Allocates the buffer of a tensor, uninitialised or all zero.
    pub(crate) fn allocate(
        &'static self,
        op: &'static str,
        bytes: usize,
        zeroed: bool,
    ) -> Result<Storage> {
        let buffer = self.block(op, bytes)?;
        if zeroed && bytes != 0 {
            // SAFETY: the block was just allocated with this length.
            unsafe { self.clear(op, buffer.as_ptr(), bytes)? };
        }
        Storage::on_device(op, buffer)
    }

    /// Writes zeros.
    ///
    /// # Safety
    /// `bytes` bytes at `at` belong to a tensor or a workspace on this device.
    pub(crate) unsafe fn clear(&self, op: &'static str, at: *mut u8, bytes: usize) -> Result<()> {
        let _bound = self.bind(op)?;
        // SAFETY: the caller's promise.
        unsafe { result::memset_d8_async(at as u64, 0, bytes, self.stream) }
            .map_err(|error| failed(op, "writing zeros", error))
    }

    fn block(&'static self, op: &'static str, bytes: usize) -> Result<DeviceBuffer> {
        if bytes == 0 {
            return Ok(DeviceBuffer::new(
                Device::from(self.ordinal),
                self,
                NOWHERE,
                0,
            ));
        }
        if bytes > isize::MAX as usize {
            return Err(out_of_memory(op, bytes));
        }
        let _bound = self.bind(op)?;
        // Whole words: kernels write elements of 8 and 16 bits together with their neighbours.
        let room = bytes.next_multiple_of(WORD);
        let address = match self.reserve_in_region(room) {
            Some(reserved) => reserved,
            None => match self.reserve(room) {
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                    // Freed memory may be fragmented, or not freed yet.
                    self.wait(op)?;
                    self.trim(op)?;
                    self.reserve(room)
                }
                other => other,
            },
        };
        let address = address.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory(op, bytes),
            _ => failed(op, "asking for memory", error),
        })? as usize;
        lock(&self.live).insert(address, bytes);
        Ok(DeviceBuffer::new(
            Device::from(self.ordinal),
            self,
            address,
            bytes,
        ))
    }

    fn reserve(&self, bytes: usize) -> Result<sys::CUdeviceptr, DriverError> {
        match self.pool {
            // SAFETY: the device's context is bound, and its stream is never destroyed. The block is written before it
            // is read.
            Some(_) => unsafe { result::malloc_async(self.stream, bytes) },
            // SAFETY: as above.
            None => unsafe { result::malloc_sync(bytes) },
        }
    }

    /// Allocates a block of the region that the calling thread captures; `None` if it captures none.
    fn reserve_in_region(&self, room: usize) -> Option<Result<u64, DriverError>> {
        self.in_region(|region| region.reserve(self.pool.is_some(), room))
    }

    /// Gives a block without owner to the region that the calling thread captures; returns false if it captures none.
    fn leave_to_region(&self, address: usize) -> bool {
        self.in_region(|region| region.take_over(address)).is_some()
    }

    /// Returns the block in use that contains an address: its first byte and its length.
    pub(crate) fn find(&self, ptr: *const u8) -> Option<(*mut u8, usize)> {
        let (first, len) = lock(&self.live).find(ptr as usize)?;
        Some((first as *mut u8, len))
    }

    /// Returns the memory that this process uses.
    pub(super) fn stats(&self, op: &'static str) -> Result<Stats> {
        let held = match self.pool {
            Some(pool) => {
                let _bound = self.bind(op)?;
                let mut bytes = 0_u64;
                let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
                // SAFETY: the pool belongs to the device, and the attribute is a 64-bit number.
                unsafe { result::mem_pool::get_attribute(pool, which, (&raw mut bytes).cast()) }
                    .map_err(|error| failed(op, "asking how much memory is held", error))?;
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
            None => 0,
        };
        let live = lock(&self.live);
        Ok(Stats {
            in_use: live.in_use(),
            held: held.max(live.in_use()),
            peak: live.peak(),
        })
    }

    /// Returns unused memory of the pool to the device.
    pub(super) fn trim(&self, op: &'static str) -> Result<()> {
        let Some(pool) = self.pool else {
            return Ok(());
        };
        let _bound = self.bind(op)?;
        // SAFETY: the pool belongs to the device.
        unsafe { result::mem_pool::trim_to(pool, 0) }
            .map_err(|error| failed(op, "giving memory back", error))
    }
}

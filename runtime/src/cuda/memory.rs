//! Device memory, in the order of the stream: what is freed is used again by what comes after, without
//! waiting for the device.

use std::collections::BTreeMap;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};
use nomina_core::{Error, ErrorKind, Result};

use super::Stats;
use super::context::{Cuda, lock};
use super::failure::failed;
use crate::Device;
use crate::shape::product;
use crate::storage::{DeviceBuffer, Release, Storage};

/// The address of a buffer without elements: aligned as all are, and nobody's.
const NOWHERE: usize = 512;

/// What kernels write at once.
const WORD: usize = 16;

/// The blocks in use, by address.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: BTreeMap<usize, usize>,
    in_use: usize,
    peak: usize,
}

impl Live {
    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.keys().copied()
    }
}

impl Release for Cuda {
    fn release(&self, address: usize) {
        // Before the block is forgotten: a region that is captured meanwhile may use it.
        let bound = self.bind("drop");
        let mut live = lock(&self.live);
        let bytes = live.blocks.remove(&address).unwrap_or(0);
        live.in_use -= bytes;
        drop(live);
        if bound.is_err() || self.left_to_region(address) || self.held.keeps(address) {
            return;
        }
        // SAFETY: the owner is dropped.
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
    /// It was reserved here, the device's context is bound, nobody owns it, and work that reads it was started before.
    pub(super) unsafe fn free(&self, address: usize) {
        // There is nobody to tell. After an error that ends the context its memory is gone anyhow.
        // SAFETY: the caller's promise: that work is on the same stream or, without a pool, is waited for by the driver.
        let _ = unsafe {
            match self.pool {
                Some(_) => result::free_async(address as u64, self.stream),
                None => result::free_sync(address as u64),
            }
        };
    }
}

impl Cuda {
    /// A block of as many bytes as the factors multiply to, which is freed after the work that was
    /// started before it is dropped.
    pub(crate) fn scratch<const N: usize>(
        &'static self,
        op: &'static str,
        factors: [usize; N],
    ) -> Result<DeviceBuffer> {
        self.block(op, product(factors))
    }

    /// A buffer for a tensor, with indeterminate content, or all zero.
    pub(crate) fn allocate(
        &'static self,
        op: &'static str,
        bytes: usize,
        zeroed: bool,
    ) -> Result<Storage> {
        let buffer = self.block(op, bytes)?;
        if zeroed && bytes != 0 {
            // SAFETY: the block was made just now, and is that long.
            unsafe { self.clear(op, buffer.as_ptr(), bytes)? };
        }
        Storage::on_device(op, buffer)
    }

    /// Writes zeros.
    ///
    /// # Safety
    /// So many bytes there are a tensor's or a scratch's on this device.
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
            return Err(refused(op, bytes));
        }
        let _bound = self.bind(op)?;
        // Whole words: kernels change elements of 8 and 16 bits together with their neighbours.
        let room = bytes.next_multiple_of(WORD);
        let address = match self.of_region(room) {
            Some(own) => own,
            None => match self.reserve(room) {
                Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                    // What was freed may be in pieces, or not freed yet.
                    self.wait(op)?;
                    self.trim(op)?;
                    self.reserve(room)
                }
                other => other,
            },
        };
        let address = address.map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => refused(op, bytes),
            _ => failed(op, "asking for memory", error),
        })? as usize;
        let mut live = lock(&self.live);
        live.blocks.insert(address, bytes);
        live.in_use += bytes;
        live.peak = live.peak.max(live.in_use);
        Ok(DeviceBuffer::new(
            Device::from(self.ordinal),
            self,
            address,
            bytes,
        ))
    }

    fn reserve(&self, bytes: usize) -> Result<sys::CUdeviceptr, DriverError> {
        match self.pool {
            // SAFETY: the device's context is bound, and its stream is never destroyed. What the block
            // holds is read by nobody before it is written.
            Some(_) => unsafe { result::malloc_async(self.stream, bytes) },
            // SAFETY: as above.
            None => unsafe { result::malloc_sync(bytes) },
        }
    }

    /// The block in use that an address lies in: its first byte and its length.
    pub(crate) fn find(&self, ptr: *const u8) -> Option<(*mut u8, usize)> {
        let address = ptr as usize;
        let live = lock(&self.live);
        let (&first, &len) = live.blocks.range(..=address).next_back()?;
        (address < first + len).then_some((first as *mut u8, len))
    }

    pub(super) fn stats(&self, op: &'static str) -> Result<Stats> {
        let held = match self.pool {
            Some(pool) => {
                let _bound = self.bind(op)?;
                let mut bytes = 0_u64;
                let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
                // SAFETY: the pool is the device's, and the attribute is a number of 64 bits.
                unsafe { result::mem_pool::get_attribute(pool, which, (&raw mut bytes).cast()) }
                    .map_err(|error| failed(op, "asking how much memory is held", error))?;
                usize::try_from(bytes).unwrap_or(usize::MAX)
            }
            None => 0,
        };
        let live = lock(&self.live);
        Ok(Stats {
            in_use: live.in_use,
            held: held.max(live.in_use),
            peak: live.peak,
        })
    }

    pub(super) fn trim(&self, op: &'static str) -> Result<()> {
        let Some(pool) = self.pool else {
            return Ok(());
        };
        // SAFETY: the pool is the device's.
        unsafe { result::mem_pool::trim_to(pool, 0) }
            .map_err(|error| failed(op, "giving memory back", error))
    }
}

#[cold]
pub(super) fn refused(op: &'static str, bytes: usize) -> Error {
    let what = format!("{bytes} bytes of device memory could not be had");
    Error::new(ErrorKind::Memory, op, what).hint("use smaller sizes, or free other tensors first")
}

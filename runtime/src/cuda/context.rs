//! An open device: its context, its stream and its state.

use std::sync::{Mutex, RwLock};

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use nomina_core::{Error, ErrorKind, Result};

use super::board::Board;
use super::failure::failed;
use super::gate::{Gate, GatePass};
use super::kernel_cache::{FunctionMap, Modules};
use super::live_blocks::LiveBlocks;
use super::per_device::{DEVICES, PerDevice, lock};
use super::probe;
use super::properties::Properties;
use super::region::{HeldBlocks, Refusal, Region};
use super::staging::Staging;

static OPEN: PerDevice<Cuda> = PerDevice::new();

/// One device. It is opened at its first use and stays open.
#[derive(Debug)]
pub(crate) struct Cuda {
    pub(super) ordinal: usize,
    pub(super) context: sys::CUcontext,
    /// The stream of all work, which runs in order.
    pub(super) stream: sys::CUstream,
    /// The driver's pool of freed memory; `None` if the device has no pools.
    pub(super) pool: Option<sys::CUmemoryPool>,
    pub(super) properties: Properties,
    pub(super) live: Mutex<LiveBlocks>,
    /// The region that a thread captures.
    pub(super) region: Mutex<Option<Region>>,
    pub(super) gate: Gate,
    pub(super) held: HeldBlocks,
    pub(super) staging: Mutex<Option<Staging>>,
    pub(super) board: Board,
    pub(super) functions: RwLock<FunctionMap>,
    pub(super) modules: Mutex<Modules>,
}

// SAFETY: any thread that has the context bound may use the driver's handles, and every method binds it first; the
// driver is thread-safe.
unsafe impl Send for Cuda {}
// SAFETY: as above; mutable state is behind locks.
unsafe impl Sync for Cuda {}

/// The device's context bound to the calling thread. Dropping it restores the context of somebody else that the thread
/// had before; a thread that had none keeps the device's.
#[must_use]
pub(super) struct Bound<'a> {
    before: Option<sys::CUcontext>,
    _pass: Option<GatePass<'a>>,
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the thread had this context before; its owner does not destroy it while the thread may return to
            // it.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

impl Cuda {
    /// Returns the device, and opens it at the first call.
    ///
    /// # Errors
    /// Returns an error if the driver or the device is missing.
    pub(crate) fn get(op: &'static str, ordinal: usize) -> Result<&'static Self> {
        if let Some(cuda) = OPEN.get(ordinal) {
            return Ok(cuda);
        }
        probe::check(op, ordinal)?;
        let cell = OPEN.cell(ordinal).ok_or_else(|| {
            let what = format!("`cuda:{ordinal}`: a process can use {DEVICES} devices");
            Error::new(ErrorKind::Device, op, what).hint("use one with a lower ordinal")
        })?;
        // One thread at a time: `OnceLock` has no fallible initialisation, and a device opened twice would leak.
        static OPENING: Mutex<()> = Mutex::new(());
        let _one = lock(&OPENING);
        if let Some(cuda) = cell.get() {
            return Ok(cuda);
        }
        let cuda = Self::open(op, ordinal)?;
        Ok(cell.get_or_init(|| cuda))
    }

    /// Returns the device for the lifetime of the process: the owner of memory blocks.
    pub(crate) fn forever(&self, op: &'static str) -> Result<&'static Self> {
        Self::get(op, self.ordinal)
    }

    fn open(op: &'static str, ordinal: usize) -> Result<Self> {
        let said = |error| failed(op, &format!("`cuda:{ordinal}` does not open"), error);
        let device = result::device::get(ordinal as i32).map_err(said)?;
        // SAFETY: the driver returned this device; the same holds for the calls below.
        let number = |which| unsafe { result::device::get_attribute(device, which) };
        let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let multiprocessors = number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let pools = number(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
        let properties = Properties {
            name: result::device::get_name(device).map_err(said)?,
            capability: (
                major.map_err(said)?.unsigned_abs(),
                minor.map_err(said)?.unsigned_abs(),
            ),
            multiprocessors: multiprocessors.map_err(said)?.unsigned_abs(),
            // SAFETY: as above.
            memory: unsafe { result::device::total_mem(device) }.map_err(said)?,
        };
        // SAFETY: as above. The context is never released, because the device stays open.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(said)?;
        let before = Bound {
            before: result::ctx::get_current().map_err(said)?,
            _pass: None,
        };
        // SAFETY: the context was retained above.
        unsafe { result::ctx::set_current(context) }.map_err(said)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking);
        let stream = stream.map_err(said)?;
        let pool = if pools.map_err(said)? != 0 {
            // SAFETY: as above.
            let pool = unsafe { result::device::get_default_mem_pool(device) }.map_err(said)?;
            let mut all = u64::MAX;
            let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            // SAFETY: the pool belongs to the device, and the attribute is a 64-bit number.
            unsafe { result::mem_pool::set_attribute(pool, which, (&raw mut all).cast()) }
                .map_err(said)?;
            Some(pool)
        } else {
            None
        };
        drop(before);
        Ok(Self {
            ordinal,
            context,
            stream,
            pool,
            properties,
            live: Mutex::default(),
            region: Mutex::default(),
            gate: Gate::default(),
            held: HeldBlocks::default(),
            staging: Mutex::default(),
            board: Board::default(),
            functions: RwLock::default(),
            modules: Mutex::default(),
        })
    }

    /// Binds the device's context to the calling thread while the result lives. Every call of the driver needs it.
    pub(super) fn bind(&self, op: &'static str) -> Result<Bound<'_>> {
        let said = |error| failed(op, "the device's context", error);
        let mut bound = Bound {
            before: None,
            _pass: Some(self.gate.enter()),
        };
        let before = result::ctx::get_current().map_err(said)?;
        if before != Some(self.context) {
            // SAFETY: the context is never released.
            unsafe { result::ctx::set_current(self.context) }.map_err(said)?;
            bound.before = before;
        }
        Ok(bound)
    }

    /// Returns the number of multiprocessors.
    pub(crate) fn multiprocessors(&self) -> usize {
        self.properties.multiprocessors.max(1) as usize
    }

    /// Calls a function on the region that the calling thread captures; `None` if it captures none.
    pub(super) fn in_region<R>(&self, act: impl FnOnce(&mut Region) -> R) -> Option<R> {
        if !self.gate.is_mine() {
            return None;
        }
        lock(&self.region).as_mut().map(act)
    }

    /// Returns an error if the calling thread captures a region; the region then fails as well.
    pub(super) fn outside(&self, op: &'static str, what: &'static str) -> Result<()> {
        let refuse = |region: &mut Region| {
            let refusal = Refusal { op, what };
            region.refused.get_or_insert(refusal);
            refusal.error()
        };
        self.in_region(refuse).map_or(Ok(()), Err)
    }

    /// Returns a library's state for this device, or why the library cannot be used. The first call opens the library,
    /// unless the calling thread captures a region.
    pub(super) fn library<L>(
        &self,
        libraries: &'static PerDevice<Result<L, String>>,
        open: fn(&Self) -> Result<L, String>,
    ) -> Result<&'static L, &'static String> {
        static IN_REGION: String = String::new();
        if libraries.get(self.ordinal).is_none() && self.in_region(|_| ()).is_some() {
            return Err(&IN_REGION);
        }
        libraries.get_or_init(self.ordinal, || open(self)).as_ref()
    }

    /// Waits until all work is done, without checking the flags of its kernels.
    pub(super) fn wait(&self, op: &'static str) -> Result<()> {
        self.outside(op, "waits for the device")?;
        // SAFETY: the stream is never destroyed.
        unsafe { result::stream::synchronize(self.stream) }
            .map_err(|error| failed(op, "waiting for the device", error))
    }
}

//! A device in use: its context, its stream, and what is kept for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use nomina_core::{Error, ErrorKind, Result};

use super::attention::Trials;
pub(super) use super::capture::{Captured, graph};
use super::capture::{Gate, Held, Pass, Region};
use super::choice::Who;
use super::cublaslt::Library;
use super::cudnn;
use super::failure::failed;
use super::flag::Board;
use super::function::{Function, Key, Modules};
use super::memory::Live;
use super::transfer::Staging;
use super::{Properties, Report, Stats, probe};

/// How many devices a process can use.
const DEVICES: usize = 64;

static OPEN: [OnceLock<Cuda>; DEVICES] = [const { OnceLock::new() }; DEVICES];

/// One device. It is opened at its first use and stays so.
#[derive(Debug)]
pub(crate) struct Cuda {
    pub(super) ordinal: usize,
    pub(super) context: sys::CUcontext,
    /// All work goes here, one thing after the other.
    pub(super) stream: sys::CUstream,
    /// Keeps freed memory; `None` where the device has no pools.
    pub(super) pool: Option<sys::CUmemoryPool>,
    pub(super) properties: Properties,
    pub(super) live: Mutex<Live>,
    /// The region that a thread captures.
    pub(super) region: Mutex<Option<Region>>,
    pub(super) gate: Gate,
    pub(super) held: Held,
    pub(super) staging: Mutex<Option<Staging>>,
    pub(super) board: Board,
    pub(super) functions: RwLock<HashMap<Key, Function>>,
    pub(super) modules: Mutex<Modules>,
    /// cuBLASLt, from the first product on, or why it does not multiply.
    library: OnceLock<Result<Library, String>>,
    /// How many products our own kernels have made.
    pub(super) own_products: AtomicU64,
    /// cuDNN, from the first convolution on, or why it does not convolve.
    convolver: OnceLock<Result<cudnn::Library, String>>,
    /// How many convolutions our own kernels have made.
    pub(super) own_convolutions: AtomicU64,
    /// Whether attention by warpgroups is right here, and how often it was used.
    pub(super) trials: Trials,
}

// SAFETY: the driver's handles may be used by any thread that has the context bound, which every
// method does first; the driver is thread-safe.
unsafe impl Send for Cuda {}
// SAFETY: as above; what changes is behind locks.
unsafe impl Sync for Cuda {}

/// The lock, also after a panic of its holder: no state is left half-changed under one.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The device is the thread's; the end of it gives the thread back the context of somebody else that it
/// had. A thread that had none keeps the device's.
#[must_use]
pub(super) struct Bound<'a> {
    before: Option<sys::CUcontext>,
    _pass: Option<Pass<'a>>,
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: the thread had it. Who destroyed it meanwhile has no use of it.
            let _ = unsafe { result::ctx::set_current(before) };
        }
    }
}

impl Cuda {
    /// The device, opened when it is not yet.
    ///
    /// # Errors
    /// When the driver or the device is missing.
    pub(crate) fn get(op: &'static str, ordinal: usize) -> Result<&'static Self> {
        let place = OPEN.get(ordinal);
        if let Some(cuda) = place.and_then(OnceLock::get) {
            return Ok(cuda);
        }
        super::check(op, ordinal)?;
        let place = place.ok_or_else(|| {
            let what = format!("`cuda:{ordinal}`: a process can use {DEVICES} devices");
            Error::new(ErrorKind::Device, op, what).hint("use one with a lower ordinal")
        })?;
        // One at a time: opening may fail, so the cell cannot do it, and what was opened is never closed.
        static OPENING: Mutex<()> = Mutex::new(());
        let _one = lock(&OPENING);
        if place.get().is_none() {
            let cuda = Self::open(op, ordinal)?;
            let _ = place.set(cuda);
        }
        place.get().ok_or_else(|| {
            Error::new(
                ErrorKind::Device,
                op,
                format!("`cuda:{ordinal}` does not open"),
            )
        })
    }

    fn open(op: &'static str, ordinal: usize) -> Result<Self> {
        let said = |error| failed(op, &format!("`cuda:{ordinal}` does not open"), error);
        let device = result::device::get(ordinal as i32).map_err(said)?;
        // SAFETY: the device is one that the driver gave, in this and the following calls.
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
        // SAFETY: as above. The context is never released: the device stays open.
        let context = unsafe { result::primary_ctx::retain(device) }.map_err(said)?;
        let before = Bound {
            before: result::ctx::get_current().map_err(said)?,
            _pass: None,
        };
        // SAFETY: the context was given just now.
        unsafe { result::ctx::set_current(context) }.map_err(said)?;
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking);
        let stream = stream.map_err(said)?;
        let pool = if pools.map_err(said)? != 0 {
            // SAFETY: as above.
            let pool = unsafe { result::device::get_default_mem_pool(device) }.map_err(said)?;
            let mut all = u64::MAX;
            let which = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
            // SAFETY: the pool is the device's, and the attribute is a number of 64 bits.
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
            held: Held::default(),
            staging: Mutex::default(),
            board: Board::default(),
            functions: RwLock::default(),
            modules: Mutex::default(),
            library: OnceLock::new(),
            own_products: AtomicU64::new(0),
            convolver: OnceLock::new(),
            own_convolutions: AtomicU64::new(0),
            trials: Trials::default(),
        })
    }

    /// Makes the device the calling thread's as long as what it gives lives; what calls the driver does
    /// so first.
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

    /// cuBLASLt, or why it does not multiply.
    pub(super) fn library(&self) -> Result<&Library, &String> {
        self.opened(&self.library, Library::open)
    }

    /// cuDNN, or why it does not convolve.
    pub(super) fn convolver(&self) -> Result<&cudnn::Library, &String> {
        self.opened(&self.convolver, cudnn::Library::open)
    }

    /// A library, opened when it is not yet; while a region is captured none is.
    fn opened<'a, L>(
        &'a self,
        place: &'a OnceLock<Result<L, String>>,
        open: fn(&Self) -> Result<L, String>,
    ) -> Result<&'a L, &'a String> {
        static LATER: String = String::new();
        if place.get().is_none() && self.in_region(|_| ()).is_some() {
            return Err(&LATER);
        }
        place.get_or_init(|| open(self)).as_ref()
    }

    /// How many multiprocessors it has.
    pub(crate) fn multiprocessors(&self) -> usize {
        self.properties.multiprocessors.max(1) as usize
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// What went wrong meanwhile.
    pub(crate) fn synchronize(&self, op: &'static str) -> Result<()> {
        let pending = self.pending();
        let _bound = self.bind(op)?;
        self.wait(op)?;
        pending.told()
    }

    /// Waits, and looks at no flags.
    pub(super) fn wait(&self, op: &'static str) -> Result<()> {
        self.outside(op, "waits for the device")?;
        // SAFETY: the stream is never destroyed.
        unsafe { result::stream::synchronize(self.stream) }
            .map_err(|error| failed(op, "waiting for the device", error))
    }
}

pub(super) fn count(op: &'static str) -> Result<usize> {
    probe::devices(op)
}

pub(super) fn synchronize(ordinal: usize) -> Result<()> {
    Cuda::get("synchronize", ordinal)?.synchronize("synchronize")
}

pub(super) fn properties(ordinal: usize) -> Result<Properties> {
    Ok(Cuda::get("properties", ordinal)?.properties.clone())
}

pub(super) fn stats(ordinal: usize) -> Result<Stats> {
    Cuda::get("stats", ordinal)?.stats("stats")
}

/// Copies from the second device to the first.
///
/// # Safety
/// As for [`Cuda::take_from`].
pub(super) unsafe fn across(
    op: &'static str,
    [to, from]: [usize; 2],
    at: [*mut u8; 2],
    bytes: usize,
) -> Result<()> {
    let (to, from) = (Cuda::get(op, to)?, Cuda::get(op, from)?);
    // SAFETY: the caller's promise.
    unsafe { to.take_from(op, from, at, bytes) }
}

pub(super) fn report(ordinal: usize) -> Result<Report> {
    let cuda = Cuda::get("report", ordinal)?;
    let library = cuda.library().map(Library::told);
    let convolver = cuda.convolver().map(cudnn::Library::told);
    Ok(Report {
        device: cuda.properties.clone(),
        driver: probe::driver("report")?,
        compiler: super::compile::fitting("report").map_err(|error| error.to_string()),
        shipped: super::shipped::count(),
        cublaslt: match super::gemm::never_asks() {
            true => Err("NOMINA_CUDA_MATMUL=own".to_owned()),
            false => library.map(|(version, _)| version).map_err(String::clone),
        },
        by_cublaslt: library.map_or(0, |(_, made)| made),
        by_kernels: cuda.own_products.load(Ordering::Relaxed),
        cudnn: match cudnn::who() {
            Who::Own => Err("NOMINA_CUDA_CONV=own".to_owned()),
            _ => convolver.map(|(version, _)| version).map_err(String::clone),
        },
        convolved_by_cudnn: convolver.map_or(0, |(_, made)| made),
        convolved_by_kernels: cuda.own_convolutions.load(Ordering::Relaxed),
        warpgroups: super::attention::told(cuda),
        attended_by_warpgroups: cuda.trials.by_warpgroups.load(Ordering::Relaxed),
        attended_by_warps: cuda.trials.by_warps.load(Ordering::Relaxed),
    })
}

pub(super) fn trim(ordinal: usize) -> Result<()> {
    let cuda = Cuda::get("trim", ordinal)?;
    cuda.synchronize("trim")?;
    cuda.trim("trim")
}

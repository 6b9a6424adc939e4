//! CUDA devices.
//!
//! The feature `cuda` brings the backend; it is built without any CUDA installed, and looks for the
//! driver and the libraries when they are first asked for. Without the feature, without a driver or
//! without a device, every function here says so in its error.
//!
//! Kernels are started and not waited for, all on one stream a device, so that they run in the order
//! of the calls. What reads elements on the host waits for them, and so does [`synchronize`]; what
//! went wrong on the device since then is its error.

#[cfg(feature = "cuda")]
mod attention;
#[cfg(feature = "cuda")]
mod backend;
#[cfg(feature = "cuda")]
mod capture;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod catalog;
#[cfg(feature = "cuda")]
mod choice;
#[cfg(feature = "cuda")]
mod columns;
#[cfg(feature = "cuda")]
mod compile;
#[cfg(feature = "cuda")]
mod context;
#[cfg(feature = "cuda")]
mod conv;
#[cfg(feature = "cuda")]
mod conv_transpose;
#[cfg(feature = "cuda")]
mod copy;
#[cfg(feature = "cuda")]
mod count;
#[cfg(feature = "cuda")]
mod cublaslt;
#[cfg(feature = "cuda")]
mod cudnn;
#[cfg(feature = "cuda")]
mod data_dependent;
mod device;
#[cfg(feature = "cuda")]
mod disk;
#[cfg(feature = "cuda")]
mod distance;
#[cfg(feature = "cuda")]
mod entropy;
#[cfg(feature = "cuda")]
mod expression;
#[cfg(feature = "cuda")]
mod failure;
#[cfg(feature = "cuda")]
mod fill;
#[cfg(feature = "cuda")]
mod flag;
#[cfg(feature = "cuda")]
mod function;
#[cfg(feature = "cuda")]
mod fused;
#[cfg(feature = "cuda")]
mod gather;
#[cfg(feature = "cuda")]
mod gemm;
#[cfg(feature = "cuda")]
mod generated;
mod graph;
#[cfg(feature = "cuda")]
mod index;
#[cfg(feature = "cuda")]
mod keyed;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod lines;
#[cfg(feature = "cuda")]
mod map;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "nccl")]
pub(crate) mod nccl;
#[cfg(feature = "cuda")]
mod norm;
#[cfg(feature = "cuda")]
mod pointwise;
#[cfg(feature = "cuda")]
mod pool;
#[cfg(feature = "cuda")]
mod probe;
#[cfg(feature = "cuda")]
mod random;
#[cfg(feature = "cuda")]
mod reduce;
mod report;
#[cfg(feature = "cuda")]
mod resample;
#[cfg(feature = "cuda")]
mod room;
#[cfg(feature = "cuda")]
mod scan;
#[cfg(feature = "cuda")]
mod scatter;
#[cfg(feature = "cuda")]
mod search;
#[cfg(feature = "cuda")]
mod select;
#[cfg(feature = "cuda")]
mod shipped;
#[cfg(feature = "cuda")]
mod softmax;
#[cfg(feature = "cuda")]
mod sort;
#[cfg(feature = "cuda")]
mod source;
#[cfg(feature = "cuda")]
mod staged;
#[cfg(feature = "cuda")]
mod tile;
#[cfg(feature = "cuda")]
mod topk;
#[cfg(feature = "cuda")]
mod transfer;
pub(crate) mod uses;
#[cfg(feature = "cuda")]
mod widened;
#[cfg(feature = "cuda")]
mod window;
#[cfg(feature = "cuda")]
mod written;

#[cfg(not(feature = "cuda"))]
mod absent;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use nomina_core::{Error, ErrorKind, Result};

#[cfg(not(feature = "cuda"))]
use absent as driver;
#[cfg(feature = "cuda")]
use context as driver;

#[cfg(feature = "cuda")]
pub(crate) use context::Cuda;
pub use graph::Graph;
pub use report::Report;
pub use uses::{by_host, reset_by_host};

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// Its name, as the driver says it.
    pub name: String,
    /// Its compute capability, major and minor.
    pub capability: (u32, u32),
    /// How many multiprocessors it has.
    pub multiprocessors: u32,
    /// Its memory in bytes.
    pub memory: usize,
}

/// Memory of a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// What tensors and running kernels hold.
    pub in_use: usize,
    /// What this process keeps of the device, in use or for later.
    pub held: usize,
    /// The most that was in use at once.
    pub peak: usize,
}

/// The device that `cuda` without an ordinal means.
static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// How many CUDA devices there are.
///
/// # Errors
/// [`ErrorKind::Device`] when this build has no CUDA backend, or a library or the driver is missing.
pub fn count() -> Result<usize> {
    driver::count("cuda")
}

/// The ordinal of the device that `cuda` without an ordinal means: 0, unless [`set_current`] said
/// otherwise. It is the same for all threads.
#[must_use]
pub fn current() -> usize {
    CURRENT.load(Ordering::Relaxed)
}

/// Lets `cuda` without an ordinal mean this device from now on.
///
/// # Errors
/// [`ErrorKind::Device`] when there is no such device.
pub fn set_current(ordinal: usize) -> Result<()> {
    check("set_current", ordinal)?;
    CURRENT.store(ordinal, Ordering::Relaxed);
    Ok(())
}

/// Whether matrix products of `f32` and `c64`, and convolutions of `f32`, may round their operands to TF32, ten bits of
/// precision.
static TF32: AtomicBool = AtomicBool::new(false);

/// Lets matrix products of `f32` and `c64`, and convolutions of `f32`, round their operands to TF32: several times as
/// fast, with three digits instead of seven. Off unless asked for, as PyTorch's
/// `torch.backends.cuda.matmul.allow_tf32`; for all threads and devices, and without effect on products where cuBLASLt
/// is not installed, on convolutions where cuDNN is not.
pub fn allow_tf32(allow: bool) {
    TF32.store(allow, Ordering::Relaxed);
}

/// Whether [`allow_tf32`] said so.
#[must_use]
pub fn tf32_is_allowed() -> bool {
    TF32.load(Ordering::Relaxed)
}

/// Whether a device is there.
pub(crate) fn check(op: &'static str, ordinal: usize) -> Result<()> {
    let count = driver::count(op)?;
    if ordinal < count {
        return Ok(());
    }
    let what = format!("`cuda:{ordinal}` is not there: the driver shows {count} device(s)");
    Err(Error::new(ErrorKind::Device, op, what).hint("use `cpu`, or one of `Device::available()`"))
}

/// What a device works with: driver, compiler, and who multiplies.
///
/// ```
/// # use nomina_runtime::cuda;
/// match cuda::report(None) {
///     Ok(report) => println!("{report}"), // who multiplies, and why
///     Err(error) => println!("{error}"),  // what is missing
/// }
/// ```
///
/// # Errors
/// [`ErrorKind::Device`] when there is no such device.
pub fn report(ordinal: impl Into<Option<usize>>) -> Result<Report> {
    driver::report(ordinal.into().unwrap_or_else(current))
}

/// Captures all that a closure asks of the current device as one [`Graph`], and starts it once: afterwards everything is
/// as if the closure had been called. [`Graph::replay`] then starts all of it again by one call, which takes the device
/// about as long as it computes, where the calls of the closure would each wait for the host.
///
/// A replay reads and writes the same memory each time: whatever tensors of before the closure read is read anew, so that
/// inputs are tensors that are written in place; what it wrote in place is written in place again; and its results are
/// written to the tensors that it gave. Those are shared with the graph, so that whoever writes one in place gets a copy,
/// which no replay changes. Memory of tensors that lived meanwhile stays reserved as long as the graph lives.
///
/// Nothing in the closure may wait for the device, read or write elements on the host, draw random numbers (they would
/// be the same each time), or need a kernel that was not loaded before: call it once before it is captured. Other threads
/// wait where they would use the device, so that the closure must not wait for them.
///
/// ```
/// # use nomina_runtime::{Device, DynTensor, cuda};
/// # fn main() -> nomina_core::Result<()> {
/// # let Ok(device) = Device::cuda(0) else { return Ok(()) };
/// let mut x = DynTensor::from_vec(vec![1.0_f32, 2.0], &[2], ())?.to_device(device)?;
/// let next = DynTensor::from_vec(vec![3.0_f32, 4.0], &[2], ())?.to_device(device)?;
/// let region = |x: &DynTensor| x.mul(x)?.sum(..);
/// region(&x)?; // its kernels are compiled
/// let (graph, sum) = cuda::graph(|| region(&x))?;
/// assert_eq!(sum.item()?.to_f64(), 5.0);
/// x.copy_(&next)?;
/// graph.replay()?;
/// assert_eq!(sum.item()?.to_f64(), 25.0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The closure's; what it may not do, also where it went on after that; what the driver says. What was captured until
/// then is started once, so that tensors which outlive the closure hold what was computed.
pub fn graph<R>(region: impl FnOnce() -> Result<R>) -> Result<(Graph, R)> {
    let (captured, found) = driver::graph(current(), region)?;
    Ok((Graph(captured), found))
}

/// Copies elements from the second device to the first.
///
/// # Safety
/// `bytes` bytes are a tensor's on each, at these addresses.
pub(crate) unsafe fn across(
    op: &'static str,
    devices: [usize; 2],
    at: [*mut u8; 2],
    bytes: usize,
) -> Result<()> {
    // SAFETY: passed on.
    unsafe { driver::across(op, devices, at, bytes) }
}

/// Waits until a device has done all that was asked of it; the current one, if none is said.
///
/// # Errors
/// What went wrong on the device since it was last waited for: an index out of range, say, with
/// its operator. [`ErrorKind::Device`] when there is no such device.
pub fn synchronize(ordinal: impl Into<Option<usize>>) -> Result<()> {
    driver::synchronize(ordinal.into().unwrap_or_else(current))
}

/// What a device is.
///
/// # Errors
/// [`ErrorKind::Device`] when there is no such device.
pub fn properties(ordinal: usize) -> Result<Properties> {
    driver::properties(ordinal)
}

/// How much memory of a device this process holds.
///
/// # Errors
/// [`ErrorKind::Device`] when there is no such device.
pub fn stats(ordinal: usize) -> Result<Stats> {
    driver::stats(ordinal)
}

/// Gives memory that is kept for later back to the device.
///
/// # Errors
/// [`ErrorKind::Device`] when there is no such device, and as [`synchronize`].
pub fn trim(ordinal: usize) -> Result<()> {
    driver::trim(ordinal)
}

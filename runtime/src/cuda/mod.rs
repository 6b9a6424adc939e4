//! CUDA devices.
//!
//! The feature `cuda` enables the backend. Building it needs no CUDA installation; the driver and the libraries are
//! loaded at their first use. Without the feature, the driver or a device, every function here returns an error that
//! says so.
//!
//! Kernels are started asynchronously, all on one stream for each device, so that they run in the order of the calls.
//! Reading elements on the host waits for them, as does [`synchronize`], which also returns the errors found on the
//! device since the last wait.

#[cfg(feature = "cuda")]
mod attention;
#[cfg(feature = "cuda")]
mod backend;
#[cfg(feature = "cuda")]
mod board;
#[cfg(feature = "cuda")]
mod capture;
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub mod catalog;
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
mod gate;
#[cfg(feature = "cuda")]
mod gather;
#[cfg(feature = "cuda")]
mod gemm;
mod graph;
pub(crate) mod host_fallback;
#[cfg(feature = "cuda")]
mod index;
#[cfg(feature = "cuda")]
mod kernel_cache;
#[cfg(feature = "cuda")]
mod keyed;
#[cfg(feature = "cuda")]
mod launch;
#[cfg(feature = "cuda")]
mod lines;
#[cfg(feature = "cuda")]
mod live_blocks;
#[cfg(feature = "cuda")]
mod map;
#[cfg(feature = "cuda")]
mod matmul;
#[cfg(feature = "cuda")]
mod memory;
#[cfg(feature = "cuda")]
mod module;
#[cfg(feature = "cuda")]
mod module_call;
#[cfg(feature = "nccl")]
pub(crate) mod nccl;
#[cfg(feature = "cuda")]
mod norm;
#[cfg(feature = "cuda")]
mod order;
#[cfg(feature = "cuda")]
mod per_device;
#[cfg(feature = "cuda")]
mod pointwise;
#[cfg(feature = "cuda")]
mod pool;
mod precision;
#[cfg(feature = "cuda")]
mod present;
#[cfg(feature = "cuda")]
mod probe;
mod properties;
#[cfg(feature = "cuda")]
mod provider;
#[cfg(feature = "cuda")]
mod random;
#[cfg(feature = "cuda")]
mod reduce;
#[cfg(feature = "cuda")]
mod region;
mod report;
#[cfg(feature = "cuda")]
mod resample;
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
mod staging;
#[cfg(feature = "cuda")]
mod tile;
#[cfg(feature = "cuda")]
mod topk;
#[cfg(feature = "cuda")]
mod transfer;
#[cfg(feature = "cuda")]
mod widened;
#[cfg(feature = "cuda")]
mod window;
#[cfg(feature = "cuda")]
mod written;

#[cfg(not(feature = "cuda"))]
mod absent;

use std::sync::atomic::{AtomicUsize, Ordering};

use nomina_core::Result;

#[cfg(not(feature = "cuda"))]
use absent as driver;
#[cfg(feature = "cuda")]
use present as driver;

#[cfg(feature = "cuda")]
pub(crate) use context::Cuda;
pub use graph::Graph;
pub use host_fallback::{by_host, reset_by_host};
pub use precision::{allow_tf32, tf32_is_allowed};
pub use properties::{Properties, Stats};
pub use report::Report;

/// The device that `cuda` without an ordinal means.
static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of CUDA devices.
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if this build has no CUDA backend, or if the driver or
/// another library is missing.
pub fn count() -> Result<usize> {
    driver::count("cuda")
}

/// Returns the ordinal of the current device, which `cuda` without an ordinal means: 0, unless [`set_current`] has
/// changed it. All threads share it.
#[must_use]
pub fn current() -> usize {
    CURRENT.load(Ordering::Relaxed)
}

/// Sets the current device, which `cuda` without an ordinal means.
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device.
pub fn set_current(ordinal: usize) -> Result<()> {
    check("set_current", ordinal)?;
    CURRENT.store(ordinal, Ordering::Relaxed);
    Ok(())
}

/// Checks that a device is there.
pub(crate) fn check(op: &'static str, ordinal: usize) -> Result<()> {
    driver::check(op, ordinal)
}

/// Returns the versions of a device's driver, compiler and libraries, and counts of the calls that each implementation
/// has computed.
///
/// ```
/// # use nomina_runtime::cuda;
/// match cuda::report(None) {
///     Ok(report) => println!("{report}"), // versions, and reasons for what is missing
///     Err(error) => println!("{error}"),  // why there is no device
/// }
/// ```
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device.
pub fn report(ordinal: impl Into<Option<usize>>) -> Result<Report> {
    driver::report(ordinal.into().unwrap_or_else(current))
}

/// Captures the work that a closure starts on the current device as a [`Graph`], and starts it once, so that afterwards
/// everything is as if the closure had been called. [`Graph::replay`] starts all of it again with one call, which takes
/// about as long as the device computes; the calls of the closure would each wait for the host.
///
/// Each replay reads and writes the same memory. It reads again the tensors from before the closure that the closure
/// read, so write new inputs into those in place. It writes again what the closure wrote in place, and its results go
/// to the tensors that the closure returned. The graph shares those: writing to one in place makes a copy, which no
/// replay changes. Memory of tensors that existed during the capture stays reserved as long as the graph lives.
///
/// The closure must not wait for the device, read or write elements on the host, draw random numbers (each replay would
/// repeat them), or need a kernel that is not loaded yet: call the closure once before you capture it. Other threads
/// that use the device wait during the capture, so the closure must not wait for them.
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
/// Returns the closure's error, an error for a step that the closure must not do (also if the closure ignored it), or
/// an error of the driver. The work captured until then is started once, so that tensors which outlive the closure hold
/// their results.
pub fn graph<R>(region: impl FnOnce() -> Result<R>) -> Result<(Graph, R)> {
    let (captured, found) = driver::graph(current(), region)?;
    Ok((Graph(captured), found))
}

/// Copies elements from the second device to the first.
///
/// # Safety
/// `bytes` bytes belong to a tensor on each device, at these addresses.
pub(crate) unsafe fn across(
    op: &'static str,
    devices: [usize; 2],
    at: [*mut u8; 2],
    bytes: usize,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { driver::across(op, devices, at, bytes) }
}

/// Waits until a device has done all work; without an ordinal, the current device.
///
/// # Errors
/// Returns the first error found on the device since the last wait, such as an index out of range, with its operator.
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device.
pub fn synchronize(ordinal: impl Into<Option<usize>>) -> Result<()> {
    driver::synchronize(ordinal.into().unwrap_or_else(current))
}

/// Returns the properties of a device.
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device.
pub fn properties(ordinal: usize) -> Result<Properties> {
    driver::properties(ordinal)
}

/// Returns how much memory of a device this process uses.
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device.
pub fn stats(ordinal: usize) -> Result<Stats> {
    driver::stats(ordinal)
}

/// Returns cached memory to the device.
///
/// # Errors
/// Returns [`ErrorKind::Device`](nomina_core::ErrorKind::Device) if there is no such device, and the errors of
/// [`synchronize`].
pub fn trim(ordinal: usize) -> Result<()> {
    driver::trim(ordinal)
}

//! The functions of this module in a build with the CUDA backend. `absent.rs` has those of other builds.

use nomina_core::Result;

use super::context::Cuda;
use super::properties::{Properties, Stats};
use super::provider::Provider;
use super::report::Report;
use super::{attention, compile, conv, cublaslt, cudnn, gemm, matmul, probe, shipped};

pub(super) use super::capture::graph;
pub(super) use super::probe::{check, devices as count};

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
/// See [`Cuda::take_from`].
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
    let cublaslt = cublaslt::library(cuda);
    let cudnn = cudnn::library(cuda);
    Ok(Report {
        device: cuda.properties.clone(),
        driver: probe::driver("report")?,
        compiler: compile::fitting("report").map_err(|error| error.to_string()),
        shipped: shipped::count(),
        cublaslt: match matmul::provider() {
            Provider::Own => Err("NOMINA_CUDA_MATMUL=own".to_owned()),
            _ => cublaslt
                .map(|library| library.version)
                .map_err(String::clone),
        },
        by_cublaslt: cublaslt.map_or(0, |library| library.calls()),
        by_kernels: gemm::CALLS.get(ordinal),
        cudnn: match cudnn::provider() {
            Provider::Own => Err("NOMINA_CUDA_CONV=own".to_owned()),
            _ => cudnn.map(|library| library.version).map_err(String::clone),
        },
        convolved_by_cudnn: cudnn.map_or(0, |library| library.calls()),
        convolved_by_kernels: conv::CALLS.get(ordinal),
        warpgroups: attention::check_warpgroups(cuda),
        attended_by_warpgroups: attention::WARPGROUP_CALLS.get(ordinal),
        attended_by_warps: attention::WARP_CALLS.get(ordinal),
    })
}

pub(super) fn trim(ordinal: usize) -> Result<()> {
    let cuda = Cuda::get("trim", ordinal)?;
    cuda.synchronize("trim")?;
    cuda.trim("trim")
}

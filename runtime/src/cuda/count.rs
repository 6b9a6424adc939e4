//! Counting into bins, and quantiles: `count.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::module_call::{AHEAD, ModuleCall, THREADS};
use super::source::{File, Source};
use crate::job::{BinJob, Binned, Interpolation, QuantileJob};

/// The most bins that each block counts in shared memory.
const SHARED: usize = 4096;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Bins {
    x: *const u8,
    weights: *const f64,
    counts: *mut u64,
    sums: *mut f64,
    count: u64,
    bins: u64,
    low: f64,
    high: f64,
    shared: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct QuantileArgs {
    sorted: *const u8,
    q: *const u8,
    out: *mut u8,
    len: u64,
    lines: u64,
    count: u64,
    ignore_nan: u32,
    by: u32,
}

// SAFETY: the structs of the same names in `count.cu`.
unsafe impl Argument for Bins {}
// SAFETY: as above.
unsafe impl Argument for QuantileArgs {}

fn source(dtype: DType) -> Source {
    let source = Source::new(File::Count).dtype("T0", dtype);
    if dtype == DType::I64 {
        source
    } else {
        source.number("QUANTILE", 1)
    }
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for wide in [false, true] {
        let whole = &[c"bin_counts", c"bin_sums"];
        all.push(Module::new(source(DType::I64).index(wide), whole));
        for dtype in [DType::F32, DType::F64] {
            let entries = &[c"bin_counts", c"quantile"];
            all.push(Module::new(source(dtype).index(wide), entries));
        }
    }
    all
}

/// Counts into bins. Weights are added in no particular order, as in PyTorch.
///
/// # Safety
/// See [`DataDependent::bins`].
pub(super) unsafe fn bins(cuda: &Cuda, job: &BinJob) -> Result<()> {
    let call = ModuleCall::new(cuda, job.op, source(job.dtype), job.count)?;
    // SAFETY: the caller's promise, here and below: 8 bytes for each bin.
    unsafe { cuda.clear(job.op, job.out, job.bins * 8)? };
    if job.count == 0 {
        return Ok(());
    }
    let mut args = Bins {
        x: job.x,
        weights: std::ptr::null(),
        counts: job.out.cast(),
        sums: job.out.cast(),
        count: job.count as u64,
        bins: job.bins as u64,
        low: 0.0,
        high: 0.0,
        shared: (job.bins <= SHARED).into(),
        pad: 0,
    };
    match job.what {
        Binned::Integers => {}
        Binned::Floats(low, high) => (args.low, args.high) = (low, high),
        Binned::Weights(weights) => {
            args.weights = weights;
            // SAFETY: the caller's promise.
            return unsafe { call.each(c"bin_sums", job.count.div_ceil(AHEAD), &args) };
        }
    }
    // A block that counts in shared memory adds all its bins to the result at the end, so the grid has only enough
    // blocks to keep the device busy.
    let blocks = job.count.div_ceil(THREADS as usize * AHEAD);
    let most = if args.shared == 0 {
        usize::MAX
    } else {
        8 * call.cuda.multiprocessors()
    };
    let grid = Grid::blocks(blocks.min(most), THREADS);
    // SAFETY: the caller's promise.
    unsafe { call.start(c"bin_counts", grid, &args) }
}

/// Writes quantiles.
///
/// # Safety
/// See [`DataDependent::quantiles`].
pub(super) unsafe fn quantiles(cuda: &Cuda, job: &QuantileJob) -> Result<()> {
    let all = job.count * job.lines;
    let most = all.max(job.lines * job.len);
    let call = ModuleCall::new(cuda, job.op, source(job.dtype), most)?;
    let args = QuantileArgs {
        sorted: job.sorted,
        q: job.q,
        out: job.out,
        len: job.len as u64,
        lines: job.lines as u64,
        count: all as u64,
        ignore_nan: job.ignore_nan.into(),
        by: match job.by {
            Interpolation::Linear => 0,
            Interpolation::Lower => 1,
            Interpolation::Higher => 2,
            Interpolation::Midpoint => 3,
            Interpolation::Nearest => 4,
        },
    };
    // SAFETY: the caller's promise.
    unsafe { call.each(c"quantile", all, &args) }
}

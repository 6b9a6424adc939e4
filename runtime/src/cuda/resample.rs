//! Resampling of planes: `resample.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::source::{File, Source};
use super::window::{FLOATS, Size, any_wide};
use crate::job::{ResampleJob, ResampledDim};

use crate::dispatch::arithmetic;

const THREADS: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct Resized {
    size: u64,
    scale: f64,
    corners: u64,
    out: Size,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ResampleArgs {
    x: *const u8,
    out: *mut u8,
    index: *mut u8,
    weight: *mut u8,
    dims: [Resized; 3],
    count: u64,
}

// SAFETY: the struct of `resample.cu`.
unsafe impl Argument for ResampleArgs {}

/// Resamples planes. A first kernel computes a table of the sources and weights of each dim, a second one the elements.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn resample(cuda: &Cuda, job: &ResampleJob<'_>) -> Result<()> {
    let dims = job.dims;
    let rows: usize = dims.iter().map(|dim| dim.out).sum();
    let count = job.planes * dims.iter().map(|dim| dim.out).product::<usize>();
    let elements = job.planes * dims.iter().map(|dim| dim.size).product::<usize>();
    let each = dims.first().map_or(2, ResampledDim::each);
    let wide = any_wide([count as u128, elements as u128, 4 * rows as u128]);
    let (index_bytes, weight_bytes) = (if wide { 8 } else { 4 }, arithmetic(job.dtype).size());
    let weights_from = (rows * each * index_bytes).next_multiple_of(64);
    let bytes = weights_from + rows * each * weight_bytes;
    let table = cuda.forever(job.op)?.scratch(job.op, [bytes])?;
    let none = Resized {
        size: 1,
        scale: 1.0,
        corners: 1,
        out: Size::new(1, wide),
    };
    let mut resized = [none; 3];
    for (to, dim) in resized.iter_mut().zip(dims) {
        *to = Resized {
            size: dim.size as u64,
            scale: dim.scale,
            corners: u64::from(dim.corners),
            out: Size::new(dim.out, wide),
        };
    }
    let mut args = ResampleArgs {
        x: job.x,
        out: job.out,
        index: table.as_ptr(),
        weight: table.as_ptr().wrapping_add(weights_from),
        dims: resized,
        count: rows as u64,
    };
    let source = source(job.dtype, dims.len(), each, wide);
    let f = cuda.function(job.op, source.clone(), c"resample_taps")?;
    // SAFETY: the kernel's struct; the table has room for `each` of every row.
    unsafe { cuda.launch(job.op, f, Grid::linear(rows, THREADS), &args)? };
    args.count = count as u64;
    let f = cuda.function(job.op, source, c"resample")?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) }
}

fn source(dtype: DType, rank: usize, each: usize, wide: bool) -> Source {
    let source = Source::new(File::Resample).dtype("T", dtype).index(wide);
    source
        .number("RANK", rank as i64)
        .number("EACH", each as i64)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for &dtype in FLOATS {
        for wide in [false, true] {
            for rank in 1..=3 {
                for each in [2, 4] {
                    let source = source(dtype, rank, each, wide);
                    all.push(Module::new(source, &[c"resample_taps", c"resample"]));
                }
            }
        }
    }
    all
}

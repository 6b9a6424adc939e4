//! Pooling and its inverse: `pool.cu` and `unpool.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::module_call::bits;
use super::source::{File, Source};
use super::window::{ORDERED, Size, any_wide};
use crate::job::{Cover, PoolJob, PoolKind, UnpoolJob, WindowSpan};

const THREADS: u32 = 256;

/// The fewest adjacent elements of a window for which a block takes one window.
const WIDE_WINDOW: usize = 32;

#[repr(C)]
#[derive(Clone, Copy)]
struct Pooled {
    size: u64,
    kernel: u64,
    stride: u64,
    before: u64,
    parts: u64,
    whole: u64,
    rest: u64,
    padded: u64,
    out: Size,
    step: Size,
}

impl Pooled {
    fn new(size: usize, cover: &Cover, wide: bool) -> Self {
        let mut this = Self {
            size: size as u64,
            kernel: 1,
            stride: 1,
            before: 0,
            parts: 0,
            whole: 0,
            rest: 0,
            padded: 0,
            out: Size::new(cover.len(), wide),
            step: Size::new(cover.step(), wide),
        };
        match *cover {
            Cover::Slide(slide) => {
                this.kernel = slide.kernel as u64;
                this.stride = slide.stride as u64;
                this.before = slide.before as u64;
                this.padded = u64::from(slide.padded);
            }
            Cover::Parts { size, out } => {
                this.parts = 1;
                this.whole = (size / out) as u64;
                this.rest = (size % out) as u64;
            }
        }
        this
    }

    /// Returns a bound of the numbers that a kernel computes along a dim.
    fn reach(size: usize, cover: &Cover) -> u128 {
        let wide = |number: usize| number as u128;
        match *cover {
            Cover::Slide(slide) => {
                let [kernel, stride, before, dilation, out] = [
                    slide.kernel,
                    slide.stride,
                    slide.before,
                    slide.dilation,
                    slide.out,
                ]
                .map(wide);
                out * stride + (kernel + 1) * dilation + before + wide(size)
            }
            Cover::Parts { size, out } => (wide(size % out) + 1) * wide(out) + wide(size),
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PoolArgs {
    x: *const u8,
    out: *mut u8,
    places: *mut i64,
    dims: [Pooled; 3],
    count: u64,
    divisor: i64,
}

// SAFETY: as in `pool.cu`.
unsafe impl Argument for PoolArgs {}

/// Computes a pool.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn pool(cuda: &Cuda, job: &PoolJob) -> Result<()> {
    let (size, covers) = whole(job).unwrap_or((job.size, job.covers));
    let count = job.planes * covers.iter().map(Cover::len).product::<usize>();
    let elements = job.planes as u128 * size.iter().map(|&size| size as u128).product::<u128>();
    let reaches = [0, 1, 2].map(|dim| Pooled::reach(size[dim], &covers[dim]));
    let wide = any_wide([count as u128, elements].into_iter().chain(reaches));
    let mean = matches!(job.kind, PoolKind::Mean(_));
    let args = PoolArgs {
        x: job.x,
        out: job.out,
        places: job.indices.unwrap_or(std::ptr::null_mut()),
        dims: [0, 1, 2].map(|dim| Pooled::new(size[dim], &covers[dim], wide)),
        count: count as u64,
        divisor: match job.kind {
            PoolKind::Mean(divisor) => divisor.unwrap_or(0),
            PoolKind::Max => 0,
        },
    };
    // The window in the middle: the first and the last may be partly outside.
    let across = covers[2].span(covers[2].len() / 2).taps;
    let source = source(job.dtype, mean, wide);
    let (entry, grid) = if across >= WIDE_WINDOW {
        let threads = (across / 4).next_power_of_two().clamp(32, 256) as u32;
        (c"pool_wide", Grid::blocks(count, threads))
    } else if job.indices.is_some() {
        (c"pool_places", Grid::linear(count, THREADS))
    } else {
        (c"pool", Grid::linear(count, THREADS))
    };
    let f = cuda.function(job.op, source, entry)?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(job.op, f, grid, &args) }
}

fn source(dtype: DType, mean: bool, wide: bool) -> Source {
    let source = Source::new(File::Pool).dtype("T", dtype).index(wide);
    source.number("MEAN", i64::from(mean))
}

fn unpool_source(size: usize, wide: bool) -> Source {
    Source::new(File::Unpool).word("T", bits(size)).index(wide)
}

/// Converts a pool of whole planes to a pool along a single dim.
fn whole(job: &PoolJob) -> Option<([usize; 3], [Cover; 3])> {
    let all = job.size.iter().zip(&job.covers).all(|(&size, cover)| {
        let span = WindowSpan {
            start: 0,
            taps: size,
            count: size,
        };
        cover.len() == 1 && cover.step() == 1 && cover.span(0) == span
    });
    let size = job.size.iter().product();
    let part = |size| Cover::Parts { size, out: 1 };
    all.then(|| ([1, 1, size], [part(1), part(1), part(size)]))
}

#[repr(C)]
#[derive(Clone, Copy)]
struct UnpoolArgs {
    x: *const u8,
    indices: *const i64,
    out: *mut u8,
    flag: *mut u8,
    count: u64,
    room: i64,
    plane: Size,
    record: u32,
    pad: u32,
}

// SAFETY: as in `unpool.cu`.
unsafe impl Argument for UnpoolArgs {}

/// Writes elements to their indices. The next wait returns the error of an index out of range.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn unpool(cuda: &Cuda, job: &UnpoolJob) -> Result<()> {
    let (op, room) = (job.op, job.room);
    let raise = cuda
        .forever(op)?
        .may_raise(op, move |index| UnpoolJob::outside(op, index, room))?;
    let wide = any_wide([job.count as u128]);
    let args = UnpoolArgs {
        x: job.x,
        indices: job.indices,
        out: job.out,
        flag: raise.flag,
        count: job.count as u64,
        room: room as i64,
        plane: Size::new(job.plane, wide),
        record: raise.record,
        pad: 0,
    };
    let f = cuda.function(op, unpool_source(job.dtype.size(), wide), c"unpool")?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(op, f, Grid::linear(job.count, THREADS), &args) }
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for wide in [false, true] {
        for &dtype in ORDERED {
            all.push(Module::new(
                source(dtype, false, wide),
                &[c"pool", c"pool_places", c"pool_wide"],
            ));
            all.push(Module::new(
                source(dtype, true, wide),
                &[c"pool", c"pool_wide"],
            ));
        }
        // Only floats are unpooled.
        for size in [2, 4, 8] {
            all.push(Module::new(unpool_source(size, wide), &[c"unpool"]));
        }
    }
    all
}

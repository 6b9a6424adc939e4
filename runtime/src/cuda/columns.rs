//! Unfolding of windows to columns, and folding of columns: `columns.cu` and `fold.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::module_call::bits;
use super::source::{File, Source};
use super::window::{CoveringWindows, NUMBERS, Size, SlidingDim, any_wide, counts, reaches};
use crate::job::ColumnsJob;

const THREADS: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct ColumnsArgs {
    x: *const u8,
    out: *mut u8,
    windows: [SlidingDim; 3],
    count: u64,
    positions: Size,
    elements: u64,
}

// SAFETY: as in `columns.cu`.
unsafe impl Argument for ColumnsArgs {}

#[repr(C)]
#[derive(Clone, Copy)]
struct FoldArgs {
    x: *const u8,
    out: *mut u8,
    dims: [CoveringWindows; 3],
    count: u64,
    taps: u64,
    positions: u64,
}

// SAFETY: as in `fold.cu`.
unsafe impl Argument for FoldArgs {}

fn source(size: usize, wide: bool) -> Source {
    Source::new(File::Columns).word("T", bits(size)).index(wide)
}

fn fold_source(dtype: DType, wide: bool) -> Source {
    Source::new(File::Fold).dtype("T", dtype).index(wide)
}

/// Copies windows to columns, or adds the elements of columns.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn columns(cuda: &Cuda, job: &ColumnsJob) -> Result<()> {
    let (positions, taps, elements) = counts(&job.windows);
    let both = [elements as u128, positions as u128 * taps as u128];
    let all = both.map(|count| count * job.planes as u128);
    let wide = any_wide(all.into_iter().chain(reaches(&job.windows)));
    if job.fold {
        let count = job.planes * elements;
        let args = FoldArgs {
            x: job.x,
            out: job.out,
            dims: CoveringWindows::all(&job.windows, wide),
            count: count as u64,
            taps: taps as u64,
            positions: positions as u64,
        };
        let f = cuda.function(job.op, fold_source(job.dtype, wide), c"fold")?;
        // SAFETY: the kernel's struct; the caller's promise.
        return unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) };
    }
    let rows = job.windows[0].kernel * job.windows[1].kernel;
    let count = job.planes * rows * positions;
    let args = ColumnsArgs {
        x: job.x,
        out: job.out,
        windows: SlidingDim::all(&job.windows, wide),
        count: count as u64,
        positions: Size::new(positions, wide),
        elements: elements as u64,
    };
    let f = cuda.function(job.op, source(job.dtype.size(), wide), c"columns")?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) }
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for wide in [false, true] {
        for size in [1, 2, 4, 8, 16] {
            all.push(Module::new(source(size, wide), &[c"columns"]));
        }
        for dtype in NUMBERS {
            all.push(Module::new(fold_source(dtype, wide), &[c"fold"]));
        }
    }
    all
}

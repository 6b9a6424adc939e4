//! Transposed convolutions: as matrix products in `conv_transpose.cu`, directly in `conv_transpose_direct.cu` if a
//! product would be too narrow.

use nomina_core::{DType, Result};

use super::conv::{BlockTile, CALLS, ROWS, SLICE, THREADS, bias_ptr, shapes, tiled};
use super::launch::{Argument, Grid};
use super::module::Module;
use super::provider::Provider;
use super::source::{File, Source};
use super::widened::widened;
use super::window::{CoveringWindows, NUMBERS, Size, any_wide, counts, extent, reaches};
use super::{Cuda, cudnn};
use crate::job::{Sliding, TransposedJob};

#[repr(C)]
#[derive(Clone, Copy)]
struct TransposedTiles {
    x: *const u8,
    weight: *const u8,
    bias: *const u8,
    out: *mut u8,
    x_strides: [i64; 5],
    dims: [CoveringWindows; 3],
    columns: u64,
    tiles: u64,
    channels: u64,
    outs: u64,
    elements: u64,
    taps: u64,
    slices: u64,
    row_tiles: Size,
    col_tiles: Size,
    groups: Size,
}

// SAFETY: as in `conv_transpose.cu`.
unsafe impl Argument for TransposedTiles {}

#[repr(C)]
#[derive(Clone, Copy)]
struct TransposedDirect {
    x: *const u8,
    weight: *const u8,
    bias: *const u8,
    out: *mut u8,
    x_strides: [i64; 5],
    dims: [CoveringWindows; 3],
    count: u64,
    channels: u64,
    taps: u64,
    outs: Size,
    groups: Size,
}

// SAFETY: as in `conv_transpose_direct.cu`.
unsafe impl Argument for TransposedDirect {}

/// Computes a transposed convolution: by cuDNN, or by our own kernels.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn transpose(cuda: &'static Cuda, job: &TransposedJob) -> Result<()> {
    let narrow = job.outs < ROWS || job.channels < SLICE;
    let library = !narrow || cudnn::provider() == Provider::Library;
    // SAFETY: the caller's promise.
    if library && unsafe { cudnn::transpose(cuda, job)? } {
        return Ok(());
    }
    CALLS.increment(cuda.ordinal);
    let (_, taps, _) = counts(&job.windows);
    let all = job.groups * job.outs;
    // SAFETY: the caller's promise: weight and bias are contiguous.
    let wide = |at, count| unsafe { widened(cuda, job.op, job.dtype, at, count) };
    let weight = wide(job.weight, job.channels * all * taps)?;
    let bias = job.bias.map(|bias| wide(bias, all)).transpose()?;
    let job = TransposedJob {
        weight: weight.at,
        bias: bias.as_ref().map(|bias| bias.at),
        ..*job
    };
    // SAFETY: the caller's promise.
    unsafe { own(cuda, &job, narrow) }
}

/// Computes a transposed convolution by our own kernels; directly if `narrow`.
///
/// # Safety
/// See [`Backend`]; weight and bias are in the dtype of [`arithmetic`](crate::dispatch::arithmetic).
unsafe fn own(cuda: &'static Cuda, job: &TransposedJob, narrow: bool) -> Result<()> {
    let (_, taps, elements) = counts(&job.windows);
    let [d, h, w] = job.windows.map(|window| window.out);
    let all = job.groups * job.outs;
    let count = job.batch * all * elements;
    let sizes = [job.batch, job.groups * job.channels, d, h, w];
    let numbers = [
        extent(sizes, job.x_strides),
        count as u128,
        (job.groups * job.channels * job.outs) as u128 * taps as u128,
    ];
    let wide = any_wide(numbers.into_iter().chain(reaches(&job.windows)));
    let size = |size| Size::new(size, wide);
    let x_strides = job.x_strides.map(|stride| stride as i64);
    let dims = CoveringWindows::all(&job.windows, wide);
    let each = |of: fn(&Sliding) -> usize| -> usize { job.windows.iter().map(of).product() };
    let run = each(|window| window.size.div_ceil(window.stride));
    let phases = each(|window| window.stride.min(window.size));
    let columns = job.batch * run;
    // With few columns, most of a tile would be discarded.
    if narrow || columns < 32 {
        let args = TransposedDirect {
            x: job.x,
            weight: job.weight,
            bias: bias_ptr(job.bias),
            out: job.out,
            x_strides,
            dims,
            count: count as u64,
            channels: job.channels as u64,
            taps: taps as u64,
            outs: size(job.outs),
            groups: size(job.groups),
        };
        let f = cuda.function(
            job.op,
            transposed_direct(job.dtype).index(wide),
            c"transposed_direct",
        )?;
        // SAFETY: the kernel's struct; the caller's promise.
        return unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) };
    }
    let repeats = job.groups * phases;
    let shapes = shapes(job.dtype, wide);
    let processors = cuda.multiprocessors();
    let tile = BlockTile::choose(shapes, job.outs, columns, repeats, processors);
    let (row_tiles, col_tiles) = (job.outs.div_ceil(tile.rows), columns.div_ceil(tile.cols));
    let tiles = row_tiles * col_tiles * repeats;
    let args = TransposedTiles {
        x: job.x,
        weight: job.weight,
        bias: bias_ptr(job.bias),
        out: job.out,
        x_strides,
        dims,
        columns: columns as u64,
        tiles: tiles as u64,
        channels: job.channels as u64,
        outs: job.outs as u64,
        elements: elements as u64,
        taps: taps as u64,
        slices: job.channels.div_ceil(SLICE) as u64,
        row_tiles: size(row_tiles),
        col_tiles: size(col_tiles),
        groups: size(job.groups),
    };
    let source = tiled(File::ConvTranspose, job.dtype, tile).index(wide);
    let f = cuda.function(job.op, source, c"transposed_tiles")?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(job.op, f, Grid::blocks(tiles, THREADS), &args) }
}

fn transposed_direct(dtype: DType) -> Source {
    Source::new(File::ConvTransposeDirect).dtype("T", dtype)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in NUMBERS {
        for wide in [false, true] {
            for &tile in shapes(dtype, wide) {
                let source = tiled(File::ConvTranspose, dtype, tile).index(wide);
                all.push(Module::new(source, &[c"transposed_tiles"]));
            }
            let source = transposed_direct(dtype).index(wide);
            all.push(Module::new(source, &[c"transposed_direct"]));
        }
    }
    all
}

//! Convolutions and their transposes: `conv.cu` and `conv_transpose.cu` where they are matrix
//! products, `conv_direct.cu` and `conv_transpose_direct.cu` where a product would be too narrow.

use nomina_core::{DType, Result};

use super::Cuda;
use super::catalog::Module;
use super::launch::{Argument, Grid};
use super::source::{File, Source};
use super::window::{Backward, NUMBERS, Size, Sliding, any_wide, counts, extent, reaches};
use crate::call::{ConvJob, TransposedJob};
use crate::dispatch::arithmetic;

const THREADS: u32 = 256;

/// How deep a slice of a product is, in `slices.cuh`.
const SLICE: usize = 8;

/// Output channels from which on a product pays.
const ROWS: usize = 8;

/// How many output channels a thread computes element by element, of one or of several.
const OUTS: [usize; 2] = [1, 4];

/// The shape of a block's part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tile {
    /// Its number in `slices.cuh`.
    number: i64,
    rows: usize,
    cols: usize,
}

const TILES: [Tile; 4] = [
    Tile {
        number: 0,
        rows: 32,
        cols: 128,
    },
    Tile {
        number: 1,
        rows: 64,
        cols: 64,
    },
    Tile {
        number: 2,
        rows: 64,
        cols: 128,
    },
    Tile {
        number: 3,
        rows: 128,
        cols: 128,
    },
];

/// The type in which kernels sum.
fn sum_bytes(dtype: DType) -> usize {
    arithmetic(dtype).size().max(4)
}

/// The shapes that a dtype's sums leave registers for.
fn shapes(dtype: DType) -> &'static [Tile] {
    if sum_bytes(dtype) == 4 {
        &TILES
    } else {
        &TILES[..2]
    }
}

impl Tile {
    /// The best for `rows` by `cols` sums, `repeats` times, on a device with so many processors.
    fn choose(dtype: DType, rows: usize, cols: usize, repeats: usize, processors: usize) -> Self {
        let fits = |tile: &&Self| tile.number == 0 || rows > tile.rows / 2;
        let busy = |tile: &&Self| tile.blocks(rows, cols) * repeats >= processors;
        let shapes = shapes(dtype);
        let best = shapes.iter().rev().filter(fits).find(busy);
        // Where none keeps the device busy, the one with the most blocks.
        *best.unwrap_or(if rows > TILES[0].rows {
            &TILES[1]
        } else {
            &TILES[0]
        })
    }

    fn blocks(&self, rows: usize, cols: usize) -> usize {
        rows.div_ceil(self.rows) * cols.div_ceil(self.cols)
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct ConvTiles {
    x: *const u8,
    weight: *const u8,
    bias: *const u8,
    out: *mut u8,
    partial: *mut u8,
    x_strides: [i64; 5],
    out_strides: [i64; 3],
    windows: [Sliding; 3],
    columns: u64,
    tiles: u64,
    depth: u64,
    share: u64,
    channels: u64,
    outs: u64,
    inner: Size,
    positions: Size,
    row_tiles: Size,
    col_tiles: Size,
    groups: Size,
}

// SAFETY: as in `conv.cu`.
unsafe impl Argument for ConvTiles {}

#[repr(C)]
#[derive(Clone, Copy)]
struct ConvJoin {
    partial: *const u8,
    bias: *const u8,
    out: *mut u8,
    out_strides: [i64; 3],
    splits: u64,
    count: u64,
    columns: Size,
    positions: Size,
    outs: Size,
}

// SAFETY: as in `conv.cu`.
unsafe impl Argument for ConvJoin {}

#[repr(C)]
#[derive(Clone, Copy)]
struct ConvDirect {
    x: *const u8,
    weight: *const u8,
    bias: *const u8,
    out: *mut u8,
    x_strides: [i64; 5],
    out_strides: [i64; 3],
    weight_strides: [u64; 2],
    windows: [Sliding; 3],
    count: u64,
    channels: u64,
    outs: u64,
    depth: u64,
    blocks: Size,
    positions: Size,
    groups: Size,
    last: u64,
}

// SAFETY: as in `conv_direct.cu`.
unsafe impl Argument for ConvDirect {}

#[repr(C)]
#[derive(Clone, Copy)]
struct TransposedTiles {
    x: *const u8,
    weight: *const u8,
    bias: *const u8,
    out: *mut u8,
    x_strides: [i64; 5],
    dims: [Backward; 3],
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
    dims: [Backward; 3],
    count: u64,
    channels: u64,
    taps: u64,
    outs: Size,
    groups: Size,
}

// SAFETY: as in `conv_transpose_direct.cu`.
unsafe impl Argument for TransposedDirect {}

fn of(bias: Option<*const u8>) -> *const u8 {
    bias.unwrap_or(std::ptr::null())
}

/// A convolution.
///
/// # Safety
/// See [`crate::backend::Backend`].
pub(super) unsafe fn conv(cuda: &Cuda, job: &ConvJob) -> Result<()> {
    let (positions, taps, _) = counts(&job.windows);
    let [d, h, w] = job.windows.map(|window| window.size);
    let (depth, all) = (job.channels * taps, job.groups * job.outs);
    let columns = job.batch * positions;
    let sizes = [job.batch, job.groups * job.channels, d, h, w];
    let numbers = [
        extent(sizes, job.x_strides),
        extent([job.batch, all, positions], job.out_strides),
        all as u128 * depth as u128,
    ];
    let wide = any_wide(numbers.into_iter().chain(reaches(&job.windows)));
    let x_strides = job.x_strides.map(|stride| stride as i64);
    let out_strides = job.out_strides.map(|stride| stride as i64);
    let size = |size| Size::new(size, wide);
    let windows = Sliding::all(&job.windows, wide);
    if job.outs < ROWS || depth < 2 * SLICE {
        let each = OUTS[usize::from(job.outs > 1)];
        let blocks = job.outs.div_ceil(each);
        let count = columns * job.groups * blocks;
        let weight_strides = if job.channels_last {
            [1, job.channels as u64]
        } else {
            [taps as u64, 1]
        };
        let args = ConvDirect {
            x: job.x,
            weight: job.weight,
            bias: of(job.bias),
            out: job.out,
            x_strides,
            out_strides,
            weight_strides,
            windows,
            count: count as u64,
            channels: job.channels as u64,
            outs: job.outs as u64,
            depth: depth as u64,
            blocks: size(blocks),
            positions: size(positions),
            groups: size(job.groups),
            last: u64::from(job.channels_last),
        };
        let f = cuda.function(job.op, direct(job.dtype, each, wide), c"conv_direct")?;
        // SAFETY: the kernel's struct; the caller's promise.
        return unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) };
    }
    let processors = cuda.multiprocessors();
    let tile = Tile::choose(job.dtype, job.outs, columns, job.groups, processors);
    let (row_tiles, col_tiles) = (job.outs.div_ceil(tile.rows), columns.div_ceil(tile.cols));
    let tiles = row_tiles * col_tiles * job.groups;
    let (share, splits) = split(depth, tiles, processors);
    let partial = match splits {
        1 => None,
        _ => Some(
            cuda.forever(job.op)?
                .scratch(job.op, splits * columns * all * sum_bytes(job.dtype))?,
        ),
    };
    let wide = wide || any_wide([splits as u128 * columns as u128 * all as u128]);
    let size = |size| Size::new(size, wide);
    let partial_at = partial
        .as_ref()
        .map_or(std::ptr::null_mut(), |partial| partial.as_ptr());
    let args = ConvTiles {
        x: job.x,
        weight: job.weight,
        bias: of(job.bias),
        out: job.out,
        partial: partial_at,
        x_strides,
        out_strides,
        windows: Sliding::all(&job.windows, wide),
        columns: columns as u64,
        tiles: (tiles * splits) as u64,
        depth: depth as u64,
        share: share as u64,
        channels: job.channels as u64,
        outs: job.outs as u64,
        inner: size(if job.channels_last {
            job.channels
        } else {
            taps
        }),
        positions: size(positions),
        row_tiles: size(row_tiles),
        col_tiles: size(col_tiles),
        groups: size(job.groups),
    };
    let source = conv_tiled(job.dtype, tile, job.channels_last, wide);
    let f = cuda.function(job.op, source.clone(), c"conv_tiles")?;
    // SAFETY: the kernel's struct; the caller's promise; the scratch has room for every part.
    unsafe { cuda.launch(job.op, f, Grid::blocks(tiles * splits, THREADS), &args)? };
    if partial.is_none() {
        return Ok(());
    }
    let args = ConvJoin {
        partial: partial_at,
        bias: of(job.bias),
        out: job.out,
        out_strides,
        splits: splits as u64,
        count: (columns * all) as u64,
        columns: size(columns),
        positions: size(positions),
        outs: size(all),
    };
    let f = cuda.function(job.op, source, c"conv_join")?;
    // SAFETY: as above.
    unsafe { cuda.launch(job.op, f, Grid::linear(columns * all, THREADS), &args) }
}

/// How much of the depth a block takes, and into how many parts it so falls: more than one where
/// tiles alone would leave most of the device idle.
fn split(depth: usize, tiles: usize, processors: usize) -> (usize, usize) {
    let slices = depth.div_ceil(SLICE);
    // A part has work for eight slices at least.
    let parts = (2 * processors / tiles.max(1)).min(slices / 8).clamp(1, 32);
    let share = slices.div_ceil(parts) * SLICE;
    (share, depth.div_ceil(share))
}

/// The transpose of a convolution.
///
/// # Safety
/// See [`crate::backend::Backend`].
pub(super) unsafe fn transpose(cuda: &Cuda, job: &TransposedJob) -> Result<()> {
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
    let dims = Backward::all(&job.windows, wide);
    let each =
        |of: fn(&crate::call::Sliding) -> usize| -> usize { job.windows.iter().map(of).product() };
    let run = each(|window| window.size.div_ceil(window.stride));
    let phases = each(|window| window.stride.min(window.size));
    let columns = job.batch * run;
    // Tiles of few columns compute mostly what is thrown away.
    if job.outs < ROWS || job.channels < SLICE || columns < 32 {
        let args = TransposedDirect {
            x: job.x,
            weight: job.weight,
            bias: of(job.bias),
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
            transposed_direct(job.dtype, wide),
            c"transposed_direct",
        )?;
        // SAFETY: the kernel's struct; the caller's promise.
        return unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) };
    }
    let repeats = job.groups * phases;
    let tile = Tile::choose(
        job.dtype,
        job.outs,
        columns,
        repeats,
        cuda.multiprocessors(),
    );
    let (row_tiles, col_tiles) = (job.outs.div_ceil(tile.rows), columns.div_ceil(tile.cols));
    let tiles = row_tiles * col_tiles * repeats;
    let args = TransposedTiles {
        x: job.x,
        weight: job.weight,
        bias: of(job.bias),
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
    let source = tiled(File::ConvTranspose, job.dtype, tile, wide);
    let f = cuda.function(job.op, source, c"transposed_tiles")?;
    // SAFETY: the kernel's struct; the caller's promise.
    unsafe { cuda.launch(job.op, f, Grid::blocks(tiles, THREADS), &args) }
}

fn tiled(file: File, dtype: DType, tile: Tile, wide: bool) -> Source {
    let source = Source::new(file).dtype("T", dtype).index(wide);
    source.number("TILE", tile.number)
}

fn conv_tiled(dtype: DType, tile: Tile, last: bool, wide: bool) -> Source {
    let source = tiled(File::Conv, dtype, tile, wide);
    source.number("LAST", i64::from(last))
}

fn direct(dtype: DType, each: usize, wide: bool) -> Source {
    let source = Source::new(File::ConvDirect).dtype("T", dtype).index(wide);
    source.number("OUTS", each as i64)
}

fn transposed_direct(dtype: DType, wide: bool) -> Source {
    Source::new(File::ConvTransposeDirect)
        .dtype("T", dtype)
        .index(wide)
}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in NUMBERS {
        for wide in [false, true] {
            for &tile in shapes(dtype) {
                for last in [false, true] {
                    let source = conv_tiled(dtype, tile, last, wide);
                    all.push(Module::new(source, &[c"conv_tiles", c"conv_join"]));
                }
                let source = tiled(File::ConvTranspose, dtype, tile, wide);
                all.push(Module::new(source, &[c"transposed_tiles"]));
            }
            for each in OUTS {
                all.push(Module::new(direct(dtype, each, wide), &[c"conv_direct"]));
            }
            let source = transposed_direct(dtype, wide);
            all.push(Module::new(source, &[c"transposed_direct"]));
        }
    }
    all
}

//! Convolutions: as matrix products in `conv.cu` and `conv_tensor.cu`, directly in `conv_direct.cu` if a product would
//! be too narrow.

use std::ffi::CStr;

use nomina_core::{DType, Result};

use super::index::WIDE;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::per_device::CallCounts;
use super::provider::Provider;
use super::source::{File, Source};
use super::widened::widened;
use super::window::{NUMBERS, Size, SlidingDim, any_wide, counts, extent, reaches};
use super::{Cuda, cudnn, matmul};
use crate::job::ConvJob;

use crate::dispatch::arithmetic;

/// The number of convolutions computed by our own kernels, transposed ones too.
pub(super) static CALLS: CallCounts = CallCounts::new();

pub(super) const THREADS: u32 = 256;

/// The depth of a slice of a product in `slices.cuh`.
pub(super) const SLICE: usize = 8;

/// The fewest output channels for which a product is faster.
pub(super) const ROWS: usize = 8;

/// The output channels that a thread of the direct kernel computes: for one channel, and for several.
const OUTS: [usize; 2] = [1, 4];

/// The shape of a block's tile of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BlockTile {
    /// Its number in `slices.cuh`.
    number: i64,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

const TILES: [BlockTile; 4] = [
    BlockTile {
        number: 0,
        rows: 32,
        cols: 128,
    },
    BlockTile {
        number: 1,
        rows: 64,
        cols: 64,
    },
    BlockTile {
        number: 2,
        rows: 64,
        cols: 128,
    },
    BlockTile {
        number: 3,
        rows: 128,
        cols: 128,
    },
];

/// Returns the bytes of the accumulator.
fn sum_bytes(dtype: DType) -> usize {
    arithmetic(dtype).size().max(4)
}

/// Returns the tiles to choose from. Large ones are for floats of up to 32 bits, whose accumulators leave enough
/// registers, and not for the few calls with 64-bit positions.
pub(super) fn shapes(dtype: DType, wide: bool) -> &'static [BlockTile] {
    match arithmetic(dtype) {
        DType::F32 if !wide => &TILES,
        _ => &TILES[..2],
    }
}

impl BlockTile {
    /// Returns the best tile for `rows` by `cols` sums, `repeats` times, on a device with `processors` multiprocessors.
    pub(super) fn choose(
        shapes: &[Self],
        rows: usize,
        cols: usize,
        repeats: usize,
        processors: usize,
    ) -> Self {
        let fits = |tile: &&Self| tile.number == 0 || rows > tile.rows / 2;
        let busy = |tile: &&Self| tile.blocks(rows, cols) * repeats >= processors;
        let best = shapes.iter().rev().filter(fits).find(busy);
        // If none keeps the device busy, the tile with the most blocks.
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
    windows: [SlidingDim; 3],
    columns: u64,
    tiles: u64,
    depth: u64,
    share: u64,
    channels: u64,
    outs: u64,
    packed: u64,
    inner: Size,
    positions: Size,
    row_tiles: Size,
    col_tiles: Size,
    groups: Size,
}

// SAFETY: as in `conv.cuh`.
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

// SAFETY: as in `conv.cuh`.
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
    windows: [SlidingDim; 3],
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

pub(super) fn bias_ptr(bias: Option<*const u8>) -> *const u8 {
    bias.unwrap_or(std::ptr::null())
}

/// Computes a convolution: by cuDNN, as a product, or by our own kernels.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn conv(cuda: &'static Cuda, job: &ConvJob<'_>) -> Result<()> {
    let (_, taps, _) = counts(&job.windows);
    let depth = job.channels * taps;
    let narrow = job.outs < ROWS || depth < 2 * SLICE;
    let floats = job.dtype.is_float() || job.dtype.is_complex();
    let product = job
        .as_product()
        .filter(|_| !narrow && job.bias.is_none() && floats);
    let library = cudnn::provider() == Provider::Library || (!narrow && product.is_none());
    // SAFETY: the caller's promise.
    if library && unsafe { cudnn::conv(cuda, job)? } {
        return Ok(());
    }
    if let Some((product, repeats)) = product {
        // SAFETY: the matrices are the operands of the job.
        return unsafe { matmul::product(cuda, product, &repeats) };
    }
    CALLS.increment(cuda.ordinal);
    let all = job.groups * job.outs;
    // SAFETY: the caller's promise: weight and bias are contiguous.
    let wide = |at, count| unsafe { widened(cuda, job.op, job.dtype, at, count) };
    let weight = wide(job.weight, all * depth)?;
    let bias = job.bias.map(|bias| wide(bias, all)).transpose()?;
    let job = ConvJob {
        weight: weight.at,
        bias: bias.as_ref().map(|bias| bias.at),
        ..*job
    };
    // SAFETY: the caller's promise.
    unsafe { own(cuda, &job, narrow) }
}

/// Computes a convolution by our own kernels; directly if `narrow`.
///
/// # Safety
/// See [`Backend`]; weight and bias are in the dtype of [`arithmetic`].
unsafe fn own(cuda: &'static Cuda, job: &ConvJob<'_>, narrow: bool) -> Result<()> {
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
    let windows = SlidingDim::all(&job.windows, wide);
    if narrow {
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
            bias: bias_ptr(job.bias),
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
        let f = cuda.function(job.op, direct(job.dtype, each).index(wide), c"conv_direct")?;
        // SAFETY: the kernel's struct; the caller's promise.
        return unsafe { cuda.launch(job.op, f, Grid::linear(count, THREADS), &args) };
    }
    let way = ConvKernel::choose(cuda, job, columns, wide);
    let (row_tiles, col_tiles) = (job.outs.div_ceil(way.rows), columns.div_ceil(way.cols));
    let tiles = row_tiles * col_tiles * job.groups;
    let sums = columns * all;
    // Positions also count the partial sums.
    let most = if wide {
        usize::MAX
    } else {
        (WIDE - 1) / sums.max(1)
    };
    let (share, splits) = split(depth, way.slice, tiles, cuda.multiprocessors(), most);
    let partial = match splits {
        1 => None,
        _ => {
            let factors = [splits, sums, sum_bytes(job.dtype)];
            Some(cuda.scratch(job.op, factors)?)
        }
    };
    let partial_at = partial
        .as_ref()
        .map_or(std::ptr::null_mut(), |partial| partial.as_ptr());
    let args = ConvTiles {
        x: job.x,
        weight: job.weight,
        bias: bias_ptr(job.bias),
        out: job.out,
        partial: partial_at,
        x_strides,
        out_strides,
        windows,
        columns: columns as u64,
        tiles: (tiles * splits) as u64,
        depth: depth as u64,
        share: share as u64,
        channels: job.channels as u64,
        outs: job.outs as u64,
        packed: packed(job, depth),
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
    let source = way.source.index(wide);
    let f = cuda.function(job.op, source.clone(), way.entry)?;
    // SAFETY: the kernel's struct; the caller's promise; the workspace has room for every partial sum.
    unsafe { cuda.launch(job.op, f, Grid::blocks(tiles * splits, THREADS), &args)? };
    if partial.is_none() {
        return Ok(());
    }
    let args = ConvJoin {
        partial: partial_at,
        bias: bias_ptr(job.bias),
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

/// The kernel of a product.
struct ConvKernel {
    /// The rows and columns of a block's tile.
    rows: usize,
    cols: usize,
    /// The depth of a slice.
    slice: usize,
    /// The module without the type of positions.
    source: Source,
    entry: &'static CStr,
}

impl ConvKernel {
    fn choose(cuda: &Cuda, job: &ConvJob<'_>, columns: usize, wide: bool) -> Self {
        if job.dtype.size() == 2 && job.dtype.is_float() && cuda.properties.capability >= (8, 0) {
            let fragments = if job.outs > 64 { 4 } else { 2 };
            return Self {
                rows: 32 * fragments,
                cols: 128,
                slice: 32,
                source: tensor(job.dtype, fragments, job.channels_last),
                entry: c"conv_tensor",
            };
        }
        let processors = cuda.multiprocessors();
        let tile = BlockTile::choose(
            shapes(job.dtype, wide),
            job.outs,
            columns,
            job.groups,
            processors,
        );
        Self {
            rows: tile.rows,
            cols: tile.cols,
            slice: SLICE,
            source: tiled(File::Conv, job.dtype, tile).number("LAST", i64::from(job.channels_last)),
            entry: c"conv_tiles",
        }
    }
}

/// Returns which operands can be read in words of 16 bytes: 1 for channels of the input, 2 for the weight.
fn packed(job: &ConvJob<'_>, depth: usize) -> u64 {
    let aligned = |at: *const u8| at.addr().is_multiple_of(16);
    let mut others = (0..5).filter(|&dim| dim != 1);
    let channels = job.channels_last
        && job.channels.is_multiple_of(8)
        && job.x_strides[1] == 1
        && others.all(|dim| job.x_strides[dim] % 8 == 0)
        && aligned(job.x);
    let weight = depth.is_multiple_of(4) && aligned(job.weight);
    u64::from(channels) + 2 * u64::from(weight)
}

/// Splits the depth: returns the depth of a part, and the number of parts. It is more than one if the tiles alone would
/// leave most of the device idle.
fn split(
    depth: usize,
    slice: usize,
    tiles: usize,
    processors: usize,
    most: usize,
) -> (usize, usize) {
    let slices = depth.div_ceil(slice);
    // A part has a depth of at least 64.
    let parts = (2 * processors / tiles.max(1)).min(depth / 64).min(most);
    let parts = parts.clamp(1, 32);
    let share = slices.div_ceil(parts) * slice;
    (share, depth.div_ceil(share))
}

pub(super) fn tiled(file: File, dtype: DType, tile: BlockTile) -> Source {
    let source = Source::new(file).dtype("T", dtype);
    source.number("TILE", tile.number)
}

fn tensor(dtype: DType, fragments: usize, last: bool) -> Source {
    let source = Source::new(File::ConvTensor).dtype("T", dtype);
    source
        .number("FRAGMENTS", fragments as i64)
        .number("LAST", i64::from(last))
}

fn direct(dtype: DType, each: usize) -> Source {
    let source = Source::new(File::ConvDirect).dtype("T", dtype);
    source.number("OUTS", each as i64)
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for (dtype, wide) in NUMBERS
        .map(|dtype| [(dtype, false), (dtype, true)])
        .concat()
    {
        let mut add = |source: Source, entries: &'static [&'static CStr]| {
            all.push(Module::new(source.index(wide), entries));
        };
        let half = dtype.size() == 2 && dtype.is_float();
        for last in [false, true] {
            // Not for 16-bit floats with 64-bit positions: the devices that this list is compiled for have tensor
            // cores.
            let plain = if half && wide {
                &[][..]
            } else {
                shapes(dtype, wide)
            };
            for &tile in plain {
                let source = tiled(File::Conv, dtype, tile).number("LAST", i64::from(last));
                add(source, &[c"conv_tiles", c"conv_join"]);
            }
            if half {
                for fragments in [2, 4] {
                    let source = tensor(dtype, fragments, last);
                    add(source, &[c"conv_tensor", c"conv_join"]);
                }
            }
        }
        for each in OUTS {
            add(direct(dtype, each), &[c"conv_direct"]);
        }
    }
    all
}

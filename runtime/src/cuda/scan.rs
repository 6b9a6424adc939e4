//! Scans along a dim: `scan.cu`.

use std::ffi::CStr;
use std::ptr::null_mut;

use nomina_core::op::class;
use nomina_core::{DType, Result};

use super::index::StridedIndex;
use super::launch::{Argument, Grid};
use super::lines::LineDims;
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::ScanJob;
use crate::storage::DeviceBuffer;

/// The arguments: `Scan` of `scan.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Scan {
    x: *const u8,
    out: *mut u8,
    totals: *mut u8,
    look_back: *mut u8,
    outputs: u64,
    count: u64,
    chunk: u64,
    chunks: u64,
    step: i64,
    out_step: i64,
    kept: StridedIndex<2>,
}

// SAFETY: `Scan` of `scan.cu`.
unsafe impl Argument for Scan {}

/// The threads of a block.
const BLOCK: usize = 256;
/// About the number of threads that keeps a device busy.
const BUSY: usize = 1 << 17;
/// The least length of a chunk of adjacent lines.
const SHORTEST: usize = 64;
/// The most bytes of an accumulator.
const CARRIED: usize = 16;

/// The layout of lines: adjacent to each other, or each contiguous, and then perhaps cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineLayout {
    Columns,
    Rows,
    Tiles,
}

/// Returns the number of adjacent elements that a thread scans; fewer for wide accumulators.
fn items(op: class::Scan, compute: DType, pack: usize) -> usize {
    let double = op == class::Scan::Logcumsumexp && element(compute) == DType::F64;
    let fewest = if compute.is_complex() || double { 4 } else { 8 };
    pack.max(fewest)
}

/// The kernel, its grid, and how lines are cut into chunks.
struct ScanPlan {
    lines: LineLayout,
    pack: usize,
    chunk: usize,
    chunks: usize,
    grid: Grid,
}

/// Returns the next power of two.
fn power(n: usize) -> usize {
    n.max(1).next_power_of_two()
}

impl ScanPlan {
    fn new(walk: &LineDims<2>, job: &ScanJob<'_>, processors: usize) -> Self {
        let (outputs, count) = (walk.outputs, walk.count);
        let inner = walk.inner(0).unsigned_abs();
        // `logcumsumexp` of complex numbers continues the phase of the previous result. One thread scans a whole line,
        // so that the result does not depend on the layout.
        let serial = job.op == class::Scan::Logcumsumexp && job.compute.is_complex();
        let beside = |dim: &(usize, [isize; 2])| dim.1[0] != 0 && dim.1[0].unsigned_abs() < inner;
        let first = walk.kept.first();
        if serial || first.is_some_and(|dim| dim.0 >= 2 && beside(dim)) {
            let width = power(outputs).min(32);
            let tall = BLOCK / width;
            let wanted = (BUSY / outputs).min(count / SHORTEST).max(1);
            let wanted = if serial { 1 } else { wanted };
            let chunk = count.div_ceil(wanted);
            let chunks = count.div_ceil(chunk);
            // Without chunks, one row of threads is enough.
            let (width, tall) = if chunks == 1 {
                (BLOCK, 1)
            } else {
                (width, tall)
            };
            let mut grid = Grid::blocks(outputs.div_ceil(width), width as u32);
            grid.threads[1] = tall as u32;
            grid.blocks[1] = chunks.div_ceil(tall) as u32;
            return Self {
                lines: LineLayout::Columns,
                pack: 1,
                chunk,
                chunks,
                grid,
            };
        }
        let most = 16 / job.dtype.size();
        let aligned = |operand: usize, at: *const u8, size: usize| {
            let bytes = (most * size).min(16);
            walk.inner(operand) == size as isize
                && (at as usize).is_multiple_of(bytes)
                && walk
                    .kept
                    .iter()
                    .all(|dim| dim.1[operand].unsigned_abs().is_multiple_of(bytes))
        };
        let packed =
            aligned(0, job.x, job.dtype.size()) && aligned(1, job.out, job.out_dtype.size());
        let pack = if packed { most } else { 1 };
        let items = items(job.op, job.compute, pack);
        let mut threads = power(count.div_ceil(items)).min(32);
        if outputs * threads < BUSY && count > items * 32 {
            threads = power(count.div_ceil(items)).min(BLOCK);
        }
        let tile = threads * items;
        if threads == BLOCK && 2 * outputs * threads <= BUSY && count >= 8 * tile {
            let chunks = count.div_ceil(tile);
            // The blocks that run at a time take tiles from a counter.
            let blocks = (outputs * chunks).min(8 * processors);
            return Self {
                lines: LineLayout::Tiles,
                pack,
                chunk: tile,
                chunks,
                grid: Grid::blocks(blocks, BLOCK as u32),
            };
        }
        Self {
            lines: LineLayout::Rows,
            pack,
            chunk: count,
            chunks: 1,
            grid: of_rows(outputs, threads),
        }
    }
}

/// Returns the grid for lines of `threads` threads each.
fn of_rows(outputs: usize, threads: usize) -> Grid {
    let lines = if threads > 32 { 1 } else { BLOCK / threads };
    let mut grid = Grid::blocks(outputs.div_ceil(lines), threads as u32);
    grid.threads[1] = lines as u32;
    grid
}

/// Returns a module of `scan.cu` without the layout of lines.
fn module(name: &'static str, from: DType, compute: DType, to: DType) -> Source {
    Source::new(File::Scan)
        .word("OP", name)
        .dtype("T0", from)
        .dtype("T1", element(compute))
        .dtype("T2", to)
}

/// Returns the dtype that elements are converted to; i64 for integers.
fn element(compute: DType) -> DType {
    match arithmetic(compute) {
        dtype if dtype.is_integral() => DType::I64,
        dtype => dtype,
    }
}

/// Returns an operator's name in `scan.cu`.
fn name(op: class::Scan) -> &'static str {
    match op {
        class::Scan::Cumsum => "Cumsum",
        class::Scan::Cumprod => "Cumprod",
        class::Scan::Logcumsumexp => "Logcumsumexp",
    }
}

/// Computes a scan.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn scan(cuda: &'static Cuda, job: &ScanJob<'_>) -> Result<()> {
    let op = job.op.op().name();
    let marked: SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let operands = [
        (job.strides, job.dtype.size()),
        (job.out_strides, job.out_dtype.size()),
    ];
    let walk = LineDims::new(job.shape, &marked, operands, true);
    let kept = StridedIndex::from_dims(walk.kept.iter().copied());
    let Some(kept) = kept else {
        // SAFETY: the caller's promise.
        return unsafe { staged::scan(cuda, job) };
    };
    let way = ScanPlan::new(&walk, job, cuda.multiprocessors());
    let tiles = way.lines == LineLayout::Tiles;
    let totals = match way.chunks {
        1 => None,
        chunks => {
            // A tile has two results: its aggregate and its inclusive prefix.
            let each = if tiles { 2 * CARRIED } else { CARRIED };
            Some(cuda.scratch(op, [walk.outputs, chunks, each])?)
        }
    };
    let look_back = if tiles {
        // The number of the next tile, and the state of each.
        let bytes = size_of::<u64>() + walk.outputs * way.chunks * size_of::<u32>();
        let look_back = cuda.scratch(op, [bytes])?;
        // SAFETY: the workspace has this length.
        unsafe { cuda.clear(op, look_back.as_ptr(), bytes)? };
        Some(look_back)
    } else {
        None
    };
    let at = |block: &Option<DeviceBuffer>| block.as_ref().map_or(null_mut(), DeviceBuffer::as_ptr);
    let args = Scan {
        x: job.x,
        out: job.out,
        totals: at(&totals),
        look_back: at(&look_back),
        outputs: walk.outputs as u64,
        count: walk.count as u64,
        chunk: way.chunk as u64,
        chunks: way.chunks as u64,
        step: walk.inner(0) as i64,
        out_step: walk.inner(1) as i64,
        kept,
    };
    let module = module(name(job.op), job.dtype, job.compute, job.out_dtype);
    let phase = |phase: &'static str| {
        let entry = way.lines.entry();
        let items = items(job.op, job.compute, way.pack);
        let module = walking(&module, way.lines, phase, [way.pack, items]).index(walk.is_wide());
        let function = cuda.function(op, module, entry)?;
        // SAFETY: the dims and steps are those of the job, and the workspace has a result for each chunk.
        unsafe { cuda.launch(op, function, way.grid, &args) }
    };
    if totals.is_some() && !tiles {
        phase("TOTALS")?;
        let before = before(&module).index(walk.is_wide());
        let function = cuda.function(op, before, c"scan_before")?;
        let grid = of_rows(walk.outputs, power(way.chunks).min(BLOCK));
        // SAFETY: as above.
        unsafe { cuda.launch(op, function, grid, &args)? };
    }
    phase("RESULTS")
}

/// Returns a module that scans lines, without the type of positions.
fn walking(source: &Source, lines: LineLayout, phase: &'static str, packs: [usize; 2]) -> Source {
    let shape = match lines {
        LineLayout::Columns => "COLUMNS",
        LineLayout::Rows => "ROWS",
        LineLayout::Tiles => "TILES",
    };
    shaped(source, shape, phase, packs)
}

impl LineLayout {
    fn entry(self) -> &'static CStr {
        match self {
            Self::Columns => c"scan_columns",
            Self::Rows => c"scan_rows",
            Self::Tiles => c"scan_tiles",
        }
    }
}

/// Returns the module that scans the totals of chunks.
fn before(source: &Source) -> Source {
    shaped(source, "BEFORE", "TOTALS", [1, 1])
}

/// Adds the layout, the phase, and the numbers of elements read at once and scanned by a thread.
fn shaped(
    source: &Source,
    shape: &'static str,
    phase: &'static str,
    [pack, items]: [usize; 2],
) -> Source {
    let source = source.clone().word("SHAPE", shape).word("PHASE", phase);
    source
        .number("PACK", pack as i64)
        .number("ITEMS", items as i64)
}

/// Lists every module that these calls use, except for results of another dtype than the operator's own.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for &op in class::Scan::ALL {
        let row = op.op().row();
        for dtype in row.dtypes.iter() {
            let resolved = row.dtype.resolve(dtype, DType::F32);
            let source = module(name(op), dtype, resolved.compute, resolved.result);
            let serial = op == class::Scan::Logcumsumexp && dtype.is_complex();
            if !serial {
                let before = before(&source).index(false);
                all.push(Module::new(before, &[c"scan_before"]));
            }
            let most = 16 / dtype.size();
            let of = |pack| [pack, items(op, resolved.compute, pack)];
            for phase in ["RESULTS", "TOTALS"] {
                let columns = walking(&source, LineLayout::Columns, phase, of(1));
                all.push(Module::new(columns.index(false), &[c"scan_columns"]));
                if serial {
                    break;
                }
            }
            let packs = [1, most];
            for &pack in packs[..1 + usize::from(most > 1)]
                .iter()
                .filter(|_| !serial)
            {
                let rows = walking(&source, LineLayout::Rows, "RESULTS", of(pack));
                all.push(Module::new(rows.index(false), &[c"scan_rows"]));
                let tiles = walking(&source, LineLayout::Tiles, "RESULTS", of(pack));
                all.push(Module::new(tiles.index(false), &[c"scan_tiles"]));
            }
        }
    }
    all
}

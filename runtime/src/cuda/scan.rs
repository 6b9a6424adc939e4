//! Running results along a dim.

use nomina_core::op::class;
use nomina_core::{DType, Result};

use super::catalog::Module;
use super::index::Strided;
use super::launch::{Argument, Grid};
use super::lines::LineDims;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::ScanJob;

/// What `scan.cu` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Scan {
    x: *const u8,
    out: *mut u8,
    totals: *mut u8,
    outputs: u64,
    count: u64,
    chunk: u64,
    chunks: u64,
    step: i64,
    out_step: i64,
    kept: Strided<2>,
}

// SAFETY: `Scan` of `scan.cu`.
unsafe impl Argument for Scan {}

/// Threads of a block.
const BLOCK: usize = 256;
/// About how many threads keep a device busy.
const BUSY: usize = 1 << 17;
/// The fewest elements of a chunk of lines side by side.
const SHORTEST: usize = 64;
/// The most bytes of what is carried along.
const CARRIED: usize = 16;

/// How lines are walked.
struct Way {
    rows: bool,
    pack: usize,
    chunk: usize,
    chunks: usize,
    grid: Grid,
}

/// The next power of two.
fn power(n: usize) -> usize {
    n.max(1).next_power_of_two()
}

impl Way {
    fn new(walk: &LineDims<2>, job: &ScanJob<'_>) -> Self {
        let (outputs, count) = (walk.outputs, walk.count);
        let inner = walk.inner(0).unsigned_abs();
        // A logarithm of complex numbers goes on from the last one in its turns: one by one, so that it
        // is the same however lines lie.
        let turns = job.op == class::Scan::Logcumsumexp && job.compute.is_complex();
        let beside = |dim: &(usize, [isize; 2])| dim.1[0] != 0 && dim.1[0].unsigned_abs() < inner;
        let first = walk.kept.first();
        if turns || first.is_some_and(|dim| dim.0 >= 2 && beside(dim)) {
            let width = power(outputs).min(32);
            let tall = BLOCK / width;
            let wanted = (BUSY / outputs).min(count / SHORTEST).max(1);
            let wanted = if turns { 1 } else { wanted };
            let chunk = count.div_ceil(wanted);
            let chunks = count.div_ceil(chunk);
            // Without chunks one row of threads is enough.
            let (width, tall) = if chunks == 1 {
                (BLOCK, 1)
            } else {
                (width, tall)
            };
            let mut grid = Grid::blocks(outputs.div_ceil(width), width as u32);
            grid.threads[1] = tall as u32;
            grid.blocks[1] = chunks.div_ceil(tall) as u32;
            return Self {
                rows: false,
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
        // What a thread takes in at a time, at most.
        let items = pack.max(8);
        let mut threads = power(count.div_ceil(items)).min(32);
        if outputs * threads < BUSY && count > items * 32 {
            threads = power(count.div_ceil(items)).min(BLOCK);
        }
        let tile = threads * items;
        let wanted = (BUSY / (outputs * threads))
            .min(count / (4 * tile))
            .clamp(1, 4096);
        let chunk = count.div_ceil(wanted).next_multiple_of(tile);
        let chunks = count.div_ceil(chunk);
        Self {
            rows: true,
            pack,
            chunk,
            chunks,
            grid: of_rows(outputs, threads, chunks),
        }
    }
}

/// Blocks of lines with so many threads each, and a y for each chunk.
fn of_rows(outputs: usize, threads: usize, chunks: usize) -> Grid {
    let lines = if threads > 32 { 1 } else { BLOCK / threads };
    let mut grid = Grid::blocks(outputs.div_ceil(lines), threads as u32);
    grid.threads[1] = lines as u32;
    grid.blocks[1] = chunks as u32;
    grid
}

/// A module of `scan.cu`, but for how lines lie.
fn module(name: &'static str, from: DType, compute: DType, to: DType) -> Source {
    Source::new(File::Scan)
        .word("OP", name)
        .dtype("T0", from)
        .dtype("T1", element(compute))
        .dtype("T2", to)
}

/// What elements are converted to: integers to i64.
fn element(compute: DType) -> DType {
    match arithmetic(compute) {
        dtype if dtype.is_integral() => DType::I64,
        dtype => dtype,
    }
}

/// What computes it in `scan.cu`.
fn name(op: class::Scan) -> &'static str {
    match op {
        class::Scan::Cumsum => "Cumsum",
        class::Scan::Cumprod => "Cumprod",
        class::Scan::Logcumsumexp => "Logcumsumexp",
    }
}

/// Computes running results.
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
    let kept = Strided::of(walk.kept.iter().copied());
    let Some(kept) = kept else {
        // SAFETY: the caller's promise.
        return unsafe { staged::scan(cuda, job) };
    };
    let way = Way::new(&walk, job);
    let totals = match way.chunks {
        1 => None,
        chunks => Some(cuda.scratch(op, [walk.outputs, chunks, CARRIED])?),
    };
    let args = Scan {
        x: job.x,
        out: job.out,
        totals: totals
            .as_ref()
            .map_or(std::ptr::null_mut(), |totals| totals.as_ptr()),
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
        let entry = if way.rows {
            c"scan_rows"
        } else {
            c"scan_columns"
        };
        let module = walking(&module, way.rows, phase, way.pack).index(walk.is_wide());
        let function = cuda.function(op, module, entry)?;
        // SAFETY: the walk has the job's positions, and the scratch what is carried from each chunk.
        unsafe { cuda.launch(op, function, way.grid, &args) }
    };
    if totals.is_some() {
        phase("TOTALS")?;
        let before = before(&module).index(walk.is_wide());
        let function = cuda.function(op, before, c"scan_before")?;
        let grid = of_rows(walk.outputs, power(way.chunks).min(BLOCK), 1);
        // SAFETY: as above.
        unsafe { cuda.launch(op, function, grid, &args)? };
    }
    phase("RESULTS")
}

/// A module that walks lines, but for what positions are counted in.
fn walking(source: &Source, rows: bool, phase: &'static str, pack: usize) -> Source {
    shaped(source, if rows { "ROWS" } else { "COLUMNS" }, phase, pack)
}

/// The module that adds up totals.
fn before(source: &Source) -> Source {
    shaped(source, "BEFORE", "TOTALS", 1)
}

fn shaped(source: &Source, shape: &'static str, phase: &'static str, pack: usize) -> Source {
    let source = source.clone().word("SHAPE", shape).word("PHASE", phase);
    source.number("PACK", pack as i64)
}

/// Every module that calls here ask for, unless another dtype is asked for as that of the result.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for &op in class::Scan::ALL {
        let row = op.op().row();
        for dtype in row.dtypes.iter() {
            let resolved = row.dtype.resolve(dtype, DType::F32);
            let source = module(name(op), dtype, resolved.compute, resolved.result);
            let turns = op == class::Scan::Logcumsumexp && dtype.is_complex();
            if !turns {
                let before = before(&source).index(false);
                all.push(Module::new(before, &[c"scan_before"]));
            }
            let most = 16 / dtype.size();
            for phase in ["RESULTS", "TOTALS"] {
                let columns = walking(&source, false, phase, 1);
                all.push(Module::new(columns.index(false), &[c"scan_columns"]));
                if turns {
                    break;
                }
                let packs = [1, most];
                for &pack in &packs[..1 + usize::from(most > 1)] {
                    let rows = walking(&source, true, phase, pack);
                    all.push(Module::new(rows.index(false), &[c"scan_rows"]));
                }
            }
        }
    }
    all
}

//! Order along a dim: `sort.cu`, `topk.cu` and `extreme.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::catalog::Module;
use super::index::Strided;
use super::launch::{Argument, Grid};
use super::memory::Buffer;
use super::room::{THREADS, Work, bits};
use super::source::{File, Source};
use crate::cpu::sort::{Kind, LineJob, Task};
use crate::plan::Plan;

/// The longest line that is sorted in shared memory.
const SHORT: usize = 2048;
/// The fewest elements that a short line is filled up to.
const NARROW: usize = 32;
/// Elements of a tile of `sort.cu` and `extreme.cu`, and of `topk.cu`.
const TILE: usize = 2048;
const SELECT_TILE: usize = 4096;
/// How many values a digit of eight bits has.
const DIGITS: usize = 256;
/// Up to so many tiles, one thread walks those of a line and digit.
const FEW_TILES: usize = 64;
/// From so many lines on that lie side by side, each is one thread's.
const COLUMNS: usize = 1024;

const FIRST: u32 = 0;
const NTH: u32 = 1;
const MEDIAN: u32 = 2;
const MODE: u32 = 3;

/// Lines and where their results go: `Lines` of `keys.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    x: *const u8,
    values: *mut u8,
    positions: *mut i64,
    count: u64,
    len: u64,
    steps: [i64; 3],
    turn: u64,
    starts: Strided<3>,
}

impl Lines {
    /// The lines of a job, and whether they lie closer to each other than their own elements do;
    /// none for more dims than kernels walk.
    fn new(job: &LineJob<'_>, turn: bool) -> Option<(Self, bool)> {
        let size = job.dtype.size();
        let rest = |list: &[isize]| -> crate::shape::Strides {
            let (before, after) = (&list[..job.dim], &list[job.dim + 1..]);
            before.iter().chain(after).copied().collect()
        };
        let (before, after) = (&job.shape[..job.dim], &job.shape[job.dim + 1..]);
        let shape: crate::shape::Shape = before.iter().chain(after).copied().collect();
        let (x, out) = (rest(job.strides), rest(job.out_strides));
        let plan = Plan::new(&shape, &[(&x, size), (&out, size), (&out, 8)]);
        let (step, to) = (job.strides[job.dim], job.out_strides[job.dim]);
        let across = plan.numel() > 1 && plan.inner().steps[0].abs() < step.abs() * size as isize;
        let lines = Self {
            x: job.x,
            values: job.values,
            positions: job.positions,
            count: plan.numel() as u64,
            len: job.shape[job.dim] as u64,
            steps: [step * size as isize, to * size as isize, to * 8].map(|step| step as i64),
            turn: turn.into(),
            starts: Strided::new(&plan)?,
        };
        Some((lines, across))
    }

    fn sizes(&self) -> (usize, usize) {
        (self.count as usize, self.len as usize)
    }
}

/// Keys and positions, line after line: null where elements are read where they lie.
#[derive(Clone, Copy)]
struct Keyed {
    keys: *mut u8,
    places: *mut u8,
}

const AS_THEY_LIE: Keyed = Keyed {
    keys: std::ptr::null_mut(),
    places: std::ptr::null_mut(),
};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Short {
    lines: Lines,
    keys: *const u8,
    places: *const u8,
    results: u64,
    width: u32,
    group: u32,
    task: u32,
    ignore_nan: u32,
    across: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Pass {
    lines: Lines,
    keys: *const u8,
    places: *const u8,
    keys_out: *mut u8,
    places_out: *mut u8,
    starts: *mut u8,
    totals: *mut u8,
    tiles: u64,
    tile_step: u64,
    digit_step: u64,
    shift: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Finish {
    lines: Lines,
    keys: *const u8,
    places: *const u8,
    results: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Runs {
    lines: Lines,
    keys: *const u8,
    places: *const u8,
    longest: *mut u8,
    first: *mut u8,
    round: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Select {
    lines: Lines,
    states: *mut u8,
    nans: *mut u8,
    counts: *mut u8,
    before: *mut u8,
    equal: *mut u8,
    keys: *mut u8,
    places: *mut u8,
    tiles: u64,
    results: u64,
    task: u32,
    shift: u32,
    ignore_nan: u32,
    pad: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Extreme {
    lines: Lines,
    keys: *mut u8,
    places: *mut u8,
    tiles: u64,
}

// SAFETY: the structs of the same names in `sort.cu`, `topk.cu` and `extreme.cu`.
unsafe impl Argument for Short {}
// SAFETY: as above.
unsafe impl Argument for Pass {}
// SAFETY: as above.
unsafe impl Argument for Finish {}
// SAFETY: as above.
unsafe impl Argument for Runs {}
// SAFETY: as above.
unsafe impl Argument for Select {}
// SAFETY: as above.
unsafe impl Argument for Extreme {}

/// A module that sees elements as keys of a dtype.
pub(super) fn keyed(file: File, dtype: DType) -> Source {
    let (bytes, kind) = Kind::of(dtype);
    let (kind, infinite) = match kind {
        Kind::Unsigned => (0, 0),
        Kind::Signed => (1, 0),
        Kind::Float(infinite) => (2, infinite as i64),
    };
    Source::new(file)
        .word("ELEMENT", bits(bytes))
        .number("KIND", kind)
        .number("INFINITE", infinite)
}

/// A dtype for every kind of key.
pub(super) const KEYS: [DType; 9] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in KEYS {
        for wide in [false, true] {
            let mut add = |file, entries| {
                all.push(Module::new(keyed(file, dtype).index(wide), entries));
            };
            add(
                File::Sort,
                &[
                    c"sort_short",
                    c"sort_counts",
                    c"sort_starts",
                    c"sort_starts_long",
                    c"sort_move",
                    c"sort_finish",
                    c"sort_runs",
                    c"sort_mode",
                ],
            );
            add(
                File::TopK,
                &[
                    c"select_nans",
                    c"select_start",
                    c"select_counts",
                    c"select_digit",
                    c"select_tiles",
                    c"select_starts",
                    c"select_keep",
                ],
            );
            add(
                File::Extreme,
                &[
                    c"extreme_tiles",
                    c"extreme_before",
                    c"extreme_apply",
                    c"extreme_columns",
                ],
            );
        }
    }
    all
}

/// Does a job, and says whether it did.
///
/// # Safety
/// The operand and the results lie where the job says, and nobody else uses the results meanwhile.
pub(super) unsafe fn execute(cuda: &Cuda, job: &LineJob<'_>) -> Result<bool> {
    // SAFETY: the caller's promise.
    unsafe { sorted(cuda, job, u32::MAX) }
}

/// As [`execute`], where keys of integers differ in the lowest `width` bits alone.
///
/// # Safety
/// As [`execute`].
pub(super) unsafe fn sorted(cuda: &Cuda, job: &LineJob<'_>, width: u32) -> Result<bool> {
    let turn = match job.task {
        Task::Sort { descending: turn } | Task::Top { largest: turn } => turn,
        Task::Extreme { greatest } => !greatest,
        _ => false,
    };
    let Some((lines, across)) = Lines::new(job, turn) else {
        return Ok(false);
    };
    let (count, len) = lines.sizes();
    let work = |file| Work::new(cuda, job.op, keyed(file, job.dtype), count * len);
    if matches!(job.task, Task::Extreme { .. }) {
        // SAFETY: the caller's promise, here and below.
        unsafe { extreme(&work(File::Extreme)?, job.dtype, lines, across)? };
        return Ok(true);
    }
    let (task, results, ignore_nan) = match job.task {
        Task::Nth(n) => (NTH, n, false),
        Task::Median { ignore_nan } => (MEDIAN, 0, ignore_nan),
        Task::Mode => (MODE, 0, false),
        _ => (FIRST, job.count, false),
    };
    let sort = Sort {
        work: work(File::Sort)?,
        size: job.dtype.size(),
        width: width.min(8 * job.dtype.size() as u32),
    };
    if len <= SHORT {
        let short = Short {
            lines,
            keys: std::ptr::null(),
            places: std::ptr::null(),
            results: results as u64,
            width: 0,
            group: 0,
            task,
            ignore_nan: ignore_nan.into(),
            across: across.into(),
            pad: 0,
        };
        unsafe { sort.short(short)? };
        return Ok(true);
    }
    // Where most of a line is asked for, sorting it all costs no more.
    let few = matches!(task, NTH | MEDIAN) || (task == FIRST && results <= len / 2);
    unsafe {
        if few {
            let top = work(File::TopK)?;
            select(&top, &sort, lines, job.dtype, task, results, ignore_nan)?;
        } else if task == MODE {
            sort.mode(lines)?;
        } else {
            let kept = sort.long(lines, AS_THEY_LIE)?;
            sort.finish(lines, kept.now(), results)?;
        }
    }
    Ok(true)
}

/// Keys and positions that go from one half to the other and back.
struct Halves {
    buffers: [[Buffer; 2]; 2],
    passes: usize,
}

impl Halves {
    fn half(&self, which: usize) -> Keyed {
        let [keys, places] = &self.buffers[which];
        Keyed {
            keys: keys.as_ptr(),
            places: places.as_ptr(),
        }
    }

    /// What the last pass wrote.
    fn now(&self) -> Keyed {
        self.half((self.passes + 1) % 2)
    }
}

/// `sort.cu` at work on elements of so many bytes, whose keys differ in so many bits.
struct Sort {
    work: Work,
    size: usize,
    width: u32,
}

impl Sort {
    unsafe fn short(&self, mut args: Short) -> Result<()> {
        let (count, len) = args.lines.sizes();
        let width = len.next_power_of_two().max(NARROW);
        let group = (SHORT / width).min(count.next_power_of_two());
        (args.width, args.group) = (width as u32, group as u32);
        let total = width * group;
        let threads = (total / 2).clamp(32, THREADS as usize) as u32;
        let grid = Grid::blocks(count.div_ceil(group), threads);
        let grid = grid.shared(total * (self.size + size_of::<u16>()));
        // SAFETY: the caller's promise; shared memory has a key and a position for each element.
        unsafe { self.work.start(c"sort_short", grid, &args) }
    }

    /// Sorts long lines digit by digit.
    unsafe fn long(&self, lines: Lines, from: Keyed) -> Result<Halves> {
        let work = &self.work;
        let (count, len) = lines.sizes();
        let (tiles, position) = (len.div_ceil(TILE), work.position());
        let half = || -> Result<[Buffer; 2]> {
            let all = count * len;
            Ok([
                work.scratch(all * self.size)?,
                work.scratch(all * position)?,
            ])
        };
        let mut halves = Halves {
            buffers: [half()?, half()?],
            passes: 0,
        };
        let starts = work.scratch(count * tiles * DIGITS * position)?;
        let totals = work.scratch(count * DIGITS * position)?;
        let few = tiles <= FEW_TILES;
        let (tile_step, digit_step) = if few { (DIGITS, 1) } else { (1, tiles) };
        let mut from = from;
        for shift in (0..self.width).step_by(8) {
            let to = halves.half(halves.passes % 2);
            let args = Pass {
                lines,
                keys: from.keys,
                places: from.places,
                keys_out: to.keys,
                places_out: to.places,
                starts: starts.as_ptr(),
                totals: totals.as_ptr(),
                tiles: tiles as u64,
                tile_step: tile_step as u64,
                digit_step: digit_step as u64,
                shift,
                pad: 0,
            };
            // SAFETY: the caller's promise; scratch has room for each line, tile and digit.
            unsafe {
                work.blocks(c"sort_counts", count * tiles, &args)?;
                if few {
                    work.each(c"sort_starts", count * DIGITS, &args)?;
                } else {
                    work.blocks(c"sort_starts_long", count * DIGITS, &args)?;
                }
                work.blocks(c"sort_move", count * tiles, &args)?;
            }
            halves.passes += 1;
            from = to;
        }
        Ok(halves)
    }

    unsafe fn finish(&self, lines: Lines, from: Keyed, results: usize) -> Result<()> {
        let args = Finish {
            lines,
            keys: from.keys,
            places: from.places,
            results: results as u64,
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.work
                .each(c"sort_finish", lines.count as usize * results, &args)
        }
    }

    unsafe fn mode(&self, lines: Lines) -> Result<()> {
        let (count, len) = lines.sizes();
        // SAFETY: the caller's promise, here and below.
        let kept = unsafe { self.long(lines, AS_THEY_LIE)? };
        let found = [self.work.zeros(count * 8)?, self.work.zeros(count * 8)?];
        let mut args = Runs {
            lines,
            keys: kept.now().keys,
            places: kept.now().places,
            longest: found[0].as_ptr(),
            first: found[1].as_ptr(),
            round: 0,
            pad: 0,
        };
        unsafe {
            self.work.each(c"sort_runs", count * len, &args)?;
            args.round = 1;
            self.work.each(c"sort_runs", count * len, &args)?;
            self.work.each(c"sort_mode", count, &args)
        }
    }
}

/// The first few of long lines, or one element of each.
unsafe fn select(
    work: &Work,
    sort: &Sort,
    lines: Lines,
    dtype: DType,
    task: u32,
    results: usize,
    ignore_nan: bool,
) -> Result<()> {
    let (count, len) = lines.sizes();
    let (tiles, position) = (len.div_ceil(SELECT_TILE), work.position());
    let kept = if task == FIRST { count * results } else { 0 };
    let states = work.scratch(count * 16)?;
    let nans = work.zeros(count * 8)?;
    let counts = work.zeros(count * DIGITS * 8)?;
    let (before, equal) = (
        work.scratch(count * tiles * position)?,
        work.scratch(count * tiles * position)?,
    );
    let (keys, places) = (
        work.scratch(kept * dtype.size())?,
        work.scratch(kept * position)?,
    );
    let mut args = Select {
        lines,
        states: states.as_ptr(),
        nans: nans.as_ptr(),
        counts: counts.as_ptr(),
        before: before.as_ptr(),
        equal: equal.as_ptr(),
        keys: keys.as_ptr(),
        places: places.as_ptr(),
        tiles: tiles as u64,
        results: results as u64,
        task,
        shift: 0,
        ignore_nan: ignore_nan.into(),
        pad: 0,
    };
    let cells = count * tiles;
    // SAFETY: the caller's promise, here and below; scratch has room for each line, tile and digit.
    unsafe {
        if task == MEDIAN && dtype.is_float() {
            work.blocks(c"select_nans", cells, &args)?;
        }
        work.each(c"select_start", count, &args)?;
        for shift in (0..8 * dtype.size() as u32).step_by(8).rev() {
            args.shift = shift;
            work.blocks(c"select_counts", cells, &args)?;
            work.blocks(c"select_digit", count, &args)?;
        }
        work.blocks(c"select_tiles", cells, &args)?;
        work.blocks(c"select_starts", count, &args)?;
        work.blocks(c"select_keep", cells, &args)?;
    }
    if task != FIRST {
        return Ok(());
    }
    // What was kept is as long as the results, and stands in the order of positions.
    let kept = Lines {
        len: results as u64,
        ..lines
    };
    let from = Keyed {
        keys: keys.as_ptr(),
        places: places.as_ptr(),
    };
    unsafe {
        if results <= SHORT {
            return sort.short(Short {
                lines: kept,
                keys: from.keys,
                places: from.places,
                results: results as u64,
                width: 0,
                group: 0,
                task: FIRST,
                ignore_nan: 0,
                across: 0,
                pad: 0,
            });
        }
        let halves = sort.long(kept, from)?;
        sort.finish(kept, halves.now(), results)
    }
}

/// The greatest or smallest so far.
unsafe fn extreme(work: &Work, dtype: DType, lines: Lines, across: bool) -> Result<()> {
    let (count, len) = lines.sizes();
    let tiles = len.div_ceil(TILE);
    let rest = if tiles > 1 { count * tiles } else { 0 };
    let (keys, places) = (
        work.scratch(rest * dtype.size())?,
        work.scratch(rest * work.position())?,
    );
    let args = Extreme {
        lines,
        keys: keys.as_ptr(),
        places: places.as_ptr(),
        tiles: tiles as u64,
    };
    // SAFETY: the caller's promise; scratch has room for each line and tile.
    unsafe {
        if across && count >= COLUMNS {
            return work.each(c"extreme_columns", count, &args);
        }
        if tiles > 1 {
            work.blocks(c"extreme_tiles", count * tiles, &args)?;
            work.blocks(c"extreme_before", count, &args)?;
        }
        work.blocks(c"extreme_apply", count * tiles, &args)
    }
}

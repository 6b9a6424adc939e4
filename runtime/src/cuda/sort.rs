//! Order along a dim: `sort.cu`.

use nomina_core::Result;

use super::Cuda;
use super::catalog::Module;
use super::keyed::{AS_THEY_LIE, Keyed, Lines, keyed, modules_of};
use super::launch::{Argument, Grid};
use super::room::{THREADS, Work};
use super::source::File;
use super::topk::{extreme, select};
use crate::job::{LineJob, Task};
use crate::storage::DeviceBuffer;

/// Elements that a block has at once in a network.
const NETWORK: usize = 2048;
/// Threads of a block that sorts one line by digits.
const BLOCK: u32 = 512;
/// The fewest elements that a short line is filled up to.
const NARROW: usize = 32;
/// How many values a digit of eight bits has.
pub(super) const DIGITS: usize = 256;
/// Up to so many tiles, one thread walks those of a line and digit.
const FEW_TILES: usize = 64;

pub(super) const FIRST: u32 = 0;
const NTH: u32 = 1;
pub(super) const MEDIAN: u32 = 2;
const MODE: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Short {
    lines: Lines,
    keys: *const u8,
    places: *const u8,
    results: u64,
    width: u32,
    group: u32,
    task: u32,
    ignore_nan: u32,
    across: u32,
    bits: u32,
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
    results: u64,
    shift: u32,
    pad: u32,
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

impl Short {
    pub(super) fn new(lines: Lines, from: Keyed, task: u32, results: usize) -> Self {
        Self {
            lines,
            keys: from.keys,
            places: from.places,
            results: results as u64,
            width: 0,
            group: 0,
            task,
            ignore_nan: 0,
            across: 0,
            bits: 0,
        }
    }
}

// SAFETY: the structs of the same names in `sort.cu`.
unsafe impl Argument for Short {}
// SAFETY: as above.
unsafe impl Argument for Pass {}
// SAFETY: as above.
unsafe impl Argument for Runs {}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    modules_of(
        File::Sort,
        &[
            c"sort_short",
            c"sort_block",
            c"sort_counts",
            c"sort_starts",
            c"sort_starts_long",
            c"sort_move",
            c"sort_runs",
            c"sort_mode",
        ],
    )
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
    if sort.is_short(len) {
        let short = Short {
            ignore_nan: ignore_nan.into(),
            across: across.into(),
            ..Short::new(lines, AS_THEY_LIE, task, results)
        };
        // SAFETY: the caller's promise.
        unsafe { sort.short(short)? };
        return Ok(true);
    }
    // Where most of a line is asked for, sorting it all costs no more.
    let few = matches!(task, NTH | MEDIAN) || (task == FIRST && results <= len / 2);
    // SAFETY: the caller's promise.
    unsafe {
        if few {
            let top = work(File::TopK)?;
            select(&top, &sort, lines, job.dtype, task, results, ignore_nan)?;
        } else if task == MODE {
            sort.mode(lines)?;
        } else {
            sort.long(lines, AS_THEY_LIE, results)?;
        }
    }
    Ok(true)
}

/// Keys and positions that go from one half to the other and back.
pub(super) struct Halves {
    buffers: [[DeviceBuffer; 2]; 2],
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
    pub(super) fn now(&self) -> Keyed {
        self.half((self.passes + 1) % 2)
    }
}

/// `sort.cu` at work on elements of so many bytes, whose keys differ in so many bits.
pub(super) struct Sort {
    work: Work,
    size: usize,
    width: u32,
}

impl Sort {
    /// Whether a line is sorted in shared memory: `EACH` elements of each thread of a block.
    pub(super) fn is_short(&self, len: usize) -> bool {
        len <= BLOCK as usize * if self.size > 4 { 4 } else { 8 }
    }

    pub(super) unsafe fn short(&self, mut args: Short) -> Result<()> {
        let (count, len) = args.lines.sizes();
        let width = len.next_power_of_two().max(NARROW);
        // A network takes more steps for each element the longer a line is; digits take as many as a key has.
        let digits = len > 128 * self.size.max(4);
        let group = if digits {
            1
        } else {
            (NETWORK / width).min(count.next_power_of_two())
        };
        args.width = width as u32;
        args.group = group as u32;
        args.bits = self.width;
        let total = width * group;
        let mut bytes = total * (self.size + size_of::<u16>());
        let (entry, threads) = if digits {
            bytes += (BLOCK as usize / 32 + 2) * DIGITS * size_of::<u16>();
            (c"sort_block", BLOCK)
        } else {
            let threads = (total / 2).clamp(32, THREADS as usize) as u32;
            (c"sort_short", threads)
        };
        let grid = Grid::blocks(count.div_ceil(group), threads).shared(bytes);
        // SAFETY: the caller's promise; shared memory has a key and a position for each element, and by digits a count
        // for each warp and digit and a start for each digit.
        unsafe { self.work.start(entry, grid, &args) }
    }

    /// Sorts long lines digit by digit. The last pass writes the first `results` of each line; where they are none,
    /// it stores keys and positions as the others do.
    pub(super) unsafe fn long(&self, lines: Lines, from: Keyed, results: usize) -> Result<Halves> {
        let work = &self.work;
        let (count, len) = lines.sizes();
        let position = work.position();
        // `TILE` of `sort.cu`.
        let items = if self.size + position <= 8 { 8 } else { 4 };
        let tiles = len.div_ceil(BLOCK as usize * items);
        let half = || -> Result<[DeviceBuffer; 2]> {
            let all = count * len;
            Ok([
                work.scratch([all, self.size])?,
                work.scratch([all, position])?,
            ])
        };
        let mut halves = Halves {
            buffers: [half()?, half()?],
            passes: 0,
        };
        let starts = work.scratch([count, tiles, DIGITS, position])?;
        let totals = work.scratch([count, DIGITS, position])?;
        let few = tiles <= FEW_TILES;
        let (tile_step, digit_step) = if few { (DIGITS, 1) } else { (1, tiles) };
        let each = Grid::blocks(count * tiles, BLOCK);
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
                results: if shift + 8 < self.width {
                    0
                } else {
                    results as u64
                },
                shift,
                pad: 0,
            };
            // SAFETY: the caller's promise; scratch has room for each line, tile and digit.
            unsafe {
                work.start(c"sort_counts", each, &args)?;
                if few {
                    work.each(c"sort_starts", count * DIGITS, &args)?;
                } else {
                    work.blocks(c"sort_starts_long", count * DIGITS, &args)?;
                }
                work.start(c"sort_move", each, &args)?;
            }
            halves.passes += 1;
            from = to;
        }
        Ok(halves)
    }

    unsafe fn mode(&self, lines: Lines) -> Result<()> {
        let (count, len) = lines.sizes();
        // SAFETY: the caller's promise, here and below.
        let kept = unsafe { self.long(lines, AS_THEY_LIE, 0)? };
        let found = [self.work.zeros([count, 8])?, self.work.zeros([count, 8])?];
        let mut args = Runs {
            lines,
            keys: kept.now().keys,
            places: kept.now().places,
            longest: found[0].as_ptr(),
            first: found[1].as_ptr(),
            round: 0,
            pad: 0,
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.work.each(c"sort_runs", count * len, &args)?;
            args.round = 1;
            self.work.each(c"sort_runs", count * len, &args)?;
            self.work.each(c"sort_mode", count, &args)
        }
    }
}

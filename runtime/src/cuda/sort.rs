//! Sorting along a dim: `sort.cu`.

use nomina_core::Result;

use super::keyed::{AS_THEY_LIE, Keyed, KeyedLines, modules_of};
use super::launch::{Argument, Grid};
use super::module::Module;
use super::module_call::{ModuleCall, THREADS};
use super::source::File;
use crate::storage::DeviceBuffer;

/// The elements that a block sorts at once by a netcall.
const NETWORK: usize = 2048;
/// The threads of a block that sorts one line by digits.
const BLOCK: u32 = 512;
/// The least length to which a short line is padded.
const NARROW: usize = 32;
/// The number of values of an eight-bit digit.
pub(super) const DIGITS: usize = 256;
/// The most tiles of a line for which one thread walks the tiles of a digit.
const FEW_TILES: usize = 64;

/// Tasks: the first elements of the sorted line, the nth, the median and the mode.
pub(super) const FIRST: u32 = 0;
pub(super) const NTH: u32 = 1;
pub(super) const MEDIAN: u32 = 2;
pub(super) const MODE: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortSort {
    lines: KeyedLines,
    keys: *const u8,
    places: *const u8,
    results: u64,
    width: u32,
    group: u32,
    task: u32,
    pub(super) ignore_nan: u32,
    pub(super) across: u32,
    bits: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct SortPass {
    lines: KeyedLines,
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
    lines: KeyedLines,
    keys: *const u8,
    places: *const u8,
    longest: *mut u8,
    first: *mut u8,
    round: u32,
    pad: u32,
}

impl ShortSort {
    pub(super) fn new(lines: KeyedLines, from: Keyed, task: u32, results: usize) -> Self {
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
unsafe impl Argument for ShortSort {}
// SAFETY: as above.
unsafe impl Argument for SortPass {}
// SAFETY: as above.
unsafe impl Argument for Runs {}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    modules_of(
        File::Sort,
        &[
            c"sort_short",
            c"sort_block",
            c"sort_select",
            c"sort_counts",
            c"sort_starts",
            c"sort_starts_long",
            c"sort_move",
            c"sort_runs",
            c"sort_mode",
        ],
    )
}

/// Two buffers of keys and positions, between which passes alternate.
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

    /// Returns the buffer that the last pass wrote.
    fn last(&self) -> Keyed {
        self.half((self.passes + 1) % 2)
    }
}

/// The kernels of `sort.cu` for elements of `size` bytes, whose keys differ in the lowest `width` bits.
pub(super) struct Sort {
    call: ModuleCall,
    size: usize,
    width: u32,
}

impl Sort {
    pub(super) fn new(call: ModuleCall, size: usize, width: u32) -> Self {
        let width = width.min(8 * size as u32);
        Self { call, size, width }
    }

    /// Returns whether a line is sorted in shared memory: `EACH` elements for each thread of a block.
    pub(super) fn is_short(&self, len: usize) -> bool {
        len <= BLOCK as usize * if self.size > 4 { 4 } else { 8 }
    }

    /// Sorts lines in shared memory, or finds one element of each.
    ///
    /// # Safety
    /// The lines and the keys are on this device, and nothing else uses the results.
    pub(super) unsafe fn short(&self, mut args: ShortSort) -> Result<()> {
        let (count, len) = args.lines.sizes();
        let width = len.next_power_of_two().max(NARROW);
        // The steps of a network for each element grow with the length of a line; digits need one pass for each byte of
        // a key.
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
        let bytes = total * (self.size + size_of::<u16>());
        let (entry, threads, bytes) = if digits && matches!(args.task, NTH | MEDIAN) {
            (c"sort_select", BLOCK, 0)
        } else if digits {
            let counts = (BLOCK as usize / 32 + 2) * DIGITS * size_of::<u16>();
            (c"sort_block", BLOCK, bytes + counts)
        } else {
            let threads = (total / 2).clamp(32, THREADS as usize) as u32;
            (c"sort_short", threads, bytes)
        };
        let grid = Grid::blocks(count.div_ceil(group), threads).shared(bytes);
        // SAFETY: the caller's promise. Shared memory has a key and a position for each element that is sorted; for
        // digits also a count for each warp and digit, and a start for each digit.
        unsafe { self.call.start(entry, grid, &args) }
    }

    /// Sorts long lines digit by digit. The last pass writes the first `results` elements of each line; if that is 0,
    /// it stores keys and positions like the other passes.
    ///
    /// # Safety
    /// See [`Self::short`].
    pub(super) unsafe fn sort_long(
        &self,
        lines: KeyedLines,
        from: Keyed,
        results: usize,
    ) -> Result<Halves> {
        let call = &self.call;
        let (count, len) = lines.sizes();
        let position = call.position();
        // `TILE` of `sort.cu`.
        let items = if self.size + position <= 8 { 8 } else { 4 };
        let tiles = len.div_ceil(BLOCK as usize * items);
        let half = || -> Result<[DeviceBuffer; 2]> {
            let all = count * len;
            Ok([
                call.scratch([all, self.size])?,
                call.scratch([all, position])?,
            ])
        };
        let mut halves = Halves {
            buffers: [half()?, half()?],
            passes: 0,
        };
        let starts = call.scratch([count, tiles, DIGITS, position])?;
        let totals = call.scratch([count, DIGITS, position])?;
        let few = tiles <= FEW_TILES;
        let (tile_step, digit_step) = if few { (DIGITS, 1) } else { (1, tiles) };
        let each = Grid::blocks(count * tiles, BLOCK);
        let mut from = from;
        for shift in (0..self.width).step_by(8) {
            let to = halves.half(halves.passes % 2);
            let args = SortPass {
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
                call.start(c"sort_counts", each, &args)?;
                if few {
                    call.each(c"sort_starts", count * DIGITS, &args)?;
                } else {
                    call.blocks(c"sort_starts_long", count * DIGITS, &args)?;
                }
                call.start(c"sort_move", each, &args)?;
            }
            halves.passes += 1;
            from = to;
        }
        Ok(halves)
    }

    /// Finds the mode of each line.
    ///
    /// # Safety
    /// See [`Self::short`].
    pub(super) unsafe fn mode(&self, lines: KeyedLines) -> Result<()> {
        let (count, len) = lines.sizes();
        // SAFETY: the caller's promise, here and below.
        let sorted = unsafe { self.sort_long(lines, AS_THEY_LIE, 0)? };
        let found = [self.call.zeros([count, 8])?, self.call.zeros([count, 8])?];
        let mut args = Runs {
            lines,
            keys: sorted.last().keys,
            places: sorted.last().places,
            longest: found[0].as_ptr(),
            first: found[1].as_ptr(),
            round: 0,
            pad: 0,
        };
        // SAFETY: the caller's promise.
        unsafe {
            self.call.each(c"sort_runs", count * len, &args)?;
            args.round = 1;
            self.call.each(c"sort_runs", count * len, &args)?;
            self.call.each(c"sort_mode", count, &args)
        }
    }
}

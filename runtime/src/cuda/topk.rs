//! The first few elements of long lines, and running extremes: `topk.cu` and `extreme.cu`.

use nomina_core::{DType, Result};

use super::keyed::{Keyed, KeyedLines, modules_of};
use super::launch::Argument;
use super::module::Module;
use super::module_call::ModuleCall;
use super::sort::{DIGITS, FIRST, MEDIAN, ShortSort, Sort};
use super::source::File;

/// The elements of a tile of `topk.cu`.
const SELECT_TILE: usize = 4096;
/// The elements of a tile of `extreme.cu`.
const TILE: usize = 2048;
/// The fewest adjacent lines for which one thread takes each line.
const COLUMNS: usize = 1024;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Select {
    lines: KeyedLines,
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
    lines: KeyedLines,
    keys: *mut u8,
    places: *mut u8,
    tiles: u64,
}

// SAFETY: the structs of the same names in `topk.cu` and `extreme.cu`.
unsafe impl Argument for Select {}
// SAFETY: as above.
unsafe impl Argument for Extreme {}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = modules_of(
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
    all.extend(modules_of(
        File::Extreme,
        &[
            c"extreme_tiles",
            c"extreme_before",
            c"extreme_apply",
            c"extreme_columns",
        ],
    ));
    all
}

/// Selects the first few elements of long lines, or one element of each.
///
/// # Safety
/// The lines are on this device, and nothing else uses the results.
pub(super) unsafe fn select(
    call: &ModuleCall,
    sort: &Sort,
    lines: KeyedLines,
    dtype: DType,
    task: u32,
    results: usize,
    ignore_nan: bool,
) -> Result<()> {
    let (count, len) = lines.sizes();
    let (tiles, position) = (len.div_ceil(SELECT_TILE), call.position());
    let kept = if task == FIRST { count * results } else { 0 };
    let states = call.scratch([count, 16])?;
    let nans = call.zeros([count, 8])?;
    let counts = call.zeros([count, DIGITS, 8])?;
    let (before, equal) = (
        call.scratch([count, tiles, position])?,
        call.scratch([count, tiles, position])?,
    );
    let (keys, places) = (
        call.scratch([kept, dtype.size()])?,
        call.scratch([kept, position])?,
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
    // SAFETY: the caller's promise, here and below. The workspaces have room for each line, tile and digit.
    unsafe {
        if task == MEDIAN && dtype.is_float() {
            call.blocks(c"select_nans", cells, &args)?;
        }
        call.each(c"select_start", count, &args)?;
        for shift in (0..8 * dtype.size() as u32).step_by(8).rev() {
            args.shift = shift;
            call.blocks(c"select_counts", cells, &args)?;
            call.blocks(c"select_digit", count, &args)?;
        }
        call.blocks(c"select_tiles", cells, &args)?;
        call.blocks(c"select_starts", count, &args)?;
        call.blocks(c"select_keep", cells, &args)?;
    }
    if task != FIRST {
        return Ok(());
    }
    // Sort the selected elements, which are in the order of positions. Each line has `results` of them.
    let kept = lines.of_length(results);
    let from = Keyed {
        keys: keys.as_ptr(),
        places: places.as_ptr(),
    };
    // SAFETY: the caller's promise.
    unsafe {
        if sort.is_short(results) {
            return sort.short(ShortSort::new(kept, from, FIRST, results));
        }
        sort.sort_long(kept, from, results).map(drop)
    }
}

/// Computes the greatest or smallest element so far.
///
/// # Safety
/// See [`select`].
pub(super) unsafe fn extreme(
    call: &ModuleCall,
    dtype: DType,
    lines: KeyedLines,
    across: bool,
) -> Result<()> {
    let (count, len) = lines.sizes();
    let tiles = len.div_ceil(TILE);
    let rest = if tiles > 1 { count * tiles } else { 0 };
    let (keys, places) = (
        call.scratch([rest, dtype.size()])?,
        call.scratch([rest, call.position()])?,
    );
    let args = Extreme {
        lines,
        keys: keys.as_ptr(),
        places: places.as_ptr(),
        tiles: tiles as u64,
    };
    // SAFETY: the caller's promise. The workspaces have room for each line and tile.
    unsafe {
        if across && count >= COLUMNS {
            return call.each(c"extreme_columns", count, &args);
        }
        if tiles > 1 {
            call.blocks(c"extreme_tiles", count * tiles, &args)?;
            call.blocks(c"extreme_before", count, &args)?;
        }
        call.blocks(c"extreme_apply", count * tiles, &args)
    }
}

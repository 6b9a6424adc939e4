//! Reductions of parts of a dim: groups of positions, and windows.
//!
//! Every part has its own states, so that its elements are read in place: those of a leading dim as tiles of columns, those
//! of the last dim as gathered blocks. Work is divided by the shape alone, and the elements of a part are added in the
//! order of their positions, so results do not depend on the number of threads.

use nomina_core::DType;

use super::drive::{TILE, line};
use super::load::{Copy2, copy2};
use super::plan::{LinePlan, Loop, offsets};
use super::reducer::{BLOCK, COLS, ROWS, Reducer};
use super::split::{SmallScratch, try_for_each};
use crate::job::{DimParts, PartsJob};
use crate::memory::NoMemory;
use crate::shape::product;

/// Fewer adjacent rows than this are gathered with others before they are reduced.
const RUN: usize = 8;
/// The number of cells below which columns are divided further.
const FEW: usize = 64;

/// Reduces each part of a dim of an operand with elements. Returns false, without having done anything, for windows along
/// adjacent elements.
///
/// # Safety
/// The operand and the results are in bounds, the positions within the dim, and nobody else accesses the results
/// meanwhile.
pub(crate) unsafe fn execute(reducer: &dyn Reducer, job: &PartsJob<'_>) -> Result<bool, NoMemory> {
    let mark: crate::SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let plan = LinePlan::new(job.shape, job.strides, job.out, &mark, true);
    let kept = *plan.kept.last().unwrap_or(&Loop {
        size: 1,
        src: 0,
        dst: 0,
    });
    let step = job.strides[job.dim];
    let same = reducer.load() == job.dtype;
    let columns = kept.size > 1 && kept.src.abs() < step.abs();
    let (parts, len) = match job.parts {
        DimParts::Groups { order, ends } => (ends.len(), order.len() / ends.len().max(1)),
        DimParts::Windows { .. } if !columns => return Ok(false),
        DimParts::Windows { size, .. } => (job.shape[job.dim], size),
    };
    let width = if columns {
        let rounds = product([plan.outputs() / kept.size, parts]);
        let wide = same && kept.src == 1 && rounds >= FEW;
        let most = if wide { reducer.most_cols() } else { COLS };
        kept.size.div_ceil(kept.size.div_ceil(most))
    } else {
        1
    };
    let blocks = kept.size.div_ceil(width);
    let walk = PartsWalk {
        reducer,
        job,
        plan: &plan,
        kept,
        step,
        same,
    };
    let cells = product([plan.outputs() / kept.size, blocks, parts]);
    let work = product([width, len.max(1)]);
    try_for_each(cells, work, &|index| {
        let (part, index) = (index % parts, index / parts);
        let (start, row) = (product([index % blocks, width]), index / blocks);
        let n = width.min(kept.size - start);
        // SAFETY: guaranteed by the caller; each cell owns its results.
        unsafe { walk.reduce(columns, part, row, start, n) }
    })?;
    Ok(true)
}

/// The positions of a part.
#[derive(Clone, Copy)]
enum PartPositions<'a> {
    List(&'a [usize]),
    /// The first position, and their number.
    Range(usize, usize),
}

impl PartPositions<'_> {
    fn len(self) -> usize {
        match self {
            Self::List(list) => list.len(),
            Self::Range(_, len) => len,
        }
    }

    fn get(self, at: usize) -> usize {
        match self {
            Self::List(list) => list[at],
            Self::Range(first, _) => first + at,
        }
    }

    /// Returns the number of consecutive positions from `at` on, at most `most`.
    fn run(self, at: usize, most: usize) -> usize {
        match self {
            Self::Range(_, len) => most.min(len - at),
            Self::List(list) => {
                let mut len = 1;
                while len < most && list.get(at + len) == Some(&(list[at] + len)) {
                    len += 1;
                }
                len
            }
        }
    }
}

/// The loops over the parts of a job.
struct PartsWalk<'a> {
    reducer: &'a dyn Reducer,
    job: &'a PartsJob<'a>,
    plan: &'a LinePlan,
    /// The innermost loop over the other dims.
    kept: Loop,
    /// The stride of the operand along the dim.
    step: isize,
    /// Whether elements need no conversion.
    same: bool,
}

// SAFETY: the operand is only read; each task writes its own results.
unsafe impl Sync for PartsWalk<'_> {}

impl PartsWalk<'_> {
    /// Returns the positions of a part.
    fn positions(&self, part: usize) -> PartPositions<'_> {
        match self.job.parts {
            DimParts::Groups { order, ends } => {
                let first = part.checked_sub(1).map_or(0, |before| ends[before]);
                PartPositions::List(&order[first..ends[part]])
            }
            DimParts::Windows { size, left, .. } => {
                let first = part.saturating_sub(left);
                let end = (part + size).saturating_sub(left);
                let end = end.min(self.job.shape[self.job.dim]);
                PartPositions::Range(first, end.saturating_sub(first))
            }
        }
    }

    /// Reduces a part in `n` adjacent lines from `start` on.
    unsafe fn reduce(
        &self,
        columns: bool,
        part: usize,
        row: usize,
        start: usize,
        n: usize,
    ) -> Result<(), NoMemory> {
        let (job, reducer) = (self.job, self.reducer);
        let positions = self.positions(part);
        let outer = &self.plan.kept[..self.plan.kept.len().saturating_sub(1)];
        let (src, dst) = offsets(outer, row);
        let start = start as isize;
        let src = self.plan.src + src + start * self.kept.src;
        let dst = self.plan.dst + dst + start * self.kept.dst;
        let dst = dst + part as isize * job.out[job.dim];
        let dtype = job.values_dtype;
        let to = job.values.wrapping_offset(dst * dtype.size() as isize);
        if let DimParts::Windows { size, whole, .. } = job.parts
            && whole
            && positions.len() < size
        {
            let (nan, step) = (f64::NAN, self.kept.dst);
            // SAFETY: the caller's promise for the results; the number is read for each of them.
            unsafe {
                copy2(Copy2 {
                    src: (&raw const nan).cast(),
                    from: DType::F64,
                    strides: [0, 0],
                    dst: to,
                    to: dtype,
                    into: [0, step],
                    rows: 1,
                    cols: n,
                });
            }
            return Ok(());
        }
        let mut states = SmallScratch::bytes([n, reducer.state_size()])?;
        let mut values = SmallScratch::bytes([n, reducer.out().size()])?;
        let (states, values) = (states.as_mut_ptr(), values.as_mut_ptr());
        // SAFETY: the scratches have room for `n` states and results; positions are within the operand, by the caller.
        unsafe {
            reducer.init(states, n);
            if columns {
                self.add_columns(states, src, n, positions)?;
            } else {
                self.add_line(states, src, positions)?;
            }
            let count = positions.len() as f64;
            reducer.finish(states, n, count, values, std::ptr::null_mut());
            line(values, reducer.out(), to, dtype, self.kept.dst, n);
        }
        Ok(())
    }

    /// Returns the address of an element of the operand.
    fn at(&self, offset: isize) -> *const u8 {
        let size = self.job.dtype.size() as isize;
        self.job.x.wrapping_offset(offset * size)
    }

    /// Adds the rows at the positions to `n` states; the first column starts at `src`.
    unsafe fn add_columns(
        &self,
        states: *mut u8,
        src: isize,
        n: usize,
        positions: PartPositions<'_>,
    ) -> Result<(), NoMemory> {
        let load = self.reducer.load();
        let tall = (TILE / n).clamp(1, ROWS);
        let in_place = self.same && self.kept.src == 1;
        let mut tile: Option<SmallScratch> = None;
        let mut at = 0;
        while at < positions.len() {
            let left = positions.len() - at;
            let row = |position: usize| self.at(src + position as isize * self.step);
            let rows = positions.run(at, ROWS);
            if in_place && (rows >= RUN.min(tall) || rows == left) {
                // SAFETY: these rows are within the operand, and their elements adjacent.
                unsafe {
                    self.reducer
                        .cols(states, row(positions.get(at)), self.step, rows, n, at);
                }
                at += rows;
                continue;
            }
            let rows = tall.min(left);
            if tile.is_none() {
                tile = Some(SmallScratch::bytes([tall, n, load.size()])?);
            }
            let Some(tile) = &mut tile else {
                break;
            };
            let tile = tile.as_mut_ptr();
            let mut copied = 0;
            while copied < rows {
                let many = positions.run(at + copied, rows - copied);
                // SAFETY: these rows are within the operand, and the tile has room for them.
                unsafe {
                    copy2(Copy2 {
                        src: row(positions.get(at + copied)),
                        from: self.job.dtype,
                        strides: [self.step, self.kept.src],
                        dst: tile.add(copied * n * load.size()),
                        to: load,
                        into: [n as isize, 1],
                        rows: many,
                        cols: n,
                    });
                }
                copied += many;
            }
            // SAFETY: the tile holds these rows.
            unsafe { self.reducer.cols(states, tile, n as isize, rows, n, at) };
            at += rows;
        }
        Ok(())
    }

    /// Adds the elements at the positions along one line to a state.
    unsafe fn add_line(
        &self,
        state: *mut u8,
        src: isize,
        positions: PartPositions<'_>,
    ) -> Result<(), NoMemory> {
        let (from, load) = (self.job.dtype, self.reducer.load());
        let most = BLOCK.min(positions.len());
        let mut gathered: Option<[SmallScratch; 2]> = None;
        let mut at = 0;
        while at < positions.len() {
            let left = positions.len() - at;
            let element = |position: usize| self.at(src + position as isize * self.step);
            let adjacent = positions.run(at, BLOCK);
            if self.same && self.step == 1 && (adjacent >= ROWS || adjacent == left) {
                // SAFETY: these elements are within the operand and adjacent.
                unsafe {
                    self.reducer
                        .row(state, element(positions.get(at)), adjacent, at)
                };
                at += adjacent;
                continue;
            }
            let n = BLOCK.min(left);
            if gathered.is_none() {
                let converted = usize::from(!self.same) * most;
                gathered = Some([
                    SmallScratch::bytes([most, from.size()])?,
                    SmallScratch::bytes([converted, load.size()])?,
                ]);
            }
            let Some([plain, converted]) = &mut gathered else {
                break;
            };
            let block = plain.as_mut_ptr();
            // SAFETY: the positions are within the operand, and the blocks have room for `n` elements.
            unsafe {
                gather(
                    from.size(),
                    block,
                    (at..at + n).map(|i| element(positions.get(i))),
                );
                let block = if self.same {
                    block
                } else {
                    let to = converted.as_mut_ptr();
                    copy2(Copy2 {
                        src: block,
                        from,
                        strides: [0, 1],
                        dst: to,
                        to: load,
                        into: [0, 1],
                        rows: 1,
                        cols: n,
                    });
                    to
                };
                self.reducer.row(state, block, n, at);
            }
            at += n;
        }
        Ok(())
    }
}

/// Copies single elements of `size` bytes to a block.
///
/// # Safety
/// The elements are readable, and the block has room for them.
unsafe fn gather(size: usize, block: *mut u8, elements: impl Iterator<Item = *const u8>) {
    macro_rules! of {
        ($t:ty) => {
            for (i, element) in elements.enumerate() {
                // SAFETY: guaranteed by the caller; an operand need not be aligned.
                unsafe {
                    block
                        .cast::<$t>()
                        .add(i)
                        .write(element.cast::<$t>().read_unaligned())
                };
            }
        };
    }
    match size {
        1 => of!(u8),
        2 => of!(u16),
        4 => of!(u32),
        8 => of!(u64),
        _ => of!(u128),
    }
}

/// Returns the reducer of an extreme that skips NaN; `None` for dtypes without NaN.
pub(crate) fn find_present(greatest: bool, compute: DType) -> Option<Box<dyn Reducer>> {
    use super::fold::{PresentMax, PresentMin};
    use super::folding::Plain;
    Some(match (crate::dispatch::arithmetic(compute), greatest) {
        (DType::F32, true) => Box::new(Plain::<PresentMax<f32>>::NEW),
        (DType::F32, false) => Box::new(Plain::<PresentMin<f32>>::NEW),
        (DType::F64, true) => Box::new(Plain::<PresentMax<f64>>::NEW),
        (DType::F64, false) => Box::new(Plain::<PresentMin<f64>>::NEW),
        _ => return None,
    })
}

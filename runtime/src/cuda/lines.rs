//! How kernels walk lines: the elements of one result each, of a reduction, a softmax, a norm.
//!
//! The walk and the grid follow from sizes and strides alone, so that results do not depend on the
//! device.

use std::ffi::CStr;

use nomina_core::{DType, Result};

use super::Cuda;
use super::index::{Strided, WIDE};
use super::launch::{Argument, Grid};
use super::source::Source;
use crate::SmallVec;

/// Threads of a block.
const BLOCK: usize = 256;
/// About how many threads keep a device busy.
const BUSY: usize = 1 << 17;
/// The most chunks of a line.
const CHUNKS: usize = 1024;
/// The most bytes of the states that one thread of a column kernel has.
const STATES: usize = 256;
/// The most elements of a line that is held in registers: sixteen in each thread of a block.
const HELD: usize = 16 << 10;

/// The mirror of `Lines` in `lines.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<const N: usize> {
    pub(super) x: *const u8,
    pub(super) states: *mut u8,
    outputs: u64,
    count: u64,
    chunk: u64,
    kept: Strided<N>,
    along: Strided<N>,
}

/// One dim: its size, and each operand's step.
type Dim<const N: usize> = (usize, [isize; N]);

/// The dims of lines, each innermost first, neighbours merged where all operands allow.
#[derive(Clone, Debug)]
pub(super) struct LineDims<const N: usize> {
    pub(super) outputs: usize,
    pub(super) count: usize,
    pub(super) kept: SmallVec<[Dim<N>; 4]>,
    pub(super) along: SmallVec<[Dim<N>; 4]>,
}

impl<const N: usize> LineDims<N> {
    /// Of a shape whose marked dims are walked along a line. Each operand has strides, and what one
    /// of them is. With `ordered`, elements of a line are counted in row-major order; else they come
    /// in the order of memory, as lines do.
    pub(super) fn new(
        shape: &[usize],
        marked: &[bool],
        operands: [(&[isize], usize); N],
        ordered: bool,
    ) -> Self {
        let list = |walked: bool, sorted: bool| {
            let mut dims: SmallVec<[Dim<N>; 4]> = (0..shape.len())
                .rev()
                .filter(|&dim| marked[dim] == walked && shape[dim] != 1)
                .map(|dim| {
                    let step = |(strides, unit): (&[isize], usize)| strides[dim] * unit as isize;
                    (shape[dim], operands.map(step))
                })
                .collect();
            if dims.iter().any(|dim| dim.0 == 0) {
                // No element: no step.
                dims = SmallVec::from_slice(&[(0, [0; N])]);
            }
            if sorted {
                // What is the same everywhere goes outside.
                dims.sort_by_key(|(_, steps)| (steps[0] == 0, steps[0].unsigned_abs()));
            }
            merged(&dims)
        };
        let size = |walked: bool| {
            let dims = (0..shape.len()).filter(|&dim| marked[dim] == walked);
            dims.map(|dim| shape[dim]).product()
        };
        Self {
            outputs: size(false),
            count: size(true),
            kept: list(false, true),
            along: list(true, !ordered),
        }
    }

    /// Whether a line is one run.
    pub(super) fn is_plain(&self) -> bool {
        self.along.len() <= 1
    }

    /// Whether positions are counted in 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.outputs >= WIDE || self.count >= WIDE
    }

    /// The step of an operand along lines, innermost.
    pub(super) fn inner(&self, operand: usize) -> isize {
        self.along.first().map_or(0, |dim| dim.1[operand])
    }

    /// Whether neighbours in a line are nearer to each other than lines are.
    fn has_rows(&self) -> bool {
        let step = |dim: &Dim<N>| match dim.1[0].unsigned_abs() {
            0 => usize::MAX,
            step => step,
        };
        let kept = self.kept.first().map_or(usize::MAX, step);
        self.along.first().is_some_and(|dim| step(dim) <= kept) || self.kept.is_empty()
    }

    /// Whether `pack` neighbours of an operand, along lines or from line to line, always are one
    /// aligned access.
    fn is_packed(&self, operand: usize, at: *const u8, size: usize, pack: usize) -> bool {
        let rows = self.has_rows();
        let inner = if rows { &self.along } else { &self.kept };
        let Some(&(len, steps)) = inner.first() else {
            return false;
        };
        let bytes = (pack * size).min(16);
        let aligned = |step: isize| step.unsigned_abs().is_multiple_of(bytes);
        let others = self.along.iter().chain(&self.kept);
        len.is_multiple_of(pack)
            && steps[operand] == size as isize
            && (at as usize).is_multiple_of(bytes)
            && others
                .filter(|dim| dim.1 != steps || dim.0 != len)
                .all(|dim| aligned(dim.1[operand]))
    }

    /// As kernels take it; `None` for more dims than they walk.
    fn lines(&self, x: *const u8, states: *mut u8, chunk: usize) -> Option<Lines<N>> {
        Some(Lines {
            x,
            states,
            outputs: self.outputs as u64,
            count: self.count as u64,
            chunk: chunk.max(1) as u64,
            kept: Strided::of(self.kept.iter().copied())?,
            along: Strided::of(self.along.iter().copied())?,
        })
    }
}

/// Neighbours that continue each other in all operands become one.
fn merged<const N: usize>(dims: &[Dim<N>]) -> SmallVec<[Dim<N>; 4]> {
    let mut out: SmallVec<[Dim<N>; 4]> = SmallVec::new();
    for &(size, steps) in dims {
        match out.last_mut() {
            Some(inner) if (0..N).all(|n| steps[n] == inner.1[n] * inner.0 as isize) => {
                inner.0 *= size;
            }
            _ => out.push((size, steps)),
        }
    }
    out
}

/// An operand besides the first, as it is written, or read beside the elements that are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) at: *const u8,
    pub(super) size: usize,
    /// Whether any step will do, or only that of neighbours.
    pub(super) any: bool,
}

/// What a kernel of lines is told apart by, and how it is started.
#[derive(Clone, Debug)]
pub(super) struct Choice<const N: usize> {
    /// Whether the threads of a row of the block walk one line, or lines are side by side.
    pub(super) rows: bool,
    /// How many elements are read at once.
    pub(super) pack: usize,
    /// How many chunks a line has.
    pub(super) chunks: usize,
    pub(super) grid: Grid,
    pub(super) lines: Lines<N>,
    plain: bool,
    wide: bool,
}

/// The next power of two.
fn power(n: usize) -> usize {
    n.max(1).next_power_of_two()
}

impl<const N: usize> Choice<N> {
    /// The way for elements at `x` of a dtype, which go into states of so many bytes. Where elements
    /// are written too, by operands 1 to `beside.len()`.
    pub(super) fn new(
        walk: &LineDims<N>,
        x: *const u8,
        dtype: DType,
        state: usize,
        beside: &[Beside],
    ) -> Option<Self> {
        let size = dtype.size();
        let rows = walk.has_rows();
        let most = match beside {
            [] => 16 / size,
            _ => (16 / size).min(8),
        };
        let fits = |pack: usize| {
            let other = |(i, beside): (usize, &Beside)| {
                let inner = if rows { &walk.along } else { &walk.kept };
                let step = inner.first().map_or(0, |dim| dim.1[i + 1]);
                beside.at.is_null()
                    || (beside.any && step != beside.size as isize)
                    || walk.is_packed(i + 1, beside.at, beside.size, pack)
            };
            walk.is_packed(0, x, size, pack) && beside.iter().enumerate().all(other)
        };
        // A run may begin anywhere where it is only read, if it is long enough to find its middle.
        let long = rows && walk.is_plain() && walk.count * size >= 512 && beside.is_empty();
        let pack = if !rows && most * state > STATES {
            1
        } else if fits(most) || (long && walk.inner(0) == size as isize) {
            most.max(1)
        } else {
            1
        };
        let (grid, chunk, chunks) = if rows {
            along_rows(
                walk.outputs,
                walk.count,
                pack,
                beside.is_empty(),
                state > size.max(4),
            )
        } else {
            across(walk.outputs / pack, walk.count)
        };
        Some(Self {
            rows,
            pack,
            chunks,
            grid,
            lines: walk.lines(x, std::ptr::null_mut(), chunk)?,
            plain: walk.is_plain(),
            wide: walk.is_wide(),
        })
    }

    /// How many elements a thread holds of lines that are read once; those lines have a grid of their
    /// own. `None` for other lines. `double` elements take two registers.
    fn hold(&self, double: bool) -> Option<(i64, Grid)> {
        let (count, outputs) = (self.lines.count as usize, self.lines.outputs as usize);
        let most = if double { HELD / 2 } else { HELD };
        if !(self.rows && self.plain && count <= most) {
            return None;
        }
        let (items, threads) = match count {
            0..=256 => (8, power(count.div_ceil(8))),
            257..=512 => (16, 32),
            513..=1024 => (32, 32),
            _ => (16, power(count.div_ceil(16))),
        };
        Some((items, of_rows(outputs, threads, 1)))
    }

    /// A module for this way.
    pub(super) fn source(&self, source: Source) -> Source {
        let words = |yes: bool| i64::from(yes);
        source
            .word("SHAPE", if self.rows { "ROWS" } else { "COLUMNS" })
            .number("PACK", self.pack as i64)
            .number("PLAIN", words(self.plain))
            .index(self.wide)
    }

    /// A module that merges the states of chunks.
    pub(super) fn merging(&self, source: Source) -> Source {
        chunked(source, self.wide)
    }

    /// Whether the last block of a kernel of rows that has `finish_chunks` merges the chunks; elements are
    /// converted to so many bytes.
    pub(super) fn ends_itself(&self, element: usize) -> bool {
        self.rows && self.lines.outputs == 1 && element <= 4
    }

    /// The grid of such a module's kernel.
    pub(super) fn merge_grid(&self) -> Grid {
        let outputs = self.lines.outputs as usize;
        let threads = if outputs >= 4096 {
            1
        } else {
            power(self.chunks).min(32)
        };
        of_rows(outputs, threads, 1)
    }

    /// The bytes of the states of all chunks, as factors.
    pub(super) fn scratch(&self, state: usize) -> [usize; 3] {
        [self.chunks, self.lines.outputs as usize, state]
    }
}

impl<const N: usize> Choice<N> {
    /// Starts the kernels that write an element for each that they read: of lines that are held in
    /// registers, of rows, or of columns, as `entries` has them; `lines` is the walk in `args`.
    ///
    /// # Safety
    /// As [`Cuda::launch`]; a state has so many bytes. `double` says whether elements are f64.
    #[expect(
        clippy::too_many_arguments,
        reason = "what tells the three kernels apart"
    )]
    pub(super) unsafe fn write<A: Argument>(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        module: Source,
        [held, rows, columns]: [&'static CStr; 3],
        (state, double): (usize, bool),
        args: &mut A,
        lines: impl Fn(&mut A) -> &mut Lines<N>,
    ) -> Result<()> {
        if let Some((items, grid)) = self.hold(double) {
            let module = holding(module, items, self.pack).index(self.wide);
            let function = cuda.function(op, module, held)?;
            // SAFETY: the caller's promise.
            return unsafe { cuda.launch(op, function, grid, args) };
        }
        let states = match self.chunks {
            1 => None,
            _ => Some(cuda.scratch(op, self.scratch(state))?),
        };
        if let Some(states) = &states {
            lines(args).states = states.as_ptr();
        }
        let phases: &[_] = if states.is_some() {
            &["STATES", "WRITE"]
        } else {
            &["FUSED"]
        };
        for phase in phases {
            let module = self.source(module.clone().word("PHASE", phase));
            let function = cuda.function(op, module, if self.rows { rows } else { columns })?;
            // SAFETY: the caller's promise; the scratch has a state for each chunk.
            unsafe { cuda.launch(op, function, self.grid, args)? };
        }
        Ok(())
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

/// Cuts a line into at most so many chunks of a multiple of `pack`: the length of one, and how many.
fn cut(count: usize, chunks: usize, pack: usize) -> (usize, usize) {
    let chunk = count
        .div_ceil(chunks.clamp(1, CHUNKS))
        .next_multiple_of(pack);
    (chunk, count.div_ceil(chunk.max(1)).max(1))
}

/// `heavy` states are larger than an element, and dear to merge: a warp takes a line alone from fewer lines on, as
/// its tree has five levels where that of each warp of a block has eight.
fn along_rows(
    outputs: usize,
    count: usize,
    pack: usize,
    once: bool,
    heavy: bool,
) -> (Grid, usize, usize) {
    let packs = count.div_ceil(pack);
    // Four reads a thread, and as many threads as read what memory gives at once.
    let mut threads = power(packs.div_ceil(4)).clamp(power(packs).min(8), 32);
    let busy = if heavy { BUSY / 2 } else { BUSY };
    // Lines that are read once have no more threads than that takes: all of them run at a time, with several reads
    // each. Those that are read again while the cache has them are fewer at a time, with more threads.
    while (32..BLOCK).contains(&threads) && packs > threads * 8 && outputs * threads < busy {
        threads = if once { 2 * threads } else { BLOCK };
    }
    let wanted = (BUSY / (outputs * threads)).min(packs / (threads * 8));
    let (chunk, chunks) = cut(count, wanted, pack);
    (of_rows(outputs, threads, chunks), chunk, chunks)
}

/// Of groups of lines side by side.
fn across(groups: usize, count: usize) -> (Grid, usize, usize) {
    let tall = (BLOCK / power(groups).min(32)).min(power(count.div_ceil(4)));
    let width = power(groups).min(BLOCK / tall);
    let blocks = groups.div_ceil(width);
    let wanted = (BUSY / (blocks * BLOCK)).min(count / (tall * 16));
    let (chunk, chunks) = cut(count, wanted, 1);
    let mut grid = Grid::blocks(blocks, width as u32);
    grid.threads[1] = tall as u32;
    grid.blocks[1] = chunks as u32;
    (grid, chunk, chunks)
}

/// The modules of ways that lines of a dtype may lie, with whether that is by rows: `source` is one but
/// for that. `packs` are how many elements are read at once, the same twice being one; `plains` whether
/// lines are one run.
pub(super) fn ways(
    source: &Source,
    mut packs: [usize; 2],
    plains: &[bool],
    wide: bool,
) -> Vec<(Source, bool)> {
    let mut all = Vec::new();
    packs = packs.map(|pack| pack.max(1));
    let different = 1 + usize::from(packs[0] != packs[1]);
    for shape in ["ROWS", "COLUMNS"] {
        for &pack in &packs[..different] {
            for &plain in plains {
                let way = source
                    .clone()
                    .word("SHAPE", shape)
                    .number("PACK", pack as i64)
                    .number("PLAIN", i64::from(plain));
                all.push((way.index(wide), shape == "ROWS"));
            }
        }
    }
    all
}

fn holding(source: Source, items: i64, pack: usize) -> Source {
    source
        .word("SHAPE", "HELD")
        .number("ITEMS", items)
        .number("PACK", pack as i64)
        .number("PLAIN", 1)
}

/// The modules of lines that are held in registers.
pub(super) fn held(source: &Source, pack: usize) -> impl Iterator<Item = Source> {
    [8, 16, 32]
        .map(|items| holding(source.clone(), items, pack).index(false))
        .into_iter()
}

/// The module that merges chunks.
pub(super) fn chunked(source: Source, wide: bool) -> Source {
    source
        .word("SHAPE", "CHUNKS")
        .number("PACK", 1)
        .number("PLAIN", 1)
        .index(wide)
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;

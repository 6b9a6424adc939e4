//! Lines of elements, of reductions, softmax and normalisations: the dims along and across lines, and the kernels'
//! grids.
//!
//! All of it follows from sizes and strides alone, so that results do not depend on the device.

use std::ffi::CStr;

use nomina_core::{DType, Result};

use super::Cuda;
use super::index::{StridedIndex, WIDE};
use super::launch::{Argument, Grid};
use super::source::Source;
use crate::SmallVec;

/// The threads of a block.
const BLOCK: usize = 256;
/// About the number of threads that keeps a device busy.
const BUSY: usize = 1 << 17;
/// The most chunks of a line.
const CHUNKS: usize = 1024;
/// The most bytes of states in one thread of a column kernel.
const STATES: usize = 256;
/// The adjacent lines that a thread of a column kernel reduces, if they are too few for a whole access.
pub(super) const PAIR: usize = 2;
/// The most elements of a line that is kept in registers: sixteen for each thread of the largest block.
const HELD: usize = 16 << 10;

/// Lines in the form of kernels: `Lines` of `lines.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<const N: usize> {
    pub(super) x: *const u8,
    pub(super) states: *mut u8,
    outputs: u64,
    count: u64,
    chunk: u64,
    kept: StridedIndex<N>,
    along: StridedIndex<N>,
}

/// The size of a dim, and each operand's stride in bytes.
type LineDim<const N: usize> = (usize, [isize; N]);

/// The dims across lines (`kept`) and along lines, innermost first. Dims that are contiguous in all operands are
/// merged.
#[derive(Clone, Debug)]
pub(super) struct LineDims<const N: usize> {
    pub(super) outputs: usize,
    pub(super) count: usize,
    pub(super) kept: SmallVec<[LineDim<N>; 4]>,
    pub(super) along: SmallVec<[LineDim<N>; 4]>,
}

impl<const N: usize> LineDims<N> {
    /// Splits the dims of a shape; the marked ones are along lines. Each operand has strides and the unit of a stride.
    /// With `ordered`, the elements of a line are in row-major order; otherwise in the order of memory, like the lines.
    pub(super) fn new(
        shape: &[usize],
        marked: &[bool],
        operands: [(&[isize], usize); N],
        ordered: bool,
    ) -> Self {
        let list = |walked: bool, sorted: bool| {
            let mut dims: SmallVec<[LineDim<N>; 4]> = (0..shape.len())
                .rev()
                .filter(|&dim| marked[dim] == walked && shape[dim] != 1)
                .map(|dim| {
                    let step = |(strides, unit): (&[isize], usize)| strides[dim] * unit as isize;
                    (shape[dim], operands.map(step))
                })
                .collect();
            if dims.iter().any(|dim| dim.0 == 0) {
                // No elements: strides do not matter.
                dims = SmallVec::from_slice(&[(0, [0; N])]);
            }
            if sorted {
                // Broadcast dims are outermost.
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

    /// Returns whether a line has a single stride.
    pub(super) fn is_plain(&self) -> bool {
        self.along.len() <= 1
    }

    /// Returns whether positions need 64 bits.
    pub(super) fn is_wide(&self) -> bool {
        self.outputs >= WIDE || self.count >= WIDE
    }

    /// Returns the innermost stride of an operand along lines.
    pub(super) fn inner(&self, operand: usize) -> isize {
        self.along.first().map_or(0, |dim| dim.1[operand])
    }

    /// Returns whether adjacent elements of a line are closer to each other than adjacent lines.
    fn has_rows(&self) -> bool {
        let step = |dim: &LineDim<N>| match dim.1[0].unsigned_abs() {
            0 => usize::MAX,
            step => step,
        };
        let kept = self.kept.first().map_or(usize::MAX, step);
        self.along.first().is_some_and(|dim| step(dim) <= kept) || self.kept.is_empty()
    }

    /// Returns whether `pack` adjacent elements of an operand, along or across lines, are always one aligned access.
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

    /// Converts to the form of kernels; `None` for more dims than they support.
    fn lines(&self, x: *const u8, states: *mut u8, chunk: usize) -> Option<Lines<N>> {
        Some(Lines {
            x,
            states,
            outputs: self.outputs as u64,
            count: self.count as u64,
            chunk: chunk.max(1) as u64,
            kept: StridedIndex::from_dims(self.kept.iter().copied())?,
            along: StridedIndex::from_dims(self.along.iter().copied())?,
        })
    }
}

/// Merges dims that are contiguous in all operands.
fn merged<const N: usize>(dims: &[LineDim<N>]) -> SmallVec<[LineDim<N>; 4]> {
    let mut out: SmallVec<[LineDim<N>; 4]> = SmallVec::new();
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

/// An operand besides the first: one that is written, or read for the elements that are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) at: *const u8,
    pub(super) size: usize,
    /// Whether any stride is supported, and not only contiguous elements.
    pub(super) any: bool,
}

/// The variant of a kernel of lines, and its launch.
#[derive(Clone, Debug)]
pub(super) struct Choice<const N: usize> {
    /// Whether adjacent threads read the same line; otherwise they read adjacent lines.
    pub(super) rows: bool,
    /// The number of elements in an access.
    pub(super) pack: usize,
    /// The number of chunks of a line.
    pub(super) chunks: usize,
    pub(super) grid: Grid,
    pub(super) lines: Lines<N>,
    plain: bool,
    wide: bool,
}

/// Returns the next power of two.
fn power(n: usize) -> usize {
    n.max(1).next_power_of_two()
}

impl<const N: usize> Choice<N> {
    /// Chooses the variant for elements of a dtype at `x`, with states of `state` bytes. `beside` are the operands from
    /// 1 on of kernels that also write elements. `None` for more dims than kernels support.
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
        // A contiguous line that is only read may be unaligned: the kernel reads its ends by elements, if it is long
        // enough.
        let long = rows && walk.is_plain() && walk.count * size >= 512 && beside.is_empty();
        let pack = if !rows && most * state > STATES {
            1
        } else if fits(most) || (long && walk.inner(0) == size as isize) {
            most.max(1)
        } else if !rows && beside.is_empty() && most > 2 && fits(PAIR) {
            PAIR
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

    /// Returns the number of elements in the registers of a thread, and the grid, for lines that fit in registers.
    /// `None` for other lines. `double` elements take two registers.
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

    /// Returns the module of this variant.
    pub(super) fn source(&self, source: Source) -> Source {
        let words = |yes: bool| i64::from(yes);
        source
            .word("SHAPE", if self.rows { "ROWS" } else { "COLUMNS" })
            .number("PACK", self.pack as i64)
            .number("PLAIN", words(self.plain))
            .index(self.wide)
    }

    /// Returns the module that merges the states of chunks.
    pub(super) fn merging(&self, source: Source) -> Source {
        chunked(source, self.wide)
    }

    /// Returns whether the last block of a row kernel with `finish_chunks` merges the chunks; elements are converted to
    /// `element` bytes.
    pub(super) fn ends_itself(&self, element: usize) -> bool {
        self.rows && self.lines.outputs == 1 && element <= 4
    }

    /// Returns the grid of the kernel that merges chunks.
    pub(super) fn merge_grid(&self) -> Grid {
        let outputs = self.lines.outputs as usize;
        let threads = if outputs >= 4096 {
            1
        } else {
            power(self.chunks).min(32)
        };
        of_rows(outputs, threads, 1)
    }

    /// Returns the factors of the bytes of all chunks' states.
    pub(super) fn scratch(&self, state: usize) -> [usize; 3] {
        [self.chunks, self.lines.outputs as usize, state]
    }
}

impl<const N: usize> Choice<N> {
    /// Starts the kernels that write an element for each that they read. The entries are for lines in registers, rows
    /// and columns; `lines` returns the lines in `args`. `state` is the bytes of a state, and `double` whether elements
    /// are f64.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
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
            // SAFETY: the caller's promise; the workspace has a state for each chunk.
            unsafe { cuda.launch(op, function, self.grid, args)? };
        }
        Ok(())
    }
}

/// Returns a grid for lines of `threads` threads each, with a y for each chunk.
fn of_rows(outputs: usize, threads: usize, chunks: usize) -> Grid {
    let lines = if threads > 32 { 1 } else { BLOCK / threads };
    let mut grid = Grid::blocks(outputs.div_ceil(lines), threads as u32);
    grid.threads[1] = lines as u32;
    grid.blocks[1] = chunks as u32;
    grid
}

/// Cuts a line into at most `chunks` chunks: returns the length of a chunk, a multiple of `pack`, and their number.
fn cut(count: usize, chunks: usize, pack: usize) -> (usize, usize) {
    let chunk = count
        .div_ceil(chunks.clamp(1, CHUNKS))
        .next_multiple_of(pack);
    (chunk, count.div_ceil(chunk.max(1)).max(1))
}

/// Returns the grid, the length of a chunk and the number of chunks for a row kernel.
///
/// `heavy` states are larger than an element and expensive to merge. A single warp then takes a line already for fewer
/// lines, because its tree has five levels, while that of a block has eight.
fn along_rows(
    outputs: usize,
    count: usize,
    pack: usize,
    once: bool,
    heavy: bool,
) -> (Grid, usize, usize) {
    let packs = count.div_ceil(pack);
    // Four reads for each thread, and at least the threads that read one transaction of memory.
    let mut threads = power(packs.div_ceil(4)).clamp(power(packs).min(8), 32);
    let busy = if heavy { BUSY / 2 } else { BUSY };
    // Lines that are read once have no more threads than needed to keep the device busy: all lines are read at a time,
    // with several reads for each thread. Lines that are read again from the cache have more threads, and fewer lines
    // at a time.
    while (32..BLOCK).contains(&threads) && packs > threads * 8 && outputs * threads < busy {
        threads = if once { 2 * threads } else { BLOCK };
    }
    let wanted = (BUSY / (outputs * threads)).min(packs / (threads * 8));
    let (chunk, chunks) = cut(count, wanted, pack);
    (of_rows(outputs, threads, chunks), chunk, chunks)
}

/// Like [`along_rows`], but for a column kernel with `groups` groups of adjacent lines.
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

/// Lists the variants of a module for layouts of lines, each with whether it is a row kernel. `packs` are the numbers
/// of elements in an access, the most first, which may be equal; only columns have pairs. `plains` are the values of
/// whether lines have a single stride.
pub(super) fn ways(
    source: &Source,
    packs: &[usize],
    plains: &[bool],
    wide: bool,
) -> Vec<(Source, bool)> {
    let mut all = Vec::new();
    for rows in [true, false] {
        for (i, &pack) in packs.iter().enumerate() {
            let pair = i > 0 && pack == PAIR;
            if pack > packs[0] || packs[..i].contains(&pack) || (pair && rows) {
                continue;
            }
            for &plain in plains {
                let way = source
                    .clone()
                    .word("SHAPE", if rows { "ROWS" } else { "COLUMNS" })
                    .number("PACK", pack as i64)
                    .number("PLAIN", i64::from(plain));
                all.push((way.index(wide), rows));
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

/// Lists the variants of a module for lines in registers.
pub(super) fn held(source: &Source, pack: usize) -> impl Iterator<Item = Source> {
    [8, 16, 32]
        .map(|items| holding(source.clone(), items, pack).index(false))
        .into_iter()
}

/// Returns the variant of a module that merges chunks.
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

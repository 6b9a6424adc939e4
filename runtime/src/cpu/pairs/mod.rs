//! Reductions of pairs of elements of two operands: covariances, correlations, weighted means.
//!
//! The elements are read once. A tile of some rows is added at a time, in `f64` and each column on its own; a contiguous line
//! is a tile of a few columns, which are merged at the end. Work is divided by the shape alone, and tiles are added in
//! order, so results do not depend on the number of threads.

mod sums;

use smallvec::SmallVec;

use crate::cpu::parallel::Shared;
use crate::cpu::reduce::plan::{Loop, Loops, merge, offsets};
use crate::cpu::reduce::split::try_for_each;
use crate::job::{PairJob, Pairing};
use crate::memory::{NoMemory, Scratch};
use crate::shape::row_major;
use nomina_core::DType;
use sums::{CoMoments, PairSums, WIDTH, WeightedSums, WidenedPair};

/// The most rows of a tile.
const ROWS: usize = 32;
/// The columns into which a contiguous line is divided.
const LANES: usize = 16;
/// The approximate number of pairs of one task.
const TASK: usize = 1 << 16;
/// The number of cells below which a cell is divided into chunks of tiles.
const FEW: usize = 64;

/// Performs a job.
///
/// # Safety
/// The operands and the results are in bounds, and nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(job: &PairJob<'_>) -> Result<(), NoMemory> {
    macro_rules! by_dtype {
        ($sums:ident<$skips:literal>, $finish:expr) => {
            // SAFETY: guaranteed by the caller: elements of the job's dtype.
            unsafe {
                match job.dtype {
                    DType::F64 => run::<f64, $sums<$skips>>(job, &$finish),
                    _ => run::<f32, $sums<$skips>>(job, &$finish),
                }
            }
        };
        ($sums:ident, $($finish:tt)*) => {
            if job.skips_nan {
                by_dtype!($sums<true>, $($finish)*)
            } else {
                by_dtype!($sums<false>, $($finish)*)
            }
        };
    }
    match job.by {
        Pairing::Correlation => by_dtype!(CoMoments, |sums, at| sums.correlation(at)),
        Pairing::Covariance(correction) => {
            by_dtype!(CoMoments, |sums, at| sums.covariance(at, correction))
        }
        Pairing::WeightedMean => by_dtype!(WeightedSums, |sums, at| sums.mean(at)),
    }
}

const ONE: Loop = Loop {
    size: 1,
    src: 0,
    dst: 0,
};

/// The loops over the pairs of a job; `src` are the strides of the first operand, `dst` those of the second.
struct PairWalk<T> {
    x: Shared,
    y: Shared,
    /// The loops over the results, without the columns of a tile.
    outer: Loops,
    /// The loops over the pairs of one result, without the line that forms a tile.
    reduced: Loops,
    /// The loop whose elements are adjacent: the columns, or the line.
    inner: Loop,
    columns: bool,
    /// The columns of a tile.
    width: usize,
    /// The number of tiles of a cell, and of those along a line.
    tiles: usize,
    per_line: usize,
    element: std::marker::PhantomData<T>,
}

unsafe fn run<T: WidenedPair, S: PairSums>(
    job: &PairJob<'_>,
    finish: &(dyn Fn(&S, usize) -> f64 + Sync),
) -> Result<(), NoMemory> {
    let pairs = PairWalk::<T>::new(job);
    let blocks = if pairs.columns {
        pairs.inner.size.div_ceil(pairs.width)
    } else {
        1
    };
    let outer: usize = pairs.outer.iter().map(|one| one.size).product();
    let cells = outer * blocks;
    let out = Shared(job.out.cast());
    let whole = if pairs.columns { pairs.inner.size } else { 1 };
    // Returns the round of the outer loops, the first column and the number of columns of a cell.
    let place = |cell: usize| {
        let start = cell % blocks * pairs.width;
        let n = if pairs.columns {
            pairs.width.min(whole - start)
        } else {
            LANES
        };
        (cell / blocks, start, n)
    };
    let write = |cell: usize, sums: &mut S| {
        let (round, start, n) = place(cell);
        let n = if pairs.columns {
            n
        } else {
            sums.join(n);
            1
        };
        for i in 0..n {
            let to = out
                .get()
                .cast::<f64>()
                .wrapping_add(round * whole + start + i);
            // SAFETY: each cell owns its results.
            unsafe { to.write(finish(sums, i)) };
        }
    };
    let size = ROWS * pairs.width;
    let chunk = if cells >= FEW {
        pairs.tiles
    } else {
        (TASK / size).max(1).max(pairs.tiles.div_ceil(FEW))
    };
    let chunks = pairs.tiles.div_ceil(chunk);
    let work = chunk * size * 4;
    if chunks == 1 {
        return try_for_each(cells, work, &|cell| {
            let (round, start, n) = place(cell);
            let mut sums = S::empty();
            // SAFETY: guaranteed by the caller.
            unsafe { pairs.add(&mut sums, round, start, n, 0..pairs.tiles)? };
            write(cell, &mut sums);
            Ok(())
        });
    }
    let mut all = Scratch::new([cells, chunks], S::empty())?;
    let parts = Shared(all.as_mut_ptr().cast());
    try_for_each(cells * chunks, work, &|index| {
        let (round, start, n) = place(index / chunks);
        let first = index % chunks * chunk;
        // SAFETY: guaranteed by the caller; each task has its own sums.
        unsafe {
            let sums = &mut *parts.get().cast::<S>().add(index);
            pairs.add(sums, round, start, n, first..pairs.tiles.min(first + chunk))
        }
    })?;
    for (cell, parts) in all.chunks_exact_mut(chunks).enumerate() {
        let n = place(cell).2;
        if let Some((first, others)) = parts.split_first_mut() {
            others.iter().for_each(|part| first.merge(part, n));
            write(cell, first);
        }
    }
    Ok(())
}

impl<T: WidenedPair> PairWalk<T> {
    fn new(job: &PairJob<'_>) -> Self {
        let own = row_major(job.shape);
        let loops = |gone: bool| {
            let dims = (0..job.shape.len()).filter(|&dim| job.reduced[dim] == gone);
            let mut loops: Loops = dims
                .filter(|&dim| job.shape[dim] != 1)
                .map(|dim| Loop {
                    size: job.shape[dim],
                    src: own[dim],
                    dst: job.y_strides[dim],
                })
                .collect();
            merge(&mut loops);
            loops
        };
        let (mut outer, mut reduced) = (loops(false), loops(true));
        let columns = outer.last().is_some_and(|one| one.src == 1);
        let from = if columns { &mut outer } else { &mut reduced };
        let inner = from.pop().unwrap_or(ONE);
        let rounds: usize = reduced.iter().map(|one| one.size).product();
        let (width, per_line, tiles) = if columns {
            let width = inner.size.div_ceil(inner.size.div_ceil(WIDTH));
            (width, 1, rounds.div_ceil(ROWS))
        } else {
            let per_line = inner.size.div_ceil(LANES * ROWS);
            (LANES, per_line, rounds * per_line)
        };
        Self {
            x: Shared(job.x.cast_mut()),
            y: Shared(job.y.cast_mut()),
            outer,
            reduced,
            inner,
            columns,
            width,
            tiles,
            per_line,
            element: std::marker::PhantomData,
        }
    }

    /// Adds tiles of a cell to its sums.
    ///
    /// # Safety
    /// The operands are readable at all places of the loops.
    unsafe fn add<S: PairSums>(
        &self,
        sums: &mut S,
        round: usize,
        start: usize,
        n: usize,
        tiles: std::ops::Range<usize>,
    ) -> Result<(), NoMemory> {
        let (x, y) = offsets(&self.outer, round);
        let start = start as isize;
        let (x, y) = (x + start * self.inner.src, y + start * self.inner.dst);
        let spreads = usize::from(self.inner.dst != 1);
        let mut copies = Scratch::new([spreads, ROWS, n], T::default())?;
        for tile in tiles {
            if self.columns {
                let rounds: usize = self.reduced.iter().map(|one| one.size).product();
                let rows = tile * ROWS..rounds.min((tile + 1) * ROWS);
                let each = rows.map(|row| {
                    let (off, other) = offsets(&self.reduced, row);
                    (x + off, y + other)
                });
                // SAFETY: guaranteed by the caller.
                unsafe { self.add_rows(sums, n, each, &mut copies) };
                continue;
            }
            let (off, other) = offsets(&self.reduced, tile / self.per_line);
            let first = tile % self.per_line * LANES * ROWS;
            let len = (LANES * ROWS).min(self.inner.size - first);
            let place = |at: usize| {
                let at = (first + at) as isize;
                (x + off + at, y + other + at * self.inner.dst)
            };
            let rows = len / LANES;
            let each = (0..rows).map(|row| place(row * LANES));
            // SAFETY: as above; the last row of a line may be shorter.
            unsafe {
                self.add_rows(sums, LANES, each, &mut copies);
                if len > rows * LANES {
                    let last = std::iter::once(place(rows * LANES));
                    self.add_rows(sums, len - rows * LANES, last, &mut copies);
                }
            }
        }
        Ok(())
    }

    /// Adds rows of `n` pairs, whose places in both operands are given.
    ///
    /// # Safety
    /// The operands are readable there.
    unsafe fn add_rows<S: PairSums>(
        &self,
        sums: &mut S,
        n: usize,
        places: impl Iterator<Item = (isize, isize)>,
        copies: &mut [T],
    ) {
        let (mut xs, mut ys) = (
            SmallVec::<[&[T]; ROWS]>::new(),
            SmallVec::<[&[T]; ROWS]>::new(),
        );
        let mut copies = copies.chunks_exact_mut(n.max(1));
        for (x, y) in places {
            let x = self.x.get().cast::<T>().wrapping_offset(x);
            let y = self.y.get().cast::<T>().wrapping_offset(y);
            // SAFETY: guaranteed by the caller.
            unsafe {
                xs.push(std::slice::from_raw_parts(x, n));
                if self.inner.dst == 1 || n == 1 {
                    ys.push(std::slice::from_raw_parts(y, n));
                } else if let Some(row) = copies.next() {
                    for (i, to) in row.iter_mut().enumerate() {
                        *to = y.wrapping_offset(i as isize * self.inner.dst).read();
                    }
                    ys.push(row);
                }
            }
        }
        if !xs.is_empty() {
            sums.add(n, &xs, &ys);
        }
    }
}

//! Cumulative operators along a dim.
//!
//! A [`Running`] defines one step. The driver walks lines or tiles of adjacent lines, converts blocks if the dtype
//! differs, and splits long lines into chunks: first it computes the total of each chunk, then the accumulator before
//! each chunk, then the results. Chunks depend on the shape alone.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::op::class::Scan;
use nomina_core::{DType, Element};
use num_complex::Complex;

use crate::dispatch::arithmetic;
use crate::job::ScanJob;

use crate::cpu::lines::{self, Ends};
use crate::cpu::nontemporal::NonTemporal;
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::plan::{LinePlan, Loop, offsets};
use crate::cpu::reduce::reducer::{many, many_mut};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::{Shared, SmallScratch, try_for_each, try_for_each_past};
use crate::cpu::simd::Level;
use crate::cpu::transpose::LANES;
use crate::memory::{self, NoMemory};

mod adjacent;
mod logcumsumexp;
mod prefix;
mod running;
#[cfg(test)]
mod tests;

use logcumsumexp::Logcumsumexp;
use running::{Cumprod, Cumsum, Running};

/// The most lines of a tile.
const COLS: usize = 512;
/// The most elements of a tile.
const TILE: usize = 4096;
/// The approximate number of elements of a chunk.
const CHUNK: usize = 1 << 16;

/// Computes a scan.
///
/// # Safety
/// The operand and the result are in bounds, and nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &ScanJob<'_>) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        macro_rules! along {
            ($name:ident, $others:ty) => {
                match arithmetic(job.compute) {
                    DType::F32 => along::<$name<f32>>(job),
                    DType::F64 => along::<$name<f64>>(job),
                    DType::C64 => along::<$name<Complex<f32>>>(job),
                    DType::C128 => along::<$name<Complex<f64>>>(job),
                    _ => along::<$name<$others>>(job),
                }
            };
        }
        match job.op {
            Scan::Cumsum => along!(Cumsum, i64),
            Scan::Cumprod => along!(Cumprod, i64),
            Scan::Logcumsumexp => along!(Logcumsumexp, f64),
        }
    }
}

/// The division of lines into tiles, and of tiles into chunks.
struct ScanTiles<'a, R> {
    job: &'a ScanJob<'a>,
    plan: LinePlan,
    /// The innermost loop over lines.
    kept: Loop,
    /// The strides along the dim, of operand and result.
    inner: [isize; 2],
    width: usize,
    /// Whether tiles of the operand and of the result are accessed in place, without gathering or scattering.
    direct: [bool; 2],
    /// The non-temporal stores for large results.
    past: Option<NonTemporal>,
    running: PhantomData<R>,
}

// SAFETY: the operand is only read; each task writes its own part of the result.
unsafe impl<R> Sync for ScanTiles<'_, R> {}

unsafe fn along<R: Running>(job: &ScanJob<'_>) -> Result<(), NoMemory> {
    let mark: crate::SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let plan = LinePlan::new(job.shape, job.strides, job.out_strides, &mark, true);
    let ends = Ends {
        x: job.x,
        dtype: job.dtype,
        out: job.out,
        out_dtype: job.out_dtype,
        step: job.out_strides[job.dim],
    };
    // SAFETY: guaranteed by the caller.
    if unsafe { adjacent::lines::<R>(job, &plan)? } {
        return Ok(());
    }
    let compute = |tile| dispatch(ShortScan::<R>(tile, PhantomData));
    // SAFETY: guaranteed by the caller; tiles are of this type.
    if unsafe { lines::short(&plan, ends, R::T::DTYPE, &compute)? } {
        return Ok(());
    }
    let kept = *plan.kept.last().unwrap_or(&Loop {
        size: 1,
        src: 0,
        dst: 0,
    });
    let inner = [job.strides[job.dim], job.out_strides[job.dim]];
    let columns = kept.size >= 8 && kept.src.abs() < inner[0].abs();
    let width = if columns { kept.size.min(COLS) } else { 1 };
    let count = job.shape[job.dim];
    let cells = plan.outputs() / kept.size * kept.size.div_ceil(width);
    let beside = |dtype: DType, along: isize, across: isize| {
        dtype == R::T::DTYPE && if width == 1 { along == 1 } else { across == 1 }
    };
    let direct = [
        beside(job.dtype, inner[0], kept.src),
        beside(job.out_dtype, inner[1], kept.dst),
    ];
    let bytes = job.dtype.size() + job.out_dtype.size();
    let past =
        NonTemporal::for_bytes(plan.outputs().saturating_mul(count * bytes)).filter(|_| direct[1]);
    let walk = ScanTiles::<R> {
        job,
        plan,
        kept,
        inner,
        width,
        direct,
        past,
        running: PhantomData,
    };
    let chunk = if cells >= 64 {
        count
    } else {
        (CHUNK / width).max(256)
    };
    let chunks = count.div_ceil(chunk);
    let work = width * count.min(chunk);
    if chunks == 1 {
        return try_for_each_past(cells, work, walk.past, &|cell| {
            // SAFETY: guaranteed by the caller; each cell owns its lines.
            unsafe {
                if width == 1 {
                    walk.scan(&mut [R::START], cell, 0, count, true)
                } else {
                    let mut accs = [R::START; COLS];
                    walk.scan(&mut accs[..width], cell, 0, count, true)
                }
            }
        });
    }
    let mut totals = memory::Scratch::new([cells, chunks, width], R::START)?;
    let shared = Shared(totals.as_mut_ptr().cast());
    // SAFETY: every index has `width` totals; no two tasks have the same index.
    let place = |index: usize| unsafe {
        many_mut::<R::Acc>(
            shared.get().cast::<R::Acc>().add(index * width).cast(),
            width,
        )
    };
    let range = |index: usize| {
        (
            index % chunks * chunk,
            count.min((index % chunks + 1) * chunk),
        )
    };
    try_for_each(cells * chunks, work, &|index| {
        let (from, to) = range(index);
        // SAFETY: as above.
        unsafe { walk.scan(place(index), index / chunks, from, to, false) }
    })?;
    // Replaces each chunk's total by the accumulator before it.
    for cell in 0..cells {
        for i in 0..width {
            let mut before = R::START;
            for chunk in 0..chunks {
                let total = &mut place(cell * chunks + chunk)[i];
                before = R::join(before, std::mem::replace(total, before));
            }
        }
    }
    try_for_each_past(cells * chunks, work, walk.past, &|index| {
        let (from, to) = range(index);
        // SAFETY: as above; each chunk owns its results.
        unsafe { walk.scan(place(index), index / chunks, from, to, true) }
    })
}

/// A kernel that scans short adjacent lines in place.
struct ShortScan<R>(lines::TransposedLines, PhantomData<R>);

impl<R: Running> Kernel for ShortScan<R> {
    type Out = ();
    // On Zen 4, steps that widen and narrow take 5 % to 10 % longer with AVX-512.
    const WIDEST: Level = Level::Avx2;
    #[inline(always)]
    fn run(self) {
        for group in 0..self.0.groups {
            let mut accs = [R::START; LANES];
            for row in 0..self.0.count {
                // SAFETY: the creator of the tile guarantees that it is accessible and exclusive to this computation.
                let xs = unsafe { self.0.row::<R::T>(group, row) };
                for i in 0..LANES {
                    accs[i] = R::step(accs[i], xs[i]);
                    xs[i] = R::result(accs[i]);
                }
            }
        }
    }
}

/// A kernel that scans the rows of a tile; each column has its own accumulator. If there is only one column, rows are
/// single contiguous elements.
struct ScanTile<'a, R: Running> {
    accs: &'a mut [R::Acc],
    rows: usize,
    /// The first row of the operand, and the distance between rows in elements.
    from: *const R::T,
    step: isize,
    /// The first row of the result, which overlaps nothing.
    to: *mut R::T,
    to_step: isize,
}

impl<R: Running> Kernel for ScanTile<'_, R> {
    type Out = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: the creator of this struct guarantees that these elements are accessible.
        let row = |r: isize, n: usize| unsafe {
            (
                many::<R::T>(self.from.offset(r * self.step).cast(), n),
                many_mut::<MaybeUninit<R::T>>(self.to.offset(r * self.to_step).cast(), n),
            )
        };
        if let [acc] = self.accs {
            let (xs, out) = row(0, self.rows);
            *acc = R::line(*acc, xs, out);
            return;
        }
        for r in 0..self.rows as isize {
            let (xs, out) = row(r, self.accs.len());
            for ((acc, &x), out) in self.accs.iter_mut().zip(xs).zip(out) {
                *acc = R::step(*acc, x);
                out.write(R::result(*acc));
            }
        }
    }
}

impl<R: Running> ScanTiles<'_, R> {
    /// Scans the elements `from..to` of a cell's lines and writes the results if `write`.
    unsafe fn scan(
        &self,
        accs: &mut [R::Acc],
        cell: usize,
        from: usize,
        to: usize,
        write: bool,
    ) -> Result<(), NoMemory> {
        let per_row = self.kept.size.div_ceil(self.width);
        let start = cell % per_row * self.width;
        let n = self.width.min(self.kept.size - start);
        let accs = &mut accs[..n];
        let outer = &self.plan.kept[..self.plan.kept.len().saturating_sub(1)];
        let (src, dst) = offsets(outer, cell / per_row);
        let start = start as isize;
        let src = self.plan.src + src + start * self.kept.src;
        let dst = self.plan.dst + dst + start * self.kept.dst;
        let (job, t) = (self.job, R::T::DTYPE);
        let tall = (TILE / n).clamp(1, (to - from).max(1));
        // A single line left over from a tile of adjacent lines is gathered, because tiles of one column are
        // contiguous.
        let [direct, direct_out] = self
            .direct
            .map(|direct| direct && (n > 1 || self.width == 1));
        let direct_out = direct_out && write && self.past.is_none();
        let room = |needed: bool| SmallScratch::bytes([usize::from(needed), tall, n, t.size()]);
        let (mut input, mut output) = (room(!direct)?, room(!direct_out)?);
        for at in (from..to).step_by(tall) {
            let (rows, at) = (tall.min(to - at), at as isize);
            let xs = job
                .x
                .wrapping_offset((src + at * self.inner[0]) * job.dtype.size() as isize);
            let out = job
                .out
                .wrapping_offset((dst + at * self.inner[1]) * job.out_dtype.size() as isize);
            let packed = [n as isize, 1];
            let (first, step) = if direct {
                (xs, self.inner[0])
            } else {
                (input.as_mut_ptr().cast_const(), packed[0])
            };
            let (last, to_step) = if direct_out {
                (out, self.inner[1])
            } else {
                (output.as_mut_ptr(), packed[0])
            };
            // SAFETY: the tile is within the operand and the result; each scratch holds one tile.
            unsafe {
                if !direct {
                    copy2(Copy2 {
                        src: xs,
                        from: job.dtype,
                        strides: [self.inner[0], self.kept.src],
                        dst: input.as_mut_ptr(),
                        to: t,
                        into: packed,
                        rows,
                        cols: n,
                    });
                }
                dispatch(ScanTile::<R> {
                    accs,
                    rows,
                    from: first.cast(),
                    step,
                    to: last.cast(),
                    to_step,
                });
                if !write || direct_out {
                    continue;
                }
                match self.past {
                    Some(past) => self.pass(past, last, out, [rows, n]),
                    None => copy2(Copy2 {
                        src: last,
                        from: t,
                        strides: packed,
                        dst: out,
                        to: job.out_dtype,
                        into: [self.inner[1], self.kept.dst],
                        rows,
                        cols: n,
                    }),
                }
            }
        }
        Ok(())
    }

    /// Writes a tile by non-temporal stores; its rows are single elements if there is one column.
    ///
    /// # Safety
    /// The tile is within the result.
    unsafe fn pass(&self, past: NonTemporal, tile: *const u8, out: *mut u8, [rows, n]: [usize; 2]) {
        let size = R::T::DTYPE.size();
        // SAFETY: guaranteed by the caller.
        unsafe {
            if n == 1 && self.inner[1] == 1 {
                return past.copy(tile, out, rows * size);
            }
            for row in 0..rows {
                let to = out.offset(row as isize * self.inner[1] * size as isize);
                past.copy(tile.add(row * n * size), to, n * size);
            }
        }
    }
}

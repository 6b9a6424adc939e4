//! Lines of a strided operand, in groups that are read and written together.

use super::key::{KeyBits, KeyKind};
use super::line::{Found, LineScratch, sort_line};
use super::packed::PackedKey;
use super::{by_bits, few};
use crate::cpu::reduce::LinePlan;
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::plan::{Loop, offsets};
use crate::cpu::reduce::split::try_for_each;
use crate::job::LineJob;
use crate::memory::{NoMemory, Scratch};
use nomina_core::DType;

/// The approximate number of elements of a group.
const GROUP: usize = 4096;
/// The number of adjacent elements that share a cache line.
const NEIGHBOURS: usize = 16;

/// Performs a job.
///
/// # Safety
/// The operand and the results are in bounds, and nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(job: &LineJob<'_>) -> Result<(), NoMemory> {
    let long = job.shape[job.dim] > u32::MAX as usize;
    by_bits!(job.dtype, B, kind => {
        // SAFETY: guaranteed by the caller; the bits have the size of the dtype.
        unsafe {
            if size_of::<B>() == 8 || long {
                all::<B, u128>(job, kind)
            } else {
                all::<B, u64>(job, kind)
            }
        }
    })
}

unsafe fn all<B: KeyBits, P: PackedKey>(job: &LineJob<'_>, kind: KeyKind) -> Result<(), NoMemory> {
    let mark: crate::SmallVec<[bool; 8]> = (0..job.shape.len()).map(|dim| dim == job.dim).collect();
    let plan = LinePlan::new(job.shape, job.strides, job.out_strides, &mark, true);
    let len = job.shape[job.dim];
    let kept = *plan.kept.last().unwrap_or(&Loop {
        size: 1,
        src: 0,
        dst: 0,
    });
    let strides = [job.strides[job.dim], job.out_strides[job.dim]];
    // Interleaved lines are read together, however long they are.
    let beside = kept.src.abs() < strides[0].abs();
    let least = if beside { NEIGHBOURS } else { 1 };
    let width = (GROUP / len).max(least).min(kept.size);
    let groups = plan.outputs() / kept.size * kept.size.div_ceil(width);
    let group = LineGroup {
        job,
        plan,
        kept,
        strides,
        width,
    };
    // One or two comparisons per element and bit of the length.
    let work = width * len * (1 + len.ilog2() as usize);
    try_for_each(groups, work, &|index| {
        // SAFETY: guaranteed by the caller; each group owns its lines.
        unsafe { group.run::<B, P>(kind, index) }
    })
}

struct LineGroup<'a> {
    job: &'a LineJob<'a>,
    plan: LinePlan,
    /// The innermost loop over lines.
    kept: Loop,
    /// The strides of the operand and the results along the dim.
    strides: [isize; 2],
    width: usize,
}

// SAFETY: the operand is only read; each task writes its own part of the results.
unsafe impl Sync for LineGroup<'_> {}

impl LineGroup<'_> {
    unsafe fn run<B: KeyBits, P: PackedKey>(
        &self,
        kind: KeyKind,
        index: usize,
    ) -> Result<(), NoMemory> {
        let job = self.job;
        let per_row = self.kept.size.div_ceil(self.width);
        let start = index % per_row * self.width;
        let lines = self.width.min(self.kept.size - start);
        let outer = &self.plan.kept[..self.plan.kept.len().saturating_sub(1)];
        let (src, dst) = offsets(outer, index / per_row);
        let src = self.plan.src + src + start as isize * self.kept.src;
        let dst = self.plan.dst + dst + start as isize * self.kept.dst;
        let (len, count) = (job.shape[job.dim], job.count);
        let from = job.x.wrapping_offset(src * size_of::<B>() as isize);

        // The lines are copied to be contiguous, unless they already are.
        let direct = self.strides[0] == 1 || len == 1;
        let mut copy = Scratch::new([usize::from(!direct), lines, len], B::default())?;
        if !direct {
            let strides = [self.kept.src, self.strides[0]];
            // SAFETY: guaranteed by the caller; the copy has room for the lines.
            unsafe {
                self.move_block(
                    from,
                    job.dtype,
                    strides,
                    copy.as_mut_ptr().cast(),
                    len,
                    lines,
                )
            };
        }
        let line = |i: usize| {
            if direct {
                let at = i as isize * self.kept.src * size_of::<B>() as isize;
                // SAFETY: guaranteed by the caller: `len` contiguous elements.
                unsafe { std::slice::from_raw_parts(from.wrapping_offset(at).cast::<B>(), len) }
            } else {
                &copy[i * len..(i + 1) * len]
            }
        };

        let wanted = |null: bool| [usize::from(!null), lines, count];
        let mut values = Scratch::new(wanted(job.values.is_null()), B::default())?;
        let mut positions = Scratch::new(wanted(job.positions.is_null()), 0_i64)?;
        let few = few::takes(job.task, len, lines);
        if few {
            let sizes = [lines, len, count];
            few::sort::<B, P>(job.task, kind, line, sizes, &mut values, &mut positions);
        }
        let mut room = LineScratch::<B, P>::new(job.task, B::WIDTH, len)?;
        for i in 0..if few { 0 } else { lines } {
            let part = |n: usize| {
                if n == 0 {
                    0..0
                } else {
                    i * count..(i + 1) * count
                }
            };
            let (v, p) = (part(values.len()), part(positions.len()));
            let found = Found {
                values: &mut values[v],
                positions: &mut positions[p],
            };
            sort_line(job.task, kind, line(i), count, found, &mut room);
        }

        // SAFETY: guaranteed by the caller; both results have these lines.
        unsafe {
            if !values.is_empty() {
                let to = job.values.wrapping_offset(dst * size_of::<B>() as isize);
                self.store(values.as_ptr().cast(), job.dtype, to, lines);
            }
            if !positions.is_empty() {
                let to = job.positions.wrapping_offset(dst).cast();
                self.store(positions.as_ptr().cast(), DType::I64, to, lines);
            }
        }
        Ok(())
    }

    unsafe fn move_block(
        &self,
        src: *const u8,
        dtype: DType,
        strides: [isize; 2],
        dst: *mut u8,
        len: usize,
        lines: usize,
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            copy2(Copy2 {
                src,
                from: dtype,
                strides,
                dst,
                to: dtype,
                into: [len as isize, 1],
                rows: lines,
                cols: len,
            });
        }
    }

    unsafe fn store(&self, src: *const u8, dtype: DType, dst: *mut u8, lines: usize) {
        let count = self.job.count;
        // SAFETY: guaranteed by the caller.
        unsafe {
            copy2(Copy2 {
                src,
                from: dtype,
                strides: [count as isize, 1],
                dst,
                to: dtype,
                into: [self.kept.dst, self.strides[1]],
                rows: lines,
                cols: count,
            });
        }
    }
}

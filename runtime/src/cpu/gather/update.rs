//! Scatters: writing at indices.
//!
//! Each position is written by one task, in the order of the index, so results do not depend on the
//! number of threads. Sums and products of narrow floats are accumulated in a wider type
//! ([`accumulate`]).

use half::{bf16, f16};
use nomina_core::DType;
use num_complex::Complex;

use super::accumulate::accumulate;
use super::combine::{Add, Combine, CombineMax, CombineMin, CombineSet, Mul, row};
use super::{Cut, IndexTile};
use crate::cpu::parallel::{GRAIN, threads};
use crate::cpu::reduce::split::try_for_each;
use crate::job::{IndexJob, Update};
use crate::memory::NoMemory;
use crate::shape::product;

type UpdateFn = unsafe fn(&IndexJob, IndexTile, i64, usize) -> Result<(), NoMemory>;

/// Returns the loop for a dtype; `None` if the rule needs an order and the dtype is complex.
fn kernel(how: Update, dtype: DType) -> Option<UpdateFn> {
    macro_rules! by_dtype {
        ($rule:ident: $($dtype:ident $t:ty),*) => {
            match dtype {
                $(DType::$dtype => Some(tile::<$t, $rule> as UpdateFn),)*
                #[allow(unreachable_patterns, reason = "some rules have every dtype")]
                _ => None,
            }
        };
        ($rule:ident) => {
            match dtype {
                DType::F16 => Some(accumulate::<f16, $rule> as UpdateFn),
                DType::BF16 => Some(accumulate::<bf16, $rule> as UpdateFn),
                DType::F32 => Some(accumulate::<f32, $rule> as UpdateFn),
                DType::C64 => Some(accumulate::<Complex<f32>, $rule> as UpdateFn),
                _ => by_dtype!($rule: Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64,
                    F64 f64, C128 Complex<f64>),
            }
        };
        (real $rule:ident) => {
            by_dtype!($rule: Bool bool, U8 u8, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16,
                BF16 bf16, F32 f32, F64 f64)
        };
    }
    match how {
        Update::Set => Some(match dtype.size() {
            1 => tile::<u8, CombineSet>,
            2 => tile::<u16, CombineSet>,
            4 => tile::<u32, CombineSet>,
            8 => tile::<[u32; 2], CombineSet>,
            _ => tile::<[u32; 4], CombineSet>,
        }),
        Update::Add => by_dtype!(Add),
        Update::Mul => by_dtype!(Mul),
        Update::Max => by_dtype!(real CombineMax),
        Update::Min => by_dtype!(real CombineMin),
    }
}

/// Returns whether values of a dtype can be written in this way.
pub(crate) fn takes(how: Update, dtype: DType) -> bool {
    kernel(how, dtype).is_some()
}

/// Writes each element of the other operand to the target at the given index.
///
/// # Safety
/// The operands are in bounds and have one dtype, every index is in range, and the positions of the
/// target are distinct; nobody else accesses it meanwhile.
pub(crate) unsafe fn update(job: &IndexJob, how: Update) -> Result<(), NoMemory> {
    let Some(run) = kernel(how, job.target.dtype) else {
        return Ok(());
    };
    let cut = Cut::new(job, false);
    // Few tiles with many indices each: every task processes the indices in a range of the target.
    let long = product([job.count, cut.inner]) / 2 >= GRAIN && cut.cells() < threads();
    let ranges = if long {
        threads().div_ceil(cut.cells()).min(job.extent)
    } else {
        1
    };
    let bound =
        |range: usize| job.low + (job.extent as u128 * range as u128 / ranges as u128) as i64;
    try_for_each(product([cut.cells(), ranges]), cut.work(), &|task| {
        let (cell, range) = (task / ranges, task % ranges);
        let (from, to) = (bound(range), bound(range + 1));
        // SAFETY: guaranteed by the caller; each task owns its positions.
        unsafe {
            run(
                job,
                cut.tile(job, cell),
                from,
                to.wrapping_sub(from) as usize,
            )
        }
    })
}

/// Processes the indices from `low` to below `low + many`.
///
/// # Safety
/// The requirements of [`update`], for one tile.
unsafe fn tile<T: Copy, R: Combine<T>>(
    job: &IndexJob,
    tile: IndexTile,
    low: i64,
    many: usize,
) -> Result<(), NoMemory> {
    let [to, from, by, ..] = job.rest.inner().steps;
    let index = |k: isize, j: isize| {
        let index = tile.index.wrapping_offset(k * job.index_step + j * by);
        // SAFETY: an element of the index.
        unsafe { index.cast::<i64>().read() }
    };
    let write = |index: i64, k: isize, j: isize| {
        let own = tile
            .target
            .wrapping_offset(index as isize * job.target_step + j * to)
            .cast::<T>();
        let new = tile
            .other
            .wrapping_offset(k * job.other_step + j * from)
            .cast::<T>();
        // SAFETY: an element of each operand; this task owns the target's.
        unsafe { own.write(R::apply(own.read(), new.read())) };
    };
    let mine = |index: i64| (index.wrapping_sub(low) as u64) < many as u64;
    let (inner, along) = (tile.inner as isize, tile.along as isize);
    if by == 0 {
        let size = size_of::<T>() as isize;
        for k in 0..along {
            let index = index(k, 0);
            if !mine(index) {
                continue;
            }
            if to == size && (from == size || from == 0) {
                // Contiguous elements: a loop that vectorises.
                let own = tile
                    .target
                    .wrapping_offset(index as isize * job.target_step)
                    .cast::<T>();
                let new = tile.other.wrapping_offset(k * job.other_step).cast::<T>();
                // SAFETY: `inner` contiguous elements of the target, which this task owns, and as
                // many of the other operand, or one.
                unsafe { row::<T, R>(own, new, tile.inner, from != 0) };
            } else {
                (0..inner).for_each(|j| write(index, k, j));
            }
        }
    } else if by.abs() <= job.index_step.abs() {
        for k in 0..along {
            for j in 0..inner {
                let index = index(k, j);
                if mine(index) {
                    write(index, k, j);
                }
            }
        }
    } else {
        for j in 0..inner {
            for k in 0..along {
                let index = index(k, j);
                if mine(index) {
                    write(index, k, j);
                }
            }
        }
    }
    Ok(())
}

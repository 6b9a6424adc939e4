//! Reductions.
//!
//! A [`Reducer`] defines how blocks of elements are accumulated in states. The driver walks any
//! strided operand, converts blocks if the dtype differs, and distributes the work over threads. A
//! new reduction needs an [`Accumulator`](accumulator::Accumulator) and an arm in [`find`].

pub(crate) mod accumulator;
mod compensated;
mod drive;
mod elements;
pub(crate) mod fold;
#[cfg(test)]
mod fold_tests;
mod folding;
pub(crate) mod lanes;
pub(crate) mod load;
pub(crate) mod logsumexp;
mod moments;
mod nan;
mod nan_variance;
mod norm;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod real;
pub(crate) mod reducer;
pub(crate) mod scale;
mod short;
pub(crate) mod simd;
pub(crate) mod split;
#[cfg(test)]
pub(crate) mod tests;
mod transposed_rows;
#[cfg(test)]
mod transposed_rows_tests;
pub(crate) mod whole;
mod widened;

use std::marker::PhantomData;

use half::{bf16, f16};
use nomina_core::op::class::{ArgReduce, Reduce};
use nomina_core::{DType, Element};
use num_complex::Complex;

use crate::cpu::arg::Position;
use crate::cpu::numeric::Convert;
use crate::dispatch::arithmetic;
use crate::job::{ReduceJob, Reducing};
use crate::memory::NoMemory;
pub(crate) use drive::{Driver, ReduceSource, ReduceTarget, TILE, reduce_computed, reduce_lines};
pub(crate) use elements::{Elements, Make};
use fold::{All, Any, Max, Min, Prod, Sum};
use folding::{Mean, Plain};
use load::{Copy2, copy2};
use logsumexp::{ComplexLogSumExp, LogSumExp};
use moments::Variance;
use nan::{Count, NanMean};
use nan_variance::NanVariance;
pub(crate) use plan::LinePlan;
pub(crate) use reducer::Reducer;
use split::SmallScratch;
use transposed_rows::TransposedRows;
use widened::Widened;

/// Returns the reducer for elements stored as `source` and computed in `compute`, or `None` if there
/// is none for the dtype. `number` is the parameter of the job.
pub(crate) fn find(
    by: Reducing,
    source: DType,
    compute: DType,
    number: f64,
) -> Option<Box<dyn Reducer>> {
    let dtype = arithmetic(compute);
    let op = match by {
        Reducing::Positions(ArgReduce::Max | ArgReduce::Argmax) => return extremum_at(dtype, true),
        Reducing::Positions(ArgReduce::Min | ArgReduce::Argmin) => {
            return extremum_at(dtype, false);
        }
        Reducing::Values(op) => op,
    };
    let widened = match (source, dtype) {
        (DType::BF16, DType::F32) => widened::<bf16>(op),
        (DType::F16, DType::F32) => widened::<f16>(op),
        _ => None,
    };
    if widened.is_some() {
        return widened;
    }
    match op {
        Reduce::Sum => sum(dtype, false),
        Reduce::Mean => sum(dtype, true),
        Reduce::Prod => prod(dtype),
        Reduce::Amax => extremum(dtype, true),
        Reduce::Amin => extremum(dtype, false),
        Reduce::Any => Some(Box::new(Plain::<Any>::NEW)),
        Reduce::All => Some(Box::new(Plain::<All>::NEW)),
        Reduce::Var => variance(dtype, number, false, false),
        Reduce::Std => variance(dtype, number, true, false),
        Reduce::Nanvar => variance(dtype, number, false, true),
        Reduce::Nanstd => variance(dtype, number, true, true),
        Reduce::Nansum => match dtype {
            DType::F32 => Some(Box::new(NanMean::<f32, false>::NEW)),
            DType::F64 => Some(Box::new(NanMean::<f64, false>::NEW)),
            _ => sum(dtype, false),
        },
        Reduce::Nanmean => match dtype {
            DType::F32 => Some(Box::new(NanMean::<f32, true>::NEW)),
            DType::F64 => Some(Box::new(NanMean::<f64, true>::NEW)),
            _ => None,
        },
        Reduce::CountNonzero => Some(Box::new(Count)),
        Reduce::Norm => Some(norm::reducer(number)),
        Reduce::Logsumexp => match dtype {
            DType::F32 => Some(Box::new(LogSumExp::<f32>(PhantomData))),
            DType::F64 => Some(Box::new(LogSumExp::<f64>(PhantomData))),
            DType::C64 | DType::C128 => Some(Box::new(ComplexLogSumExp)),
            _ => None,
        },
    }
}

/// Returns reducers that widen elements to `f32` as they read them, for the reductions that are
/// faster this way.
fn widened<H: Convert<f32> + Element + Sync>(op: Reduce) -> Option<Box<dyn Reducer>> {
    match op {
        Reduce::Sum => Some(Box::new(Plain::<Widened<Sum<f32>, H>>::NEW)),
        Reduce::Mean => Some(Box::new(Mean::<Widened<Sum<f32>, H>>::NEW)),
        Reduce::Amax => Some(Box::new(Plain::<Widened<Max<f32>, H>>::NEW)),
        Reduce::Amin => Some(Box::new(Plain::<Widened<Min<f32>, H>>::NEW)),
        _ => None,
    }
}

fn sum(dtype: DType, mean: bool) -> Option<Box<dyn Reducer>> {
    macro_rules! of {
        ($t:ty) => {
            if mean {
                Some(Box::new(Mean::<Sum<$t>>::NEW))
            } else {
                Some(Box::new(Plain::<Sum<$t>>::NEW))
            }
        };
    }
    match dtype {
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
        DType::C64 => of!(Complex<f32>),
        DType::C128 => of!(Complex<f64>),
        _ => of!(i64),
    }
}

fn prod(dtype: DType) -> Option<Box<dyn Reducer>> {
    Some(match dtype {
        DType::F32 => Box::new(Plain::<Prod<f32>>::NEW),
        DType::F64 => Box::new(Plain::<Prod<f64>>::NEW),
        DType::C64 => Box::new(Plain::<Prod<Complex<f32>>>::NEW),
        DType::C128 => Box::new(Plain::<Prod<Complex<f64>>>::NEW),
        _ => Box::new(Plain::<Prod<i64>>::NEW),
    })
}

/// Picks `$greatest` or `$least` for a real dtype.
macro_rules! by_real_dtype {
    ($dtype:expr, $greatest:expr, $make:ident) => {
        match $dtype {
            DType::Bool => $make!(bool),
            DType::U8 => $make!(u8),
            DType::I8 => $make!(i8),
            DType::I16 => $make!(i16),
            DType::I32 => $make!(i32),
            DType::I64 => $make!(i64),
            DType::F32 => $make!(f32),
            DType::F64 => $make!(f64),
            _ => None,
        }
    };
}

fn extremum(dtype: DType, greatest: bool) -> Option<Box<dyn Reducer>> {
    macro_rules! of {
        ($t:ty) => {
            if greatest {
                Some(Box::new(Plain::<Max<$t>>::NEW))
            } else {
                Some(Box::new(Plain::<Min<$t>>::NEW))
            }
        };
    }
    by_real_dtype!(dtype, greatest, of)
}

fn extremum_at(dtype: DType, greatest: bool) -> Option<Box<dyn Reducer>> {
    macro_rules! of {
        ($t:ty) => {
            if greatest {
                Some(Box::new(Position::<Max<$t>>(PhantomData)))
            } else {
                Some(Box::new(Position::<Min<$t>>(PhantomData)))
            }
        };
    }
    by_real_dtype!(dtype, greatest, of)
}

fn variance(dtype: DType, correction: f64, root: bool, nan: bool) -> Option<Box<dyn Reducer>> {
    macro_rules! of {
        ($t:ty) => {{
            let all = Variance::<$t> {
                correction,
                root,
                element: PhantomData,
            };
            if nan {
                Some(Box::new(NanVariance(all)))
            } else {
                Some(Box::new(all))
            }
        }};
    }
    match dtype {
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
        _ => None,
    }
}

/// Computes a reduction.
///
/// # Safety
/// The operand and the results are in bounds, and nobody else accesses the results meanwhile.
pub(crate) unsafe fn execute(reducer: &dyn Reducer, job: &ReduceJob<'_>) -> Result<(), NoMemory> {
    let target = ReduceTarget {
        values: job.values,
        dtype: job.values_dtype,
        positions: job.positions,
    };
    if job.shape.contains(&0) {
        // SAFETY: guaranteed by the caller.
        return unsafe { of_nothing(reducer, job) };
    }
    // SAFETY: guaranteed by the caller.
    if unsafe { short::execute(reducer, job) } {
        return Ok(());
    }
    let plan = LinePlan::new(
        job.shape,
        job.strides,
        job.out,
        job.reduced,
        reducer.ordered(),
    );
    let source = ReduceSource {
        ptr: job.x,
        dtype: job.dtype,
    };
    // SAFETY: guaranteed by the caller; the plan has the job's offsets.
    unsafe {
        match TransposedRows::new(reducer, &plan, job.dtype) {
            Some(transposed) => transposed.run(source, None, target),
            None => reduce_lines(reducer, &plan, source, target),
        }
    }
}

/// Computes a reduction of elements that are computed on the fly. Returns false, without having done
/// anything, if that would cost more than it saves.
///
/// # Safety
/// The requirements of [`execute`], except for the operand, which is dense and not empty.
pub(crate) unsafe fn execute_made(job: &ReduceJob<'_>, make: &dyn Make) -> Result<bool, NoMemory> {
    let Some(reducer) = find(job.by, make.dtype(), job.compute, job.number) else {
        return Ok(false);
    };
    let target = ReduceTarget {
        values: job.values,
        dtype: job.values_dtype,
        positions: job.positions,
    };
    let plan = LinePlan::new(
        job.shape,
        job.strides,
        job.out,
        job.reduced,
        reducer.ordered(),
    );
    // SAFETY: guaranteed by the caller; the plan has the job's offsets.
    unsafe { reduce_computed(&*reducer, &plan, make, target) }
}

/// Writes the reduction of no elements to every result.
unsafe fn of_nothing(reducer: &dyn Reducer, job: &ReduceJob<'_>) -> Result<(), NoMemory> {
    let kept = |dim: usize| if job.reduced[dim] { 1 } else { job.shape[dim] };
    let outputs: usize = (0..job.shape.len()).map(kept).product();
    let mut state = SmallScratch::bytes([reducer.state_size()])?;
    let mut value = SmallScratch::bytes([reducer.out().size()])?;
    let (state, value) = (state.as_mut_ptr(), value.as_mut_ptr());
    // SAFETY: room for one state and one value; the results are row-major, one per output.
    unsafe {
        reducer.init(state, 1);
        reducer.finish(state, 1, 0.0, value, std::ptr::null_mut());
        copy2(Copy2 {
            src: value,
            from: reducer.out(),
            strides: [0, 0],
            dst: job.values,
            to: job.values_dtype,
            into: [0, 1],
            rows: 1,
            cols: outputs,
        });
    }
    Ok(())
}

//! Normalisation of rows: `norm.cu`.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::launch::Argument;
use super::lines::{Beside, Choice, LineDims, Lines, held, ways};
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{NormJob, Place};

use crate::shape::Strides;

/// The arguments: `Job` of `norm.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct NormArgs {
    lines: Lines<5>,
    out: *mut u8,
    weight: *const u8,
    bias: *const u8,
    stats: *mut u8,
    eps: f64,
}

// SAFETY: the struct `Job` of `norm.cu`.
unsafe impl Argument for NormArgs {}

/// The most bytes of a state.
const STATE: usize = 24;

/// Returns a module of `norm.cu` without the layout of rows.
fn module(rms: bool, dtype: DType, weight: DType, bias: DType) -> Source {
    Source::new(File::Norm)
        .word("OP", if rms { "RootMeanSquare" } else { "Standard" })
        .dtype("T0", dtype)
        .dtype("T1", arithmetic(dtype))
        .dtype("T3", weight)
        .dtype("T4", bias)
}

/// Normalises rows.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn norm(cuda: &'static Cuda, job: &NormJob<'_>) -> Result<()> {
    let rank = job.shape.len();
    let marked: SmallVec<[bool; 8]> = (0..rank).map(|dim| job.dims.contains(&dim)).collect();
    let nowhere = Strides::from_elem(0, rank);
    // Statistics are contiguous, with two numbers for each row.
    let mut stats = nowhere.clone();
    let mut row = 2;
    for dim in (0..rank).rev().filter(|&dim| !marked[dim]) {
        stats[dim] = row;
        row *= job.shape[dim] as isize;
    }
    let none = (
        Place {
            ptr: std::ptr::null_mut(),
            dtype: job.x.dtype,
        },
        &nowhere[..],
    );
    let (weight, bias) = (job.weight.unwrap_or(none), job.bias.unwrap_or(none));
    let operand = |(place, strides): (Place, _)| (strides, place.dtype.size());
    let operands = [
        (job.strides, job.x.dtype.size()),
        (job.out_strides, job.out.dtype.size()),
        operand(weight),
        operand(bias),
        (&stats[..], size_of::<f64>()),
    ];
    let walk = LineDims::new(job.shape, &marked, operands, false);
    let beside = |place: Place, any: bool| Beside {
        at: place.ptr,
        size: place.dtype.size(),
        any,
    };
    let others = [
        beside(job.out, false),
        beside(weight.0, true),
        beside(bias.0, true),
    ];
    let choice = Choice::new(&walk, job.x.ptr, job.x.dtype, STATE, &others);
    let same = job.compute == job.x.dtype && job.out.dtype == job.x.dtype;
    let Some(choice) = choice.filter(|_| same) else {
        // SAFETY: the caller's promise.
        return unsafe { staged::norm(cuda, job) };
    };
    let mut args = NormArgs {
        lines: choice.lines,
        out: job.out.ptr,
        weight: weight.0.ptr,
        bias: bias.0.ptr,
        stats: job.stats.cast(),
        eps: job.eps,
    };
    let module = module(job.rms, job.x.dtype, weight.0.dtype, bias.0.dtype);
    let double = arithmetic(job.compute) == DType::F64;
    let entries = [c"norm_held", c"norm_rows", c"norm_columns"];
    // SAFETY: the dims and steps are those of the job; statistics have two numbers for each row.
    unsafe {
        choice.write(
            cuda,
            job.op,
            module,
            entries,
            (STATE, double),
            &mut args,
            |args| &mut args.lines,
        )
    }
}

/// Lists every module that these calls use, except for scales of another dtype than the elements.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for rms in [false, true] {
        for dtype in Op::LayerNorm.row().dtypes.iter() {
            let source = module(rms, dtype, dtype, dtype);
            let most = 16 / dtype.size();
            for pack in [1, most] {
                for source in held(&source, pack) {
                    all.push(Module::new(source, &[c"norm_held"]));
                }
            }
            for phase in ["STATES", "FUSED", "WRITE"] {
                let source = source.clone().word("PHASE", phase);
                for (source, rows) in ways(&source, &[most, 1], &[true, false], false) {
                    let entries: &[_] = if rows {
                        &[c"norm_rows"]
                    } else {
                        &[c"norm_columns"]
                    };
                    all.push(Module::new(source, entries));
                }
            }
        }
    }
    all
}

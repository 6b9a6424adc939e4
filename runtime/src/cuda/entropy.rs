//! Cross entropy of rows against the index of the true class: `entropy.cu`.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::launch::Argument;
use super::lines::{Choice, LineDims, Lines, PAIR, chunked, ways};
use super::module::Module;
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::EntropyJob;
use crate::shape::Strides;

/// The arguments: `Job` of `entropy.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct EntropyArgs {
    lines: Lines<2>,
    targets: *const i64,
    weight: *const f64,
    out: *mut f64,
    weights: *const f64,
    flag: *mut u8,
    smoothing: f64,
    classes: f64,
    ignored: i64,
    chunks: u32,
    record: u32,
}

// SAFETY: the struct `Job` of `entropy.cu`.
unsafe impl Argument for EntropyArgs {}

/// The most bytes of a state.
const STATE: usize = 24;

/// Returns a module of `entropy.cu` without the layout of rows.
fn module(dtype: DType, logits: bool, smooth: bool) -> Source {
    Source::new(File::Entropy)
        .dtype("T0", dtype)
        .dtype("T1", arithmetic(dtype))
        .number("LOGITS", i64::from(logits))
        .number("SMOOTH", i64::from(smooth))
}

/// Computes the cross entropy of rows.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn entropy(cuda: &'static Cuda, job: &EntropyJob<'_>) -> Result<()> {
    let (op, rank) = (job.op, job.shape.len());
    let marked: SmallVec<[bool; 8]> = (0..rank).map(|dim| dim == job.dim).collect();
    // Strides that give the number of a row.
    let mut number = Strides::from_elem(0, rank);
    let mut row = 1;
    for dim in (0..rank).rev().filter(|&dim| dim != job.dim) {
        number[dim] = row;
        row *= job.shape[dim] as isize;
    }
    let operands = [(job.strides, job.x.dtype.size()), (&number[..], 1)];
    let mut walk = LineDims::new(job.shape, &marked, operands, true);
    let smooth = job.smoothing != 0.0;
    if !job.logits && !smooth {
        // Only the true class is read.
        walk.count = 0;
    }
    let choice = Choice::new(&walk, job.x.ptr, job.x.dtype, STATE, &[]);
    let Some(choice) = choice.filter(|_| job.compute == job.x.dtype) else {
        // SAFETY: the caller's promise.
        return unsafe { staged::entropy(cuda, job) };
    };
    let outside = job.outside.clone();
    let raise = cuda.may_raise(op, move |target| outside.error(target))?;
    let states = match choice.chunks {
        1 => None,
        _ => Some(cuda.scratch(op, choice.scratch(STATE))?),
    };
    let mut args = EntropyArgs {
        lines: choice.lines,
        targets: job.targets,
        weight: job.weight,
        out: job.out,
        weights: job.weights,
        flag: raise.flag,
        smoothing: job.smoothing,
        classes: job.shape[job.dim] as f64,
        ignored: job.ignore_index,
        chunks: choice.chunks as u32,
        record: raise.record,
    };
    if let Some(states) = &states {
        args.lines.states = states.as_ptr();
    }
    let module = module(job.x.dtype, job.logits, smooth);
    let entry = if choice.rows {
        c"entropy_rows"
    } else {
        c"entropy_columns"
    };
    let function = cuda.function(op, choice.source(module.clone()), entry)?;
    // SAFETY: the dims and steps are those of the job, the kernel reads no class for an invalid target, the workspace
    // has a state for each chunk, and the result has room for two numbers for each row.
    unsafe { cuda.launch(op, function, choice.grid, &args)? };
    if states.is_some() {
        let merge = cuda.function(op, choice.merging(module), c"entropy_chunks")?;
        // SAFETY: as above.
        unsafe { cuda.launch(op, merge, choice.merge_grid(), &args)? };
    }
    Ok(())
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in Op::CrossEntropy.row().dtypes.iter() {
        for (logits, smooth) in [(true, false), (true, true), (false, false), (false, true)] {
            let source = module(dtype, logits, smooth);
            for (source, rows) in ways(&source, &[16 / dtype.size(), PAIR, 1], &[true], false) {
                let entries: &[_] = if rows {
                    &[c"entropy_rows"]
                } else {
                    &[c"entropy_columns"]
                };
                all.push(Module::new(source, entries));
            }
            all.push(Module::new(chunked(source, false), &[c"entropy_chunks"]));
        }
    }
    all
}

//! Cross entropy of rows against the index of the true class.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::catalog::Module;
use super::launch::Argument;
use super::lines::{Choice, LineDims, Lines, chunked, ways};
use super::source::{File, Source};
use super::{Cuda, staged};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::EntropyJob;
use crate::storage::DeviceBuffer;

use crate::shape::{Strides, product};

/// What `entropy.cu` takes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Job {
    lines: Lines<2>,
    targets: *const u8,
    weight: *const u8,
    out: *mut u8,
    smoothing: f64,
    classes: f64,
    weights: f64,
    ignored: i64,
    chunks: u32,
    pad: u32,
}

// SAFETY: `Job` of `entropy.cu`.
unsafe impl Argument for Job {}

/// The bytes of a state, at most.
const STATE: usize = 24;

/// A module of `entropy.cu`, but for how rows lie.
fn module(dtype: DType, logits: bool, smooth: bool) -> Source {
    Source::new(File::Entropy)
        .dtype("T0", dtype)
        .dtype("T1", arithmetic(dtype))
        .number("LOGITS", i64::from(logits))
        .number("SMOOTH", i64::from(smooth))
}

/// The host's numbers on the device.
fn upload<T: Copy>(cuda: &'static Cuda, op: &'static str, numbers: &[T]) -> Result<DeviceBuffer> {
    let bytes = size_of_val(numbers);
    let buffer = cuda.scratch(op, [bytes])?;
    // SAFETY: the buffer is as long as the slice.
    unsafe { cuda.write(op, buffer.as_ptr(), numbers.as_ptr().cast(), bytes)? };
    Ok(buffer)
}

/// Computes the cross entropy of rows.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn entropy(cuda: &'static Cuda, job: &EntropyJob<'_>) -> Result<()> {
    let (op, rank) = (job.op, job.shape.len());
    let marked: SmallVec<[bool; 8]> = (0..rank).map(|dim| dim == job.dim).collect();
    // The number of a row.
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
        // Only the true class is looked at.
        walk.count = 0;
    }
    let choice = Choice::new(&walk, job.x.ptr, job.x.dtype, STATE, &[]);
    let Some(choice) = choice.filter(|_| job.compute == job.x.dtype) else {
        // SAFETY: the caller's promise.
        return unsafe { staged::entropy(cuda, job) };
    };
    let targets = upload(cuda, op, job.targets)?;
    let weight = job
        .weight
        .map(|weight| upload(cuda, op, weight))
        .transpose()?;
    let sums = [2, size_of::<f64>(), job.targets.len()];
    let out = cuda.scratch(op, sums)?;
    let states = match choice.chunks {
        1 => None,
        _ => Some(cuda.scratch(op, choice.scratch(STATE))?),
    };
    let classes = job.shape[job.dim] as f64;
    let mut args = Job {
        lines: choice.lines,
        targets: targets.as_ptr(),
        weight: weight
            .as_ref()
            .map_or(std::ptr::null(), |weight| weight.as_ptr()),
        out: out.as_ptr(),
        smoothing: job.smoothing,
        classes,
        weights: job.weight.map_or(classes, |weight| weight.iter().sum()),
        ignored: job.ignore_index,
        chunks: choice.chunks as u32,
        pad: 0,
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
    // SAFETY: the walk has the job's positions, targets are indices of rows, and the scratches have a
    // state for each chunk and two numbers for each row.
    unsafe { cuda.launch(op, function, choice.grid, &args)? };
    if states.is_some() {
        let merge = cuda.function(op, choice.merging(module), c"entropy_chunks")?;
        // SAFETY: as above.
        unsafe { cuda.launch(op, merge, choice.merge_grid(), &args)? };
    }
    // SAFETY: the job has room for two numbers a row.
    unsafe { cuda.read(op, job.out.cast(), out.as_ptr(), product(sums)) }
}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for dtype in Op::CrossEntropy.row().dtypes.iter() {
        for (logits, smooth) in [(true, false), (true, true), (false, false), (false, true)] {
            let source = module(dtype, logits, smooth);
            for (source, rows) in ways(&source, [16 / dtype.size(), 1], &[true], false) {
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

//! Chains of elementwise operators, computed in one pass.

mod infer;
mod reduction;
mod small;
mod stepwise;

use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::reduce::{ReduceOptions, reduce};
use super::to_dtype;
use crate::SmallVec;
use crate::call::backend::backend;
use crate::job::{FusedJob, Known, Node, Place};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::product;
use crate::tape::{record_chain, steps_to_save};
use infer::Inferred;
pub use reduction::FusedReduction;
use reduction::InPass;
use small::small;
pub(crate) use stepwise::stepwise;

/// Computes a chain of elementwise operators. The elements, dtype and layout are those of
/// [`pointwise`](super::pointwise) step by step, without intermediate tensors.
///
/// # Errors
/// The errors of the first step that fails; [`ErrorKind::Argument`] if a step refers to one that is not earlier, or to a
/// tensor or number that is missing.
pub fn fused(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    if is_wanted(tensors.iter().copied()) {
        return recorded(program, tensors, numbers);
    }
    fused_unrecorded(program, tensors, numbers)
}

pub(crate) fn fused_unrecorded(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
) -> Result<Raw> {
    match small(program, tensors, numbers) {
        Some(out) => Ok(out),
        None => Ok(several(program, tensors, numbers, &[])?.0),
    }
}

/// Computes and records a chain: as one node, or step by step if there are complex numbers.
#[cold]
fn recorded(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    check(program, tensors.len(), numbers.len())?;
    let complex = tensors.iter().any(|raw| raw.dtype().is_complex())
        || numbers
            .iter()
            .any(|number| matches!(number, Scalar::Complex(_)));
    if complex {
        return stepwise(program, tensors, numbers);
    }
    match narrow_dtypes(program, tensors, numbers)? {
        Some(dtypes) => recorded_whole(program, tensors, numbers, dtypes),
        None => stepwise(program, tensors, numbers),
    }
}

/// Computes a program of real numbers and records it as one node.
fn recorded_whole(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    dtypes: Vec<DType>,
) -> Result<Raw> {
    let kept = steps_to_save(program, tensors)?;
    let last = program.len().saturating_sub(1);
    let also: SmallVec<[usize; 2]> = kept.iter().copied().filter(|&at| at < last).collect();
    let (out, others) = if also.is_empty() {
        (
            fused_unrecorded(program, tensors, numbers)?,
            SmallVec::new(),
        )
    } else {
        several(program, tensors, numbers, &also)?
    };
    let mut saved: Vec<(usize, Raw)> = also.into_iter().zip(others).collect();
    if kept.last() == Some(&last) {
        saved.push((last, out.clone()));
    }
    record_chain(out, (program, tensors, numbers), dtypes, saved)
}

/// Returns the dtypes of all steps if a tensor or a step is a 16-bit float, else an empty list; `None` if they are only
/// known step by step.
fn narrow_dtypes(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
) -> Result<Option<Vec<DType>>> {
    let is_narrow = |dtype: DType| matches!(dtype, DType::F16 | DType::BF16);
    let converts = |node: &Node<'_>| matches!(*node, Node::To(dtype, _) if is_narrow(dtype));
    if !tensors.iter().any(|raw| is_narrow(raw.dtype())) && !program.iter().any(converts) {
        return Ok(Some(Vec::new()));
    }
    let mut inferred = Inferred::new();
    if !inferred.infer(program, tensors, numbers, &[])? {
        return Ok(None);
    }
    let dtype = |known: &Known| match *known {
        Known::Tensor { dtype, .. } => dtype,
        // No gradient reaches a number.
        Known::Scalar(_) => DType::F64,
    };
    Ok(Some(inferred.known.iter().map(dtype).collect()))
}

/// Like [`fused`], for small row-major tensors of one float dtype on the host; `None` for other chains.
#[must_use]
#[inline]
pub fn fused_small(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Option<Raw> {
    if is_wanted(tensors.iter().copied()) {
        None
    } else {
        small(program, tensors, numbers)
    }
}

/// Checks that all steps refer to earlier steps, and to tensors and numbers that exist.
fn check(program: &[Node<'_>], tensors: usize, numbers: usize) -> Result<()> {
    let reads = |(at, node): (usize, &Node<'_>)| match *node {
        Node::Tensor(of) => of < tensors,
        Node::Scalar(of) => of < numbers,
        Node::To(_, of) => of < at,
        Node::Apply(_, args) => args.iter().all(|&arg| arg < at),
    };
    match program.iter().enumerate().position(|step| !reads(step)) {
        None => Ok(()),
        Some(at) => Err(wrong(program, at)),
    }
}

#[cold]
fn wrong(program: &[Node<'_>], at: usize) -> Error {
    let what = format!("step {at} has an undefined input: {:?}", program[at]);
    Error::new(ErrorKind::Argument, "fused", what)
        .hint("a step reads earlier steps, given tensors and numbers")
}

/// Computes the last step and those in `also`, which are expanded to its sizes: on the host in one pass over blocks.
///
/// # Errors
/// The errors of [`fused`].
pub(crate) fn several(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    also: &[usize],
) -> Result<(Raw, SmallVec<[Raw; 2]>)> {
    check(program, tensors.len(), numbers.len())?;
    let mut inferred = Inferred::new();
    let whole = inferred.infer(program, tensors, numbers, also)?;
    let applied = |&at: &usize| matches!(program[at], Node::Apply(..) | Node::To(..));
    let in_pass = also.is_empty() || inferred.device.is_cpu() && also.iter().all(applied);
    if !(whole && in_pass) {
        return one_by_one(program, tensors, numbers, (whole, also));
    }
    let (op, device) = (inferred.op, inferred.device);
    let result = |dtype: DType| {
        let strides = inferred.strides.clone();
        Raw::empty_strided(op, &inferred.shape, strides, dtype, device)
    };
    let place = |raw: &mut Raw| Place {
        ptr: raw.fresh_ptr(),
        dtype: raw.dtype(),
    };
    let mut out = result(inferred.dtype)?;
    let mut others: SmallVec<[Raw; 2]> = SmallVec::new();
    let mut places: SmallVec<[(usize, Place); 2]> = SmallVec::new();
    for &at in also {
        let Known::Tensor { dtype, .. } = inferred.known[at] else {
            return one_by_one(program, tensors, numbers, (whole, also));
        };
        let mut other = result(dtype)?;
        places.push((at, place(&mut other)));
        others.push(other);
    }
    with_job(program, tensors, &inferred, place(&mut out), |job| {
        let job = FusedJob {
            also: &places,
            ..*job
        };
        // SAFETY: each input's strides are its own layout's, expanded to the result's shape; the
        // results are new dense buffers that overlap nothing.
        unsafe { backend(op, device)?.fused(&job) }
    })?;
    Ok((out, others))
}

/// Like [`several`], but in a pass for each, or step by step.
#[cold]
fn one_by_one(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    (whole, also): (bool, &[usize]),
) -> Result<(Raw, SmallVec<[Raw; 2]>)> {
    let out = if whole {
        fused_unrecorded(program, tensors, numbers)?
    } else {
        stepwise(program, tensors, numbers)?
    };
    let other =
        |&at: &usize| fused_unrecorded(&program[..=at], tensors, numbers)?.expand(out.shape());
    let others = also.iter().map(other).collect::<Result<_>>()?;
    Ok((out, others))
}

/// Computes a chain of elementwise operators and a reduction of it: [`reduce`] of [`fused`], converted to `dtype` if
/// there is one. The elements are not stored, if those that are reduced together are adjacent.
///
/// # Errors
/// The errors of [`fused`] and [`reduce`].
pub fn fused_reduce(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    dtype: Option<DType>,
    by: FusedReduction<'_>,
) -> Result<Raw> {
    if is_wanted(tensors.iter().copied()) {
        let mut whole = recorded(program, tensors, numbers)?;
        if let Some(dtype) = dtype {
            whole = to_dtype(&whole, dtype)?;
        }
        return reduce(by.op, &whole, by.dims, by.keepdim, ReduceOptions::default());
    }
    let short = small(program, tensors, numbers);
    check(program, tensors.len(), numbers.len())?;
    let mut inferred = Inferred::new();
    if short.is_none()
        && inferred.infer(program, tensors, numbers, &[])?
        && dtype.is_none_or(|dtype| dtype == inferred.dtype)
        && let Some(mut last) = InPass::new(by, &inferred)?
    {
        let (op, dtype, device) = (inferred.op, inferred.dtype, inferred.device);
        let nowhere = Place {
            ptr: std::ptr::null_mut(),
            dtype,
        };
        let done = with_job(program, tensors, &inferred, nowhere, |job| {
            // SAFETY: as in `fused`; the reduction writes to a new result of its own.
            unsafe { backend(op, device)?.fused_reduce(job, &last.job(&inferred)) }
        })?;
        if done {
            return Ok(last.out);
        }
    }
    let mut whole = match short {
        Some(whole) => whole,
        None => several(program, tensors, numbers, &[])?.0,
    };
    if let Some(dtype) = dtype {
        whole = to_dtype(&whole, dtype)?;
    }
    let options = ReduceOptions::default();
    reduce(by.op, &whole, by.dims, by.keepdim, options)
}

/// Calls `f` with the job of the program.
fn with_job<R>(
    program: &[Node<'_>],
    tensors: &[&Raw],
    inferred: &Inferred,
    dest: Place,
    f: impl FnOnce(&FusedJob<'_>) -> Result<R>,
) -> Result<R> {
    let reads = |tensor: usize| {
        let mut steps = program.iter().zip(&inferred.live);
        steps.any(|(node, live)| *live && *node == Node::Tensor(tensor))
    };
    let rank = inferred.shape.len();
    // All strides, operand by operand.
    let mut strides: SmallVec<[isize; 32]> = SmallVec::from_elem(0, product([rank, tensors.len()]));
    let mut left = &mut strides[..];
    for (at, raw) in tensors.iter().enumerate() {
        let (own, others) = left.split_at_mut(rank);
        left = others;
        // A tensor that is not read may have any shape.
        if reads(at) {
            spread(raw, &inferred.shape, own)?;
        }
    }
    let mut inputs: SmallVec<[(Place, &[isize]); 4]> = SmallVec::new();
    let mut left = &strides[..];
    for raw in tensors {
        let (own, others) = left.split_at(rank);
        left = others;
        let place = Place {
            ptr: raw.as_ptr().cast_mut(),
            dtype: raw.dtype(),
        };
        inputs.push((place, own));
    }
    f(&FusedJob {
        op: inferred.op,
        program,
        live: &inferred.live,
        known: &inferred.known,
        inputs: &inputs,
        shape: &inferred.shape,
        dest,
        strides: &inferred.strides,
        also: &[],
    })
}

/// Writes the strides of a tensor that is expanded to `shape`.
fn spread(raw: &Raw, shape: &[usize], strides: &mut [isize]) -> Result<()> {
    let own = raw.shape();
    let left = shape.len().checked_sub(own.len());
    let fits = |left: usize| {
        let mut dims = own.iter().zip(&shape[left..]);
        dims.all(|(&from, &to)| from == to || from == 1)
    };
    let Some(left) = left.filter(|&left| fits(left)) else {
        // Returns the error that says which sizes differ.
        strides.copy_from_slice(raw.layout().expand(shape)?.strides());
        return Ok(());
    };
    let dims = own.iter().zip(raw.strides()).zip(&shape[left..]);
    for (stride, ((&from, &step), &to)) in strides[left..].iter_mut().zip(dims) {
        *stride = if from == to { step } else { 0 };
    }
    Ok(())
}

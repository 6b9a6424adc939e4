//! Cross entropy against class indices.

use crate::Device;
use crate::job::{EntropyJob, Outside, Place};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::arithmetic::{add, apply, choose, number, replaced};
use super::check::same_device;
use super::{
    ReduceOptions, check, contiguous, full, gather, index_select, pointwise, reduce, to_dtype,
};
use crate::SmallVec;
use crate::call::backend::backend;
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::Shape;
use crate::tape::{EntropySaved, check_unrecorded, record_entropy};

/// The arguments of `entropy` besides logits and targets.
#[derive(Clone, Copy, Debug)]
pub struct Entropy<'a> {
    /// Whether the input has logits, or else logarithms of probabilities.
    pub logits: bool,
    /// A weight for each class.
    pub weight: Option<&'a Raw>,
    /// A target that is ignored.
    pub ignore_index: i64,
    /// The fraction of the target that is spread over all classes.
    pub smoothing: f64,
}

/// How the losses of all rows are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// Not at all: one loss for each row.
    Each,
    /// Their sum.
    Sum,
    /// Their sum over the sum of their weights.
    Mean,
}

/// Computes the losses of the rows along `dim`, in their dtype.
///
/// # Errors
/// If targets are out of range, sizes or dtypes do not match, or memory is missing.
pub fn entropy(
    op: Op,
    x: &Raw,
    target: &Raw,
    dim: usize,
    options: Entropy<'_>,
    losses: Losses,
) -> Result<Raw> {
    let shown = |error: Error| {
        error
            .operand(&Names::default(), x.shape())
            .operand(&Names::default(), target.shape())
    };
    op.row().check_dtype(x.dtype()).map_err(shown)?;
    check::dim(op.name(), x.shape(), dim)?;
    let mut kept = x.shape().to_vec();
    let classes = kept.remove(dim);
    if kept != target.shape() {
        let mut both = kept.iter().zip(target.shape());
        let apart = both.position(|(own, its)| own != its);
        let error = match apart.filter(|_| kept.len() == target.rank()) {
            Some(i) => {
                let dims = [(0, i + usize::from(i >= dim)), (1, i)];
                Error::sizes(op.name(), [x.shape(), target.shape()], dims)
            }
            None => {
                let what = format!("targets of sizes {:?}, not {kept:?}", target.shape());
                shown(Error::new(ErrorKind::Shape, op.name(), what))
            }
        };
        return Err(error.hint("give one target for each row, without the dim of classes"));
    }
    if !target.dtype().is_integral() || target.dtype() == DType::Bool {
        let what = format!("targets are {}, not integers", target.dtype());
        return Err(shown(Error::new(ErrorKind::DType, op.name(), what))
            .hint("give the index of a class for each row"));
    }
    let all = [Some(x), Some(target), options.weight];
    let all: SmallVec<[&Raw; 3]> = all.into_iter().flatten().collect();
    let hint = "`detach` the weights of classes";
    check_unrecorded(op.name(), options.weight, hint)?;
    same_device(op.name(), &all)?;
    let there = x.device();
    let targets = contiguous(&to_dtype(target, DType::I64)?)?;
    let outside = Outside {
        op,
        shapes: [x.shape().into(), target.shape().into()],
        dim,
    };
    if !there.is_cuda() {
        // A device checks this later, without a wait.
        outside.check(&targets.to_vec::<i64>()?, options.ignore_index)?;
    }
    let weight = match options.weight {
        None => None,
        Some(raw) if *raw.shape() == [classes] => {
            Some(contiguous(&to_dtype(&raw.clone().detach(), DType::F64)?)?)
        }
        Some(raw) => {
            let what = format!("weights of sizes {:?} for {classes} classes", raw.shape());
            return Err(shown(Error::new(ErrorKind::Shape, op.name(), what))
                .at(0, dim)
                .hint("give one weight for each class"));
        }
    };
    let weights = match &weight {
        Some(weight) if options.smoothing != 0.0 => Some(total(weight)?),
        _ => None,
    };
    let mut found = Raw::zeros(op.name(), &[targets.numel(), 2], DType::F64, there)?;
    if targets.numel() != 0 && classes > 0 {
        let out = found.as_mut()?.as_mut_ptr().cast();
        let numbers = |of: &Option<Raw>| {
            of.as_ref()
                .map_or(std::ptr::null(), |of| of.as_ptr().cast())
        };
        // SAFETY: the job describes a whole operand, and a fresh result that nothing else shares; the host's targets
        // were checked above.
        unsafe {
            backend(op.name(), there)?.entropy(&EntropyJob {
                op: op.name(),
                logits: options.logits,
                compute: x.dtype(),
                shape: x.shape(),
                strides: x.strides(),
                x: Place {
                    ptr: x.as_ptr().cast_mut(),
                    dtype: x.dtype(),
                },
                dim,
                targets: targets.as_ptr().cast(),
                weight: numbers(&weight),
                weights: numbers(&weights),
                outside: &outside,
                ignore_index: options.ignore_index,
                smoothing: options.smoothing,
                out,
            })?;
        }
    }
    let own = |of: &Raw| to_dtype(of, x.dtype());
    let each = || found.select(1, 0)?.reshape(&kept);
    let (out, divisor) = match losses {
        Losses::Each => (own(&each()?)?, None),
        Losses::Sum => (own(&total(&found.select(1, 0)?)?)?, None),
        Losses::Mean => {
            let [sum, weight] = [total(&found.select(1, 0)?)?, total(&found.select(1, 1)?)?];
            let mean = pointwise(Op::Div, &[(&sum).into(), (&weight).into()])?;
            (own(&mean)?, Some(weight))
        }
    };
    if !is_wanted([x]) {
        return Ok(out);
    }
    let reduction = (losses, divisor);
    let saved = save_entropy(op, (x, target), dim, options, &each()?, reduction)?;
    record_entropy(op, out, x, saved)
}

/// Computes the values that the gradient of entropy needs. `each` is the loss of each row, in f64.
fn save_entropy(
    op: Op,
    (x, target): (&Raw, &Raw),
    dim: usize,
    options: Entropy<'_>,
    each: &Raw,
    (losses, divisor): (Losses, Option<Raw>),
) -> Result<EntropySaved> {
    let ignored = Scalar::Int(options.ignore_index);
    let ignored = apply(Op::Eq, [target.into(), ignored.into()])?;
    let zero = Scalar::Int(0);
    let index = choose(&ignored, zero.into(), target.into())?;
    let one = full(&[], Scalar::Int(1), x.dtype(), x.device())?;
    let own = match options.weight {
        Some(weight) => {
            let weight = to_dtype(&weight.clone().detach(), x.dtype())?;
            let classes: SmallVec<[usize; 1]> = std::iter::once(index.numel()).collect();
            index_select(op, &weight, 0, &index.reshape(&classes)?)?.reshape(index.shape())?
        }
        None => one,
    };
    let weight = choose(&ignored, number(0.0), (&own).into())?;
    let along = |weight: &Raw| {
        let mut shape = Shape::from_elem(1, x.rank());
        shape[dim] = weight.numel();
        to_dtype(&weight.clone().detach(), x.dtype())?.reshape(&shape)
    };
    let mut saved = EntropySaved {
        x: x.clone(),
        dim,
        index: index.unsqueeze(dim)?,
        weight: to_dtype(&weight, x.dtype())?.unsqueeze(dim)?,
        ignored: ignored.unsqueeze(dim)?,
        weights: options.weight.map(along).transpose()?,
        smoothing: options.smoothing,
        log_sum: None,
        each: losses == Losses::Each,
        divisor,
    };
    if options.logits {
        saved.log_sum = Some(log_sums(op, &saved, each)?);
    }
    Ok(saved)
}

/// Computes the logarithm of each row's sum of exponentials. A plain loss is the difference of that and the logit of the true class.
fn log_sums(op: Op, saved: &EntropySaved, each: &Raw) -> Result<Raw> {
    let (x, dim) = (saved.x.clone().detach(), saved.dim);
    if saved.weights.is_some() || saved.smoothing != 0.0 {
        let sums = reduce(Op::Logsumexp, &x, &[dim], true, ReduceOptions::default())?;
        return to_dtype(&sums, DType::F64);
    }
    let each = each.unsqueeze(dim)?;
    let own = to_dtype(&gather(op, &x, dim, &saved.index)?, DType::F64)?;
    replaced(&saved.ignored, f64::INFINITY, &add(&each, &own)?)
}

/// Sums numbers of `f64`, on the host one after the other.
fn total(x: &Raw) -> Result<Raw> {
    if x.device().is_cuda() {
        return reduce(Op::Sum, x, &[0], false, ReduceOptions::default());
    }
    let sum = x.to_vec::<f64>()?.iter().sum::<f64>();
    full(&[], sum.into(), DType::F64, Device::Cpu)
}

//! Cross entropy against indices of classes.

use crate::Device;
use crate::job::{EntropyJob, Outside, Place};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::device::same_device;
use super::grad::{entropies, unrecorded};
use super::{ReduceOptions, check, contiguous, full, pointwise, reduce, to_dtype};
use crate::SmallVec;
use crate::call::backend::backend;
use crate::raw::Raw;
use crate::raw::graph::is_wanted;

/// What `entropy` takes besides logits and targets.
#[derive(Clone, Copy, Debug)]
pub struct Entropy<'a> {
    /// Whether there are logits, or logarithms of probabilities.
    pub logits: bool,
    /// A weight for each class.
    pub weight: Option<&'a Raw>,
    /// A target that does not count.
    pub ignore_index: i64,
    /// How much of the target is spread over all classes.
    pub smoothing: f64,
}

/// What is told of the losses of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// Each one.
    Each,
    /// Their sum.
    Sum,
    /// Their sum over the sum of their weights.
    Mean,
}

/// The losses of the rows along `dim`, in their dtype.
///
/// # Errors
/// Targets out of range, sizes or dtypes that do not fit, missing memory.
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
    unrecorded(op.name(), options.weight, hint)?;
    same_device(op.name(), &all)?;
    let there = x.device();
    let targets = contiguous(&to_dtype(target, DType::I64)?)?;
    let outside = Outside {
        op,
        shapes: [x.shape().into(), target.shape().into()],
        dim,
    };
    if !there.is_cuda() {
        // A device finds it out while nobody waits.
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
        // SAFETY: the job describes a whole operand, and a fresh result that no one else has;
        // the host's targets were checked above.
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
    match is_wanted([x]) {
        true => entropies(
            op,
            out,
            x,
            target,
            dim,
            options,
            &each()?,
            (losses, divisor),
        ),
        false => Ok(out),
    }
}

/// The sum of numbers of `f64`, one after the other on the host.
fn total(x: &Raw) -> Result<Raw> {
    if x.device().is_cuda() {
        return reduce(Op::Sum, x, &[0], false, ReduceOptions::default());
    }
    let sum = x.to_vec::<f64>()?.iter().sum::<f64>();
    full(&[], sum.into(), DType::F64, Device::Cpu)
}

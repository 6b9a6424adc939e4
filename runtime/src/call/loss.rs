//! Cross entropy against indices of classes.

use crate::Device;
use crate::job::{EntropyJob, Place};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::device::same_device;
use super::grad::{entropies, unrecorded};
use super::{check, full, to_device, to_dtype};
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
    let targets: Vec<i64> = to_dtype(target, DType::I64)?.to_vec()?;
    let ignored = options.ignore_index;
    let bad = targets
        .iter()
        .find(|&&t| t != ignored && usize::try_from(t).map_or(true, |t| t >= classes));
    if let Some(bad) = bad {
        let what = format!("target {bad} is out of range for {classes} classes");
        return Err(shown(Error::new(ErrorKind::Index, op.name(), what))
            .at(0, dim)
            .hint("classes count from 0"));
    }
    let weight: Option<Vec<f64>> = match options.weight {
        None => None,
        Some(raw) if *raw.shape() == [classes] => Some(to_dtype(raw, DType::F64)?.to_vec::<f64>()?),
        Some(raw) => {
            let what = format!("weights of sizes {:?} for {classes} classes", raw.shape());
            return Err(shown(Error::new(ErrorKind::Shape, op.name(), what))
                .at(0, dim)
                .hint("give one weight for each class"));
        }
    };
    let mut found = Raw::zeros(op.name(), &[targets.len(), 2], DType::F64, Device::Cpu)?;
    if !targets.is_empty() && classes > 0 {
        let out = found.as_mut()?.as_mut_ptr().cast();
        // SAFETY: the job describes a whole operand, and a fresh result that no one else has;
        // targets were checked above.
        unsafe {
            backend(op.name(), x.device())?.entropy(&EntropyJob {
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
                targets: &targets,
                weight: weight.as_deref(),
                ignore_index: ignored,
                smoothing: options.smoothing,
                out,
            })?;
        }
    }
    let pairs = found.to_vec::<f64>()?;
    let sums = pairs
        .chunks_exact(2)
        .fold([0.0; 2], |[loss, weight], pair| {
            [loss + pair[0], weight + pair[1]]
        });
    let (out, divisor) = match losses {
        Losses::Each => {
            let each = found.select(1, 0)?.reshape(&kept)?;
            (to_device(&to_dtype(&each, x.dtype())?, x.device())?, 1.0)
        }
        Losses::Sum => (full(&[], sums[0].into(), x.dtype(), x.device())?, 1.0),
        Losses::Mean => {
            let mean = sums[0] / sums[1];
            (full(&[], mean.into(), x.dtype(), x.device())?, sums[1])
        }
    };
    match is_wanted([x]) {
        true => {
            let each = found.select(1, 0)?.reshape(&kept)?;
            entropies(op, out, x, target, dim, options, &each, (losses, divisor))
        }
        false => Ok(out),
    }
}

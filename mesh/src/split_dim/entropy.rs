//! Cross entropy with classes split over an axis. Only the maximum logit and the sum of exponentials of each row are
//! exchanged. The loss is pending: each rank has the terms of its own classes.

use nomina::{DType, DynTensor, Error, ErrorKind, Result};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;
use nomina_runtime::tensor::{CrossEntropyOptions, Reduction};

use super::{SplitDim, with_names_of};
use crate::metadata::Metadata;
use crate::origin::CallSite;

/// The arguments of a cross entropy besides the logits.
pub(crate) struct EntropyArgs<'a> {
    pub(crate) target: &'a DynTensor,
    /// One number for each class of this rank.
    pub(crate) weight: Option<&'a DynTensor>,
    pub(crate) ignore_index: i64,
    pub(crate) smoothing: f64,
    /// Whether the input consists of logits, rather than log-probabilities.
    pub(crate) logits: bool,
    pub(crate) reduction: Reduction,
}

/// Computes the loss of rows of classes along dim `dim` of `x`; `via` is the axis that splits the dim, if one does. The
/// result is a partial sum if rows or classes are split.
pub(crate) fn entropy(
    x: &DynTensor,
    args: &EntropyArgs<'_>,
    metadata: Metadata,
    (op, dim, via, at): (&'static str, usize, Option<usize>, CallSite),
) -> Result<DynTensor> {
    let is_row =
        |place: &Place| place.dim().is_some() && place.dim() != metadata.names[dim].as_ref();
    let rows = |sizes: &[usize]| -> f64 {
        let rows = sizes.iter().enumerate().filter(|(at, _)| *at != dim);
        rows.map(|(_, &size)| size as f64).product()
    };
    let mean = args.reduction == Reduction::Mean;
    let split = (mean && metadata.places.iter().any(is_row)).then(|| rows(&metadata.sizes));
    if split.is_some() {
        require_row_mean(op, args)?;
    }
    if let Some(axis) = via {
        let split_dim = SplitDim {
            metadata,
            op,
            dim,
            axis,
            at,
        };
        return split_dim.entropy(x, args, split);
    }
    let options = CrossEntropyOptions {
        weight: args.weight,
        ignore_index: args.ignore_index,
        label_smoothing: args.smoothing,
    };
    let (own, target) = (rows(x.shape()), args.target);
    match split {
        // A rank without rows adds zero; its local mean would be NaN.
        Some(all) if own == 0.0 && all > 0.0 => x.sum(..)?.to_dtype(x.dtype()),
        _ => {
            let loss = if args.logits {
                x.cross_entropy_with(target, dim, args.reduction, options)?
            } else {
                x.nll_loss_with(target, dim, args.reduction, options)?
            };
            match split {
                Some(all) => loss.mul(own / all),
                None => Ok(loss),
            }
        }
    }
}

/// Refuses a mean over split rows unless its divisor is the number of rows: no rank knows the rows or the weights of
/// the others, and the call names no axis along which to ask them.
fn require_row_mean(op: &'static str, args: &EntropyArgs<'_>) -> Result<()> {
    let soft = args.target.dtype().is_float();
    let what = match args.weight {
        Some(_) if !soft => "a mean by class weights over split rows",
        _ if !soft && any(&args.target.eq(args.ignore_index)?)? => {
            "a mean over split rows, some of which are ignored"
        }
        _ => return Ok(()),
    };
    Err(Error::new(ErrorKind::Mesh, op, what).hint(
        "use `reduction::Sum`, and divide by the sum of weights over all ranks: `.sum(across(Batch)).all_reduce(Data)`",
    ))
}

/// The target share of each class in each row: the coefficient of its log-probability.
enum Shares {
    /// One number for each of this rank's classes.
    Each(Box<DynTensor>),
    /// One class of each row, plus a uniform share of all classes for label smoothing.
    Class(Box<OneClass>),
}

/// The target class of each row. The tensors have size 1 along the class dim, except `even` with weights.
struct OneClass {
    /// The index of the class among this rank's classes.
    place: DynTensor,
    /// The share of the class; zero if it belongs to another rank or the row is ignored.
    share: DynTensor,
    /// Whether the class belongs to this rank.
    own: DynTensor,
    /// The smoothing share of each class, in every row that is not ignored.
    even: Option<DynTensor>,
    /// Zero if the row is ignored, else one.
    kept: DynTensor,
}

/// The targets of all rows.
struct Targets {
    shares: Shares,
    /// The sum of the shares of all ranks' classes in each row.
    total: DynTensor,
    /// The divisor of a mean.
    count: f64,
}

impl Shares {
    /// Returns the sum over this rank's classes of share times value. `values` computes the values, which may be
    /// infinite where the share is zero.
    fn weighted_sum(
        &self,
        split_dim: &SplitDim,
        x: &DynTensor,
        values: impl Fn(&DynTensor) -> Result<DynTensor>,
    ) -> Result<DynTensor> {
        match self {
            Self::Each(shares) => {
                let terms = values(x)?.mul(&**shares)?;
                terms
                    .masked_fill(&shares.eq(0_i64)?, 0_i64)?
                    .sum(split_dim.keep_dim())
            }
            Self::Class(class) => {
                let OneClass {
                    place,
                    share,
                    own,
                    even,
                    kept,
                } = &**class;
                let sum = match x.shape()[split_dim.dim] {
                    0 => share.mul(0_i64)?,
                    _ => {
                        let term = values(&x.gather(split_dim.dim, place)?)?.mul(share)?;
                        term.masked_fill(&own.logical_not()?, 0_i64)?
                    }
                };
                match even {
                    Some(even) => {
                        let all = values(x)?.mul(even)?.sum(split_dim.keep_dim())?.mul(kept)?;
                        sum.add(&all)
                    }
                    None => Ok(sum),
                }
            }
        }
    }

    /// Returns `all` less each class's share times its row's `grad`.
    fn gradient(
        &self,
        split_dim: &SplitDim,
        all: &DynTensor,
        grad: &DynTensor,
    ) -> Result<DynTensor> {
        match self {
            Self::Each(shares) => all.sub(&shares.mul(grad)?),
            Self::Class(class) => {
                let OneClass {
                    place,
                    share,
                    even,
                    kept,
                    ..
                } = &**class;
                let rest = match even {
                    Some(even) => all.sub(&even.mul(&kept.mul(grad)?)?)?,
                    None => all.clone(),
                };
                match all.shape()[split_dim.dim] {
                    0 => Ok(rest),
                    _ => rest.scatter_add(split_dim.dim, place, &share.mul(grad)?.neg()?),
                }
            }
        }
    }
}

impl SplitDim {
    /// Returns this rank's terms of the loss.
    fn entropy(
        &self,
        x: &DynTensor,
        args: &EntropyArgs<'_>,
        rows_of_all: Option<f64>,
    ) -> Result<DynTensor> {
        if !(0.0..=1.0).contains(&args.smoothing) {
            let what = format!("label_smoothing is {}", args.smoothing);
            let error = Error::new(ErrorKind::Argument, self.op, what);
            return Err(self.with_operand(error).hint("give a share from 0 to 1"));
        }
        let soft = args.target.rank() == x.rank() && args.target.dtype().is_float();
        let Targets {
            shares,
            total,
            count,
        } = if soft {
            self.probabilities(x, args)?
        } else {
            self.indices(x, args)?
        };
        // Log-probabilities need no normalization.
        let base = if args.logits {
            Some(self.logsumexp(x)?)
        } else {
            None
        };
        let losses = |x: &DynTensor| match &base {
            Some(base) => base.detach().sub(x),
            None => x.neg(),
        };
        let given = match &shares {
            Shares::Each(each) => (**each).clone(),
            Shares::Class(class) => class.share.clone(),
        };
        let rows = shares.weighted_sum(self, &x.detach(), losses)?.detach();
        let (split_dim, x_own, base) = (self.clone(), x.clone(), base.clone());
        // A pending loss has a whole gradient: each rank's gradient is local, and nothing is sent.
        let back = move |grad: &Raw| {
            let grad = with_names_of(grad.clone(), &x_own)?;
            let all = match &base {
                Some(base) => x_own.sub(base)?.exp()?.mul(&total.mul(&grad)?)?,
                None => x_own.zeros_like()?,
            };
            let of_x = shares.gradient(&split_dim, &all, &grad)?;
            let of_shares = match &shares {
                Shares::Each(each) if each.requires_grad() => {
                    let losses = match &base {
                        Some(base) => base.sub(&x_own)?,
                        None => x_own.neg()?,
                    };
                    Some(losses.mul(&grad)?.into_parts().0)
                }
                _ => None,
            };
            Ok(vec![Some(of_x.into_parts().0), of_shares])
        };
        let rows = custom(self.op, &[x.raw(), given.raw()], rows.into_parts().0, back)?;
        let rows = with_names_of(rows, x)?.squeeze(self.dim)?;
        match args.reduction {
            Reduction::None => Ok(rows),
            Reduction::Sum => rows.sum(..),
            Reduction::Mean => rows.sum(..)?.div(rows_of_all.unwrap_or(count)),
        }
    }

    fn with_operand(&self, error: Error) -> Error {
        error.operand(&self.metadata.names, &self.metadata.sizes)
    }

    /// Returns the class weights in the shape of the logits.
    fn weights(&self, x: &DynTensor, weight: &DynTensor) -> Result<DynTensor> {
        let (_, len) = self.own();
        if weight.rank() != 1 || weight.numel() != len {
            let what = format!("a weight of sizes {:?}, for {len} classes", weight.shape());
            let error = Error::new(ErrorKind::Shape, self.op, what);
            return Err(self
                .with_operand(error)
                .hint("give one number for each class"));
        }
        let mut shape = vec![1; x.rank()];
        shape[self.dim] = len;
        with_names_of(weight.detach().into_parts().0.reshape(&shape)?, x)
    }

    /// Prepares targets that are one class index for each row.
    fn indices(&self, x: &DynTensor, args: &EntropyArgs<'_>) -> Result<Targets> {
        let (_, len) = self.own();
        let mut shape = x.shape().to_vec();
        shape[self.dim] = 1;
        let rows: Vec<usize> = (0..x.rank())
            .filter(|dim| *dim != self.dim)
            .map(|dim| x.shape()[dim])
            .collect();
        if args.target.shape() != rows {
            let what = format!("targets of sizes {:?}, not {rows:?}", args.target.shape());
            return Err(self
                .with_operand(Error::new(ErrorKind::Shape, self.op, what))
                .hint("give one target for each row, without the dim of classes"));
        }
        let target = args.target.detach().to_dtype(DType::I64)?;
        let target = with_names_of(target.into_parts().0.reshape(&shape)?, x)?;
        let kept = target.ne(args.ignore_index)?;
        let beyond = target
            .lt(0_i64)?
            .logical_or(&target.ge(self.size() as i64)?)?;
        if any(&beyond.logical_and(&kept)?)? {
            let what = format!("a target is not in 0..{}", self.size());
            return Err(self
                .with_operand(Error::new(ErrorKind::Index, self.op, what))
                .hint("give the index of a class for each row"));
        }
        let dtype = x.dtype();
        let (place, own) = self.localized(&target)?;
        let own = own.logical_and(&kept)?;
        let weight = args.weight.map(|weight| self.weights(x, weight));
        let weight = weight.transpose()?;
        let kept_number = kept.to_dtype(dtype)?;
        let each = args.smoothing / self.size() as f64;
        let even = match (&weight, args.smoothing > 0.0) {
            (_, false) => None,
            (Some(weight), true) => Some(weight.mul(each)?),
            (None, true) => {
                let options = DynTensor::options().dtype(dtype).device(x.device());
                Some(options.full(&vec![1; x.rank()], each, x.names().clone())?)
            }
        };
        let of_class = match (&weight, len) {
            (Some(weight), 1..) => {
                let mut shape = x.shape().to_vec();
                shape[self.dim] = len;
                let weight = with_names_of(weight.raw().expand(&shape)?, x)?;
                weight
                    .gather(self.dim, &place)?
                    .mul(&own.to_dtype(dtype)?)?
            }
            _ => own.to_dtype(dtype)?,
        };
        let share = of_class.mul(1.0 - args.smoothing)?;
        let (total, count) = match &weight {
            None => {
                let count = kept.sum(..)?.item()?.to_f64();
                (kept_number.clone(), count)
            }
            Some(weight) => {
                // The sums of each row's class weight and of all class weights, in one reduction.
                let all = weight.sum(self.keep_dim())?;
                let all = with_names_of(all.raw().expand(of_class.shape())?, x)?;
                let both = DynTensor::cat(&[&of_class, &all], self.dim)?;
                let both = self.all_reduce(&both, Combine::Add)?;
                let of_class = both.narrow(self.dim, 0, 1)?;
                let count = of_class.sum(..)?.item()?.to_f64();
                let all = both.narrow(self.dim, 1, 1)?.mul(each)?.mul(&kept_number)?;
                (of_class.mul(1.0 - args.smoothing)?.add(&all)?, count)
            }
        };
        let shares = Shares::Class(Box::new(OneClass {
            place,
            share,
            own,
            even,
            kept: kept_number,
        }));
        Ok(Targets {
            shares,
            total,
            count,
        })
    }

    /// Prepares targets that are probabilities of all classes, split like the logits.
    fn probabilities(&self, x: &DynTensor, args: &EntropyArgs<'_>) -> Result<Targets> {
        if x.shape() != args.target.shape() {
            let error = Error::new(
                ErrorKind::Shape,
                self.op,
                "logits and probabilities of different sizes",
            );
            return Err(self.with_operand(error).hint("give one for each class"));
        }
        let mut spread = with_names_of(args.target.raw().clone(), x)?;
        if args.smoothing > 0.0 {
            let share = args.smoothing / self.size() as f64;
            spread = spread.mul(1.0 - args.smoothing)?.add(share)?;
        }
        if let Some(weight) = args.weight {
            spread = spread.mul(&self.weights(x, weight)?)?;
        }
        let total = self.all_reduce(&spread.sum(self.keep_dim())?, Combine::Add)?;
        let own: usize = total.numel();
        Ok(Targets {
            shares: Shares::Each(Box::new(spread)),
            total: total.detach(),
            count: own as f64,
        })
    }
}

fn any(x: &DynTensor) -> Result<bool> {
    Ok(x.any(..)?.to_vec::<bool>()?.first() == Some(&true))
}

//! Losses.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::rule::DimRef;

use super::pure;
use crate::Form;
use crate::bind::Bound;
use crate::generated::Loss;
use crate::value::Value;
use nomina_runtime::tensor::{
    BinaryCrossEntropyOptions, CrossEntropyOptions, DynTensor, GaussianNllLossOptions,
    HingeEmbeddingLossOptions, HuberLossOptions, KlDivOptions, MarginOptions,
    PoissonNllLossOptions, Reduction, SmoothL1LossOptions, TripletMarginLossOptions,
};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Loss, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    pure(op, form, args, |a| {
        let reduction = reduction(a)?;
        match which {
            Loss::CrossEntropy | Loss::NllLoss => classes(which, a, reduction),
            Loss::BinaryCrossEntropy | Loss::BinaryCrossEntropyWithLogits => {
                binary(which, a, reduction)
            }
            Loss::MarginRankingLoss | Loss::CosineEmbeddingLoss | Loss::TripletMarginLoss => {
                three(which, a, reduction)
            }
            Loss::MseLoss
            | Loss::L1Loss
            | Loss::SmoothL1Loss
            | Loss::HuberLoss
            | Loss::KlDiv
            | Loss::SoftMarginLoss
            | Loss::PoissonNllLoss
            | Loss::GaussianNllLoss
            | Loss::HingeEmbeddingLoss => two(which, a, reduction),
        }
    })
}

fn reduction(args: &Bound) -> Result<Reduction> {
    let words = ["mean", "sum", "none", "batchmean"];
    Ok(match args.word("reduction", &words)? {
        Some(1 | 3) => Reduction::Sum,
        Some(2) => Reduction::None,
        _ => Reduction::Mean,
    })
}

fn optional<'a>(args: &'a Bound, param: &str) -> Result<Option<&'a DynTensor>> {
    args.given(param).map(|_| args.tensor(param)).transpose()
}

fn classes(which: Loss, a: &Bound, reduction: Reduction) -> Result<DynTensor> {
    let (x, target) = (a.tensor("self")?, a.tensor("target")?);
    let dim = match a.given("dim") {
        Some(_) => a.dim("dim")?,
        // PyTorch's default dim.
        None => DimRef::Index(i64::from(x.rank() > 1)),
    };
    let options = CrossEntropyOptions {
        weight: optional(a, "weight")?,
        ignore_index: a.int("ignore_index")?,
        label_smoothing: match which {
            Loss::CrossEntropy => a.float("label_smoothing")?,
            _ => CrossEntropyOptions::default().label_smoothing,
        },
    };
    if which == Loss::NllLoss {
        x.nll_loss_with(target, dim, reduction, options)
    } else {
        x.cross_entropy_with(target, dim, reduction, options)
    }
}

fn binary(which: Loss, a: &Bound, reduction: Reduction) -> Result<DynTensor> {
    let (x, target) = (a.tensor("self")?, a.tensor("target")?);
    let options = BinaryCrossEntropyOptions {
        weight: optional(a, "weight")?,
        pos_weight: optional(a, "pos_weight")?,
    };
    if which == Loss::BinaryCrossEntropy {
        x.binary_cross_entropy_with(target, reduction, options)
    } else {
        x.binary_cross_entropy_with_logits_with(target, reduction, options)
    }
}

fn three(which: Loss, a: &Bound, reduction: Reduction) -> Result<DynTensor> {
    if which == Loss::TripletMarginLoss {
        let options = TripletMarginLossOptions {
            margin: a.float("margin")?,
            p: a.float("p")?,
            eps: a.float("eps")?,
            swap: a.flag("swap")?,
        };
        let (positive, negative) = (a.tensor("positive")?, a.tensor("negative")?);
        let anchor = a.tensor("anchor")?;
        return anchor.triplet_margin_loss_with(
            positive,
            negative,
            a.dim("dim")?,
            reduction,
            options,
        );
    }
    let (x, y, target) = (
        a.tensor("input1")?,
        a.tensor("input2")?,
        a.tensor("target")?,
    );
    let options = MarginOptions {
        margin: a.float("margin")?,
    };
    if which == Loss::MarginRankingLoss {
        x.margin_ranking_loss_with(y, target, reduction, options)
    } else {
        x.cosine_embedding_loss_with(y, target, a.dim("dim")?, reduction, options)
    }
}

fn two(which: Loss, a: &Bound, reduction: Reduction) -> Result<DynTensor> {
    let (x, target) = (a.tensor("self")?, a.tensor("target")?);
    match which {
        Loss::MseLoss => x.mse_loss_with(target, reduction),
        Loss::L1Loss => x.l1_loss_with(target, reduction),
        Loss::SmoothL1Loss => {
            let beta = a.float("beta")?;
            x.smooth_l1_loss_with(target, reduction, SmoothL1LossOptions { beta })
        }
        Loss::HuberLoss => {
            let delta = a.float("delta")?;
            x.huber_loss_with(target, reduction, HuberLossOptions { delta })
        }
        Loss::KlDiv => {
            let log_target = a.flag("log_target")?;
            let loss = x.kl_div_with(target, reduction, KlDivOptions { log_target })?;
            let by_batch = a
                .word("reduction", &["batchmean"])
                .is_ok_and(|word| word == Some(0));
            match x.shape().first() {
                Some(&batch) if by_batch => loss.div(batch as f64),
                _ => Ok(loss),
            }
        }
        Loss::SoftMarginLoss => x.soft_margin_loss_with(target, reduction),
        Loss::PoissonNllLoss => {
            let options = PoissonNllLossOptions {
                log_input: a.flag("log_input")?,
                full: a.flag("full")?,
                eps: a.float("eps")?,
            };
            x.poisson_nll_loss_with(target, reduction, options)
        }
        Loss::GaussianNllLoss => {
            let options = GaussianNllLossOptions {
                full: a.flag("full")?,
                eps: a.float("eps")?,
            };
            x.gaussian_nll_loss_with(target, a.operand("var")?, reduction, options)
        }
        _ => {
            let margin = a.float("margin")?;
            x.hinge_embedding_loss_with(target, reduction, HingeEmbeddingLossOptions { margin })
        }
    }
}

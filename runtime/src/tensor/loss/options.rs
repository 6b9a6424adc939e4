//! Options of losses.

use crate::tensor::DynTensor;

/// The reduction of elementwise losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// The mean of the losses.
    #[default]
    Mean,
    /// The sum of the losses.
    Sum,
    /// No reduction.
    None,
}

/// Options of `smooth_l1_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothL1LossOptions {
    /// The magnitude up to which the loss is quadratic.
    pub beta: f64,
}

impl Default for SmoothL1LossOptions {
    fn default() -> Self {
        Self { beta: 1.0 }
    }
}

/// Options of `huber_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HuberLossOptions {
    /// The magnitude up to which the loss is quadratic, and the slope beyond.
    pub delta: f64,
}

impl Default for HuberLossOptions {
    fn default() -> Self {
        Self { delta: 1.0 }
    }
}

/// Options of `kl_div_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KlDivOptions {
    /// Whether the target also holds logarithms.
    pub log_target: bool,
}

/// Options of `poisson_nll_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonNllLossOptions {
    /// Whether elements are logarithms of the expectation.
    pub log_input: bool,
    /// Whether to add the part that depends only on the target, by Stirling's formula.
    pub full: bool,
    /// The number added before a logarithm.
    pub eps: f64,
}

impl Default for PoissonNllLossOptions {
    fn default() -> Self {
        Self {
            log_input: true,
            full: false,
            eps: 1e-8,
        }
    }
}

/// Options of `gaussian_nll_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianNllLossOptions {
    /// Whether to add the constant part.
    pub full: bool,
    /// The minimum of the variance.
    pub eps: f64,
}

impl Default for GaussianNllLossOptions {
    fn default() -> Self {
        Self {
            full: false,
            eps: 1e-6,
        }
    }
}

/// Options of `hinge_embedding_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HingeEmbeddingLossOptions {
    /// The minimum of elements whose target is -1.
    pub margin: f64,
}

impl Default for HingeEmbeddingLossOptions {
    fn default() -> Self {
        Self { margin: 1.0 }
    }
}

/// Options of `margin_ranking_loss_with` and `cosine_embedding_loss_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MarginOptions {
    /// The required margin.
    pub margin: f64,
}

/// Options of `triplet_margin_loss_with`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TripletMarginLossOptions {
    /// The required difference of the distances.
    pub margin: f64,
    /// The degree of the norm.
    pub p: f64,
    /// The number added to differences.
    pub eps: f64,
    /// Whether to use the distance from the positive to the negative example if it is smaller.
    pub swap: bool,
}

impl Default for TripletMarginLossOptions {
    fn default() -> Self {
        Self {
            margin: 1.0,
            p: 2.0,
            eps: 1e-6,
            swap: false,
        }
    }
}

/// Options of `cross_entropy_with` and `nll_loss_with`.
#[derive(Clone, Copy, Debug)]
pub struct CrossEntropyOptions<'a> {
    /// A weight for each class.
    pub weight: Option<&'a DynTensor>,
    /// A target that is ignored.
    pub ignore_index: i64,
    /// The part of each target that is spread over all classes.
    pub label_smoothing: f64,
}

impl Default for CrossEntropyOptions<'_> {
    fn default() -> Self {
        Self {
            weight: None,
            ignore_index: -100,
            label_smoothing: 0.0,
        }
    }
}

/// Options of `binary_cross_entropy_with` and `binary_cross_entropy_with_logits_with`.
#[derive(Clone, Copy, Debug, Default)]
pub struct BinaryCrossEntropyOptions<'a> {
    /// A weight for each element.
    pub weight: Option<&'a DynTensor>,
    /// A weight of positive targets, for logits.
    pub pos_weight: Option<&'a DynTensor>,
}

#[cfg(test)]
mod tests {
    use nomina_core::op::Op;

    use super::*;

    /// Returns the default of a number or a bool in the row.
    fn default<V: std::str::FromStr<Err: std::fmt::Debug>>(op: Op, name: &str) -> V {
        let param = op.row().params().find(|param| param.name == name);
        let text = param.and_then(|param| param.default).expect("a default");
        text.to_lowercase().parse().unwrap()
    }

    #[test]
    fn defaults_are_those_of_the_rows() {
        let options = SmoothL1LossOptions::default();
        assert_eq!(options.beta, default(Op::SmoothL1Loss, "beta"));
        let options = HuberLossOptions::default();
        assert_eq!(options.delta, default(Op::HuberLoss, "delta"));
        let options = KlDivOptions::default();
        assert_eq!(options.log_target, default(Op::KlDiv, "log_target"));
        let (op, options) = (Op::PoissonNllLoss, PoissonNllLossOptions::default());
        assert_eq!(options.log_input, default(op, "log_input"));
        assert_eq!(options.full, default(op, "full"));
        assert_eq!(options.eps, default(op, "eps"));
        let (op, options) = (Op::GaussianNllLoss, GaussianNllLossOptions::default());
        assert_eq!(options.full, default(op, "full"));
        assert_eq!(options.eps, default(op, "eps"));
        let options = HingeEmbeddingLossOptions::default();
        assert_eq!(options.margin, default(Op::HingeEmbeddingLoss, "margin"));
        for op in [Op::MarginRankingLoss, Op::CosineEmbeddingLoss] {
            assert_eq!(MarginOptions::default().margin, default(op, "margin"));
        }
        let (op, options) = (Op::TripletMarginLoss, TripletMarginLossOptions::default());
        assert_eq!(options.margin, default(op, "margin"));
        assert_eq!(options.p, default(op, "p"));
        assert_eq!(options.eps, default(op, "eps"));
        assert_eq!(options.swap, default(op, "swap"));
        let (op, options) = (Op::CrossEntropy, CrossEntropyOptions::default());
        for op in [op, Op::NllLoss] {
            assert_eq!(options.ignore_index, default(op, "ignore_index"));
        }
        assert_eq!(options.label_smoothing, default(op, "label_smoothing"));
    }
}

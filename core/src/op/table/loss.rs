//! Losses.

use crate::op::Class::Compose;
use crate::op::DTypeRule::Same;
use crate::op::Grad::{Lines, Parts};
use crate::op::NameRule::{self, Unifies};
use crate::op::{DTypes, Edges, Row, Spread};

const fn loss(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Compose, Unifies, doc)
        .dtype(Same, DTypes::FLOATS)
        .grad(Parts)
}

/// A loss of more than two tensors, or along a dim.
const fn composed(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Compose, NameRule::Compose, doc)
        .dtype(Same, DTypes::FLOATS)
        .grad(Parts)
}

pub(super) const ROWS: &[Row] = &[
    composed(
        "cross_entropy",
        "self, target, weight: Tensor = None, *, ignore_index: Int = -100, reduction: \
         Word = mean, label_smoothing: Scalar = 0.0, dim: Dim = None",
        "Computes the cross entropy of logits along a dim, against classes or class \
         probabilities.",
    )
    .grad(Lines)
    .differs("the dim of classes is given by name")
    .spread(Spread::Along),
    composed(
        "nll_loss",
        "self, target, weight: Tensor = None, *, ignore_index: Int = -100, reduction: \
         Word = mean, dim: Dim = None",
        "Computes the negative log-probability at each target.",
    )
    .grad(Lines)
    .differs("the dim of classes is given by name")
    .spread(Spread::Along),
    loss(
        "mse_loss",
        "self, target, *, reduction: Word = mean",
        "Computes the squares of the differences.",
    )
    .spread(Spread::Pointwise),
    loss(
        "l1_loss",
        "self, target, *, reduction: Word = mean",
        "Computes the magnitudes of the differences.",
    )
    .spread(Spread::Pointwise),
    loss(
        "smooth_l1_loss",
        "self, target, *, reduction: Word = mean, beta: Scalar = 1.0",
        "Computes half the squared difference over `beta` where its magnitude is less \
         than `beta`, otherwise the magnitude minus half of `beta`.",
    )
    .spread(Spread::Pointwise),
    loss(
        "huber_loss",
        "self, target, reduction: Word = mean, delta: Scalar = 1.0",
        "Computes half the squared difference where its magnitude is at most `delta`, \
         otherwise `delta` times the magnitude minus half of `delta`.",
    )
    .spread(Spread::Pointwise),
    loss(
        "binary_cross_entropy",
        "self, target, weight: Tensor = None, *, reduction: Word = mean",
        "Computes the cross entropy of probabilities of two classes.",
    )
    .spread(Spread::Pointwise),
    loss(
        "binary_cross_entropy_with_logits",
        "self, target, weight: Tensor = None, *, reduction: Word = mean, pos_weight: \
         Tensor = None",
        "Computes the cross entropy of logits of two classes.",
    )
    .spread(Spread::Pointwise),
    loss(
        "kl_div",
        "self, target, *, reduction: Word = mean, log_target: Bool = False",
        "Computes the Kullback-Leibler divergence of log-probabilities from a target.",
    )
    .spread(Spread::Pointwise),
    loss(
        "soft_margin_loss",
        "self, target, *, reduction: Word = mean",
        "Computes `ln(1 + exp(-x * y))` for targets `y` of 1 and -1.",
    )
    .spread(Spread::Pointwise),
    loss(
        "poisson_nll_loss",
        "self, target, log_input: Bool = True, full: Bool = False, *, eps: Scalar = \
         1e-08, reduction: Word = mean",
        "Computes the negative log-likelihood under a Poisson distribution.",
    )
    .spread(Spread::Pointwise),
    composed(
        "gaussian_nll_loss",
        "self, target, var: Operand, full: Bool = False, eps: Scalar = 1e-06, \
         reduction: Word = mean",
        "Computes the negative log-likelihood under a normal distribution.",
    )
    .spread(Spread::Along),
    loss(
        "hinge_embedding_loss",
        "self, target, margin: Scalar = 1.0, *, reduction: Word = mean",
        "Computes the hinge embedding loss: `x` where the target is 1, `max(0, margin \
         - x)` where it is -1.",
    )
    .spread(Spread::Pointwise),
    composed(
        "margin_ranking_loss",
        "input1, input2, target, margin: Scalar = 0.0, *, reduction: Word = mean",
        "Computes the margin ranking loss, `max(0, -target * (x1 - x2) + margin)`.",
    )
    .spread(Spread::Along),
    composed(
        "cosine_embedding_loss",
        "input1, input2, target, margin: Scalar = 0.0, *, reduction: Word = mean, dim: \
         Dim = -1",
        "Computes the cosine embedding loss: `1 - cos` where the target is 1, `max(0, \
         cos - margin)` where it is -1.",
    )
    .differs("along any dim, also by name")
    .spread(Spread::Along),
    composed(
        "triplet_margin_loss",
        "anchor, positive, negative, margin: Scalar = 1.0, p: Scalar = 2.0, eps: \
         Scalar = 1e-06, swap: Bool = False, *, reduction: Word = mean, dim: Dim = -1",
        "Computes the triplet margin loss: the distance to a positive example, minus \
         that to a negative one, plus `margin`, at least zero.",
    )
    .differs("along any dim, also by name")
    .edges(Edges::Scaled(
        "it is the difference of two distances, which cancel",
    ))
    .spread(Spread::Along),
];

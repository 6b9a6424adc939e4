//! Normalisations.

use crate::op::Class::Compose;
use crate::op::DTypeRule::Same;
use crate::op::Grad::{Lines, Parts};
use crate::op::NameRule::{self, Keeps};
use crate::op::{DTypes, Edges, Forms, Row, Spread};

const fn norm(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Compose, Keeps, doc)
        .dtype(Same, DTypes::FLOATS)
        .grad(Parts)
}

pub(super) const ROWS: &[Row] = &[
    norm(
        "layer_norm",
        "self, normalized_shape: Dims, weight: Tensor = None, bias: Tensor = None, \
         eps: Scalar = 1e-05",
        "Normalises dims to mean 0 and variance 1, then multiplies by `weight` and \
         adds `bias`.",
    )
    .grad(Lines)
    .differs("takes any dims by name, or the sizes of the last dims as in PyTorch")
    .spread(Spread::Along),
    norm(
        "rms_norm",
        "self, normalized_shape: Dims, weight: Tensor = None, eps: Scalar = None",
        "Divides by the root mean square over dims, then multiplies by `weight`.",
    )
    .grad(Lines)
    .differs("takes any dims by name, or the sizes of the last dims as in PyTorch")
    .spread(Spread::Along),
    norm(
        "batch_norm",
        "self, running_mean: Tensor, running_var: Tensor, weight: Tensor = None, bias: \
         Tensor = None, training: Bool = False, momentum: Scalar = 0.1, eps: Scalar = \
         1e-05, *, dim: Dim = 1",
        "Normalises each channel to mean 0 and variance 1, by the statistics of the \
         batch in training, otherwise by running ones.",
    )
    .grad(Lines)
    .differs(
        "the channel dim is given by name; `batch_norm_train` updates the running \
         statistics",
    )
    .spread(Spread::Along),
    norm(
        "group_norm",
        "self, num_groups: Int, weight: Tensor = None, bias: Tensor = None, eps: \
         Scalar = 1e-05, *, channel: Dim = 1, dim: Dims = None",
        "Normalises groups of channels, together with other dims, to mean 0 and \
         variance 1.",
    )
    .grad(Lines)
    .differs("the channel dim and the others are given by name")
    .spread(Spread::Along),
    norm(
        "instance_norm",
        "self, running_mean: Tensor = None, running_var: Tensor = None, weight: Tensor \
         = None, bias: Tensor = None, use_input_stats: Bool = True, momentum: Scalar = \
         0.1, eps: Scalar = 1e-05, *, dim: Dims = None",
        "Normalises each channel of each sample to mean 0 and variance 1: `layer_norm` \
         over the other dims.",
    )
    .grad(Lines)
    .differs("dims are given by name; running statistics are used but not updated")
    .spread(Spread::Along),
    norm(
        "local_response_norm",
        "self, size: Int, alpha: Scalar = 0.0001, beta: Scalar = 0.75, k: Scalar = \
         1.0, *, dim: Dim = 1",
        "Divides by a power of the scaled mean square of neighbouring channels.",
    )
    .differs("the channel dim is given by name")
    .edges(Edges::Scaled("squares of f64 beyond 1e154 overflow"))
    .spread(Spread::Along),
    norm(
        "normalize",
        "self, p: Scalar = 2.0, dim: Dims = 1, eps: Scalar = 1e-12",
        "Divides by the norm along dims, or by `eps` if that is greater.",
    )
    .forms(Forms::WITH_OUT)
    .differs("also takes dims by name")
    .spread(Spread::Along),
    Row::new(
        "cosine_similarity",
        "x1, x2, dim: Dim = 1, eps: Scalar = 1e-08",
        Compose,
        NameRule::Compose,
        "Computes the cosine similarity of two tensors along a dim, which is removed.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(Parts)
    .differs("also takes the dim by name")
    .spread(Spread::Along),
    Row::new(
        "pairwise_distance",
        "x1, x2, p: Scalar = 2.0, eps: Scalar = 1e-06, keepdim: Bool = False, *, dim: \
         Dim = -1",
        Compose,
        NameRule::Compose,
        "Computes the norm of the difference of two tensors along a dim, which is \
         removed.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(Parts)
    .differs("along any dim, also by name")
    .spread(Spread::Along),
];

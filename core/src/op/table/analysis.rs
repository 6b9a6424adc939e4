//! Analysis by name: weighted means, groups, rolling windows and blocks of a dim.

use crate::op::Class::Analysis;
use crate::op::DTypeRule::NoPromotion;
use crate::op::Grad::Parts;
use crate::op::NameRule::{Keeps, Removes, Special};
use crate::op::{DTypes, Forms, NameRule, Row, Samples};

const fn row(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Analysis, rule, doc)
        .dtype(NoPromotion, DTypes::ALL)
        .forms(Forms::METHOD)
        .samples(Samples::Own)
        .differs("not in PyTorch")
        .grad(Parts)
}

const COVAR: &str =
    "self, other, dim: Dims = None, *, correction: Scalar = 1, keepdim: Bool = False";

const fn moment(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    row(name, signature, Removes, doc).dtype(NoPromotion, DTypes::FLOATS)
}

pub(super) const ROWS: &[Row] = &[
    row(
        "weighted_mean",
        "self, weights, dim: Dims = None, keepdim: Bool = False",
        Removes,
        "Computes the weighted mean over dims: the sum of the products, divided by the \
         sum of the weights. The dims of the weights align by name.",
    )
    .dtype(NoPromotion, DTypes::INEXACT),
    row(
        "weighted_nanmean",
        "self, weights, dim: Dims = None, keepdim: Bool = False",
        Removes,
        "Computes the weighted mean over dims of the elements that are not NaN: neither \
         they nor their weights are counted.",
    )
    .dtype(NoPromotion, DTypes::INEXACT),
    moment(
        "corr",
        "self, other, dim: Dims = None, keepdim: Bool = False",
        "Computes the correlation with `other` over dims (Pearson's). The dims of \
         `other` align by name.",
    ),
    moment(
        "nancorr",
        "self, other, dim: Dims = None, keepdim: Bool = False",
        "Computes the correlation with `other` over dims, of the pairs without NaN.",
    ),
    moment(
        "covar",
        COVAR,
        "Computes the covariance with `other` over dims. The dims of `other` align by \
         name. `cov` is the matrix of PyTorch.",
    ),
    moment(
        "nancovar",
        COVAR,
        "Computes the covariance with `other` over dims, of the pairs without NaN.",
    ),
    row(
        "interp",
        "self, dim: Dim, coords, at, method: Word = linear, extrapolate: Bool = False",
        Special,
        "Interpolates along a dim with the given coordinates at other coordinates, \
         whose dims replace the dim. NaN outside, unless it extrapolates.",
    )
    .dtype(NoPromotion, DTypes::INEXACT),
    row(
        "group_by",
        "self, dim: Dim, labels, groups: Int, reduce: Word, *, outdim: Names = None",
        Special,
        "Groups the elements along a dim by labels that count from 0; a reduction \
         replaces the dim by one with an element per group.",
    ),
    row(
        "rolling",
        "self, dim: Dim, window: Int, reduce: Word",
        Keeps,
        "Slides a window of `window` elements along a dim in steps of 1 and reduces \
         each window to one element.",
    ),
    row(
        "resample",
        "self, dim: Dim, steps: Int, reduce: Word",
        Keeps,
        "Divides a dim into blocks of `steps` elements and reduces each block to one \
         element.",
    ),
];

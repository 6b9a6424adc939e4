//! Analysis by name: means with weights, parts of a dim.

use crate::op::Class::Analysis;
use crate::op::DTypeRule::NoPromotion;
use crate::op::Grad::Parts;
use crate::op::NameRule::{Keeps, Removes, Special};
use crate::op::{DTypes, Forms, NameRule, Row, Samples, Spread};

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

pub(super) const ROWS: &[Row] = &[
    row(
        "weighted_mean",
        "self, weights, dim: Dims = None, keepdim: Bool = False",
        Removes,
        "The mean over dims with weights, whose dims align by name: the sum of products over the sum of weights.",
    )
    .dtype(NoPromotion, DTypes::INEXACT).spread(Spread::Whole),
    row(
        "group_by",
        "self, dim: Dim, labels, groups: Int, reduce: Word, *, outdim: Names = None",
        Special,
        "The elements along a dim in groups, by a label each from 0 on; a reduction gives each group an element of a new dim \
         in the dim's place.",
    ).spread(Spread::Whole),
    row(
        "rolling",
        "self, dim: Dim, window: Int, reduce: Word",
        Keeps,
        "The windows of so many elements that slide along a dim by one, to be reduced to an element each.",
    ).spread(Spread::Whole),
    row(
        "resample",
        "self, dim: Dim, steps: Int, reduce: Word",
        Keeps,
        "The blocks of so many elements along a dim, to be reduced to an element each.",
    ).spread(Spread::Whole),
];

//! Views: other layouts of the same elements.

use crate::op::Class::View;
use crate::op::NameRule::{Keeps, Permutes, Removes, Special};
use crate::op::{Forms, Row};

const fn view(
    name: &'static str,
    signature: &'static str,
    rule: crate::op::NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, View, rule, doc)
}

pub(super) const ROWS: &[Row] = &[
    view(
        "transpose",
        "self, dim0: Dim, dim1: Dim",
        Permutes,
        "Swaps two dims.",
    ),
    view(
        "t",
        "self",
        Permutes,
        "Swaps the dims of a matrix; shorter tensors stay as they are.",
    ),
    view(
        "permute",
        "self, dims: Dims",
        Permutes,
        "Reorders all dims.",
    )
    .differs("by name too; names go through"),
    view(
        "align_to",
        "self, names: Order",
        Permutes,
        "Permutes dims to an order of names, with new dims of size 1 and one `..` for the rest.",
    )
    .forms(Forms::METHOD),
    view(
        "align_as",
        "self, other",
        Permutes,
        "Permutes dims to the order of another tensor's.",
    )
    .forms(Forms::METHOD),
    view(
        "flatten",
        "self, dims: Dims = None, out_dim: Names = None",
        Special,
        "Makes consecutive dims one.",
    ),
    view(
        "unflatten",
        "self, dim: Dim, sizes: Sizes",
        Special,
        "Makes one dim several.",
    ),
    view(
        "squeeze",
        "self, dim: Dims = None",
        Removes,
        "Drops dims of size 1.",
    ),
    view(
        "unsqueeze",
        "self, dim: Int",
        Special,
        "Inserts a dim of size 1.",
    )
    .differs("names go through; the new dim may have one"),
    view(
        "expand",
        "self, size: Sizes",
        Special,
        "Repeats dims of size 1 without a copy; new dims on the left are unnamed.",
    )
    .forms(Forms::METHOD),
    view(
        "select",
        "self, dim: Dim, index: Int",
        Removes,
        "The slice at one index of a dim.",
    ),
    view(
        "narrow",
        "self, dim: Dim, start: Int, length: Int",
        Keeps,
        "A range of a dim.",
    ),
    view(
        "unbind",
        "self, dim: Dim = 0",
        Removes,
        "All slices along a dim.",
    ),
    view(
        "split",
        "self, split_size: Sizes, dim: Dim = 0",
        Keeps,
        "Pieces of a dim of given sizes.",
    ),
];

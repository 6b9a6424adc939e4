//! Sorting, order statistics, counting.

use crate::op::Class::{Compose, Index as Places, Sort};
use crate::op::DTypeRule::{Bool, Index, Same};
use crate::op::Grad::{Constant, Lines, Never};
use crate::op::NameRule::{Keeps, Removes, Special};
use crate::op::{Class, DTypes, Forms, NameRule, Row, Spread};

const QUANTILE: &str = "self, q: Operand, dim: Dims = None, keepdim: Bool = False, *, \
                        interpolation: Data = linear";

/// Of dtypes that have an order.
const fn ordered(
    name: &'static str,
    signature: &'static str,
    class: Class,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, class, rule, doc).dtype(Same, DTypes::REAL)
}

/// Values and where they stand.
const fn chosen(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    ordered(name, signature, Sort, rule, doc).forms(Forms::WITH_OUT)
}

pub(super) const ROWS: &[Row] = &[
    chosen(
        "sort",
        "self, dim: Dim = -1, descending: Bool = False, *, stable: Bool = False",
        Keeps,
        "The elements sorted along a dim and their indices; NaN counts as the greatest.",
    )
    .grad(Lines(&[("self", "scatter_add(zeros_like(self), dim, results.1, grad)")])).differs("always stable; by name too").spread(Spread::Along),
    ordered(
        "argsort",
        "self, dim: Dim = -1, descending: Bool = False, *, stable: Bool = False",
        Sort,
        Keeps,
        "Where each element stood that is in order along a dim.",
    )
    .dtype(Index, DTypes::REAL)
    .grad(Constant).differs("always stable; by name too").spread(Spread::Along),
    ordered(
        "msort",
        "self",
        Sort,
        Keeps,
        "The elements sorted along the first dim.",
    )
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "scatter_add(zeros_like(self), 0, argsort(self, 0), grad)")])).spread(Spread::Along),
    chosen(
        "topk",
        "self, k: Int, dim: Dim = -1, largest: Bool = True, sorted: Bool = True",
        Keeps,
        "The `k` greatest elements along a dim, or the smallest, sorted, and their indices.",
    )
    .grad(Lines(&[("self", "scatter_add(zeros_like(self), dim, results.1, grad)")])).differs("always in order, of equal elements the first; of bool too; by name too").spread(Spread::Along),
    chosen(
        "kthvalue",
        "self, k: Int, dim: Dim = -1, keepdim: Bool = False",
        Removes,
        "The `k`-th smallest element along a dim, counted from 1, and its index.",
    )
    .grad(Lines(&[("self", "rule::chosen(grad, self, result, results.1)")])).differs("of equal elements, the one that a stable sort puts there; of bool too").spread(Spread::Along),
    chosen(
        "median",
        "self, dim: Dim = None, keepdim: Bool = False",
        Removes,
        "The median along a dim, the lower one of two, and where it stands; over all dims, the \
         median alone. NaN if there is one.",
    )
    .grad(Lines(&[("self", "rule::chosen(grad, self, result, results.1)")])).differs("of equal elements, the one that a stable sort puts there; of bool too").spread(Spread::Along),
    chosen(
        "nanmedian",
        "self, dim: Dim = None, keepdim: Bool = False",
        Removes,
        "The `median` of the elements that are not NaN.",
    )
    .grad(Lines(&[("self", "rule::chosen(grad, self, result, results.1)")])).differs("of equal elements, the one that a stable sort puts there; of bool too").spread(Spread::Along),
    chosen(
        "mode",
        "self, dim: Dim = -1, keepdim: Bool = False",
        Removes,
        "The most frequent element along a dim, the smallest of several, and its last index.",
    ).grad(Lines(&[("self", "rule::chosen(grad, self, result, results.1)")])).spread(Spread::Along),
    ordered(
        "cummax",
        "self, dim: Dim",
        Sort,
        Keeps,
        "The running maximum along a dim and its index, the last of equal ones.",
    )
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "scatter_add(zeros_like(self), dim, results.1, grad)")])).spread(Spread::Along),
    ordered(
        "cummin",
        "self, dim: Dim",
        Sort,
        Keeps,
        "The running minimum along a dim and its index, the last of equal ones.",
    )
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "scatter_add(zeros_like(self), dim, results.1, grad)")])).spread(Spread::Along),
    ordered(
        "unique",
        "self, sorted: Bool = True, return_inverse: Bool = False, return_counts: Bool = False, \
         dim: Dim = None",
        Compose,
        Special,
        "The different elements in order, in one dim without a name; with a dim, the different \
         slices along it.",
    )
    .grad(Never("the elements are counted and put in order: `sort` has one")).differs("always in order; by name too").spread(Spread::Whole),
    ordered(
        "unique_consecutive",
        "self, return_inverse: Bool = False, return_counts: Bool = False, dim: Dim = None",
        Compose,
        Special,
        "The elements that differ from the one before, in one dim without a name; with a dim, \
         the slices along it.",
    )
    .grad(Never("the elements are counted: `index_select` has one")).differs("by name too").spread(Spread::Whole),
    ordered(
        "searchsorted",
        "sorted_sequence, self: Operand, *, out_int32: Bool = False, right: Bool = False, \
         side: Data = None, sorter: Tensor = None",
        Places,
        Special,
        "Where values would stand in a sorted sequence, or each row of values in one of its own.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Index, DTypes::REAL)
    .grad(Constant).differs("of bool too; the result has the values' names").spread(Spread::Along),
    ordered(
        "bucketize",
        "self: Operand, boundaries, *, out_int32: Bool = False, right: Bool = False",
        Places,
        Keeps,
        "Which of the buckets between sorted boundaries each element belongs to.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Index, DTypes::REAL).grad(Constant).spread(Spread::Elementwise),
    ordered(
        "bincount",
        "self, weights: Tensor = None, minlength: Int = 0",
        Places,
        Special,
        "How often each whole number from 0 on stands, or what its weights add up to, in one dim \
         without a name.",
    )
    .dtype(Index, DTypes::INTEGERS).grad(Never("weights are added up without a record: `index_add` has one")).spread(Spread::Scatter),
    ordered(
        "histc",
        "self, bins: Int = 100, min: Scalar = 0, max: Scalar = 0, *, outdim: Names = None",
        Places,
        Special,
        "How many elements fall into each of equal bins from `min` to `max`, along one dim; from the \
         smallest element to the greatest where both are the same.",
    )
    .grad(Never("a count has no slope")).differs("the dim may have a name, and with types has one; of f16 too, where a count beyond its range is an error")
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS).spread(Spread::Scatter),
    ordered(
        "isin",
        "elements: Operand, test_elements: Operand, *, assume_unique: Bool = False, \
         invert: Bool = False",
        Places,
        Keeps,
        "Whether each element is one of others.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .dtype(Bool, DTypes::REAL)
    .grad(Constant).differs("of bool too; a method of the elements").spread(Spread::Whole),
    ordered(
        "quantile",
        QUANTILE,
        Compose,
        Special,
        "Quantiles of the elements along a dim, or of all; those of a list `q` along a new first \
         dim, with the name it has. NaN if there is one.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS)
    .grad(Lines(&[("self", "rule::quantile(grad, self, q, 0)"), ("q", "rule::quantile(grad, self, q, 1)")])).differs("of f16 and bf16 too; by name too").spread(Spread::Along),
    ordered(
        "nanquantile",
        QUANTILE,
        Compose,
        Special,
        "The `quantile` of the elements that are not NaN.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS)
    .grad(Lines(&[("self", "rule::quantile(grad, self, q, 0)"), ("q", "rule::quantile(grad, self, q, 1)")])).differs("of f16 and bf16 too; by name too").spread(Spread::Along),
];

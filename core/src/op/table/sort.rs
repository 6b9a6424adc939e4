//! Sorting, order statistics, counting.

use crate::op::Class::{Compose, Index as Places, Sort};
use crate::op::DTypeRule::{Bool, Index, Same};
use crate::op::Grad::{Constant, Never};
use crate::op::NameRule::{Keeps, Removes, Special};
use crate::op::{Class, DTypes, Forms, NameRule, Row, Spread};

const QUANTILE: &str = "self, q: Operand, dim: Dims = None, keepdim: Bool = False, *, interpolation: \
 Data = linear";

/// An operator for ordered dtypes.
const fn ordered(
    name: &'static str,
    signature: &'static str,
    class: Class,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, class, rule, doc).dtype(Same, DTypes::REAL)
}

/// An operator that returns values and their indices.
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
        "Sorts the elements along a dim and also returns their indices; NaN counts as \
         the greatest.",
    )
    .differs("always stable; also takes the dim by name"),
    ordered(
        "argsort",
        "self, dim: Dim = -1, descending: Bool = False, *, stable: Bool = False",
        Sort,
        Keeps,
        "Returns the indices that sort the elements along a dim.",
    )
    .dtype(Index, DTypes::REAL)
    .grad(Constant)
    .differs("always stable; also takes the dim by name"),
    ordered(
        "msort",
        "self",
        Sort,
        Keeps,
        "Sorts the elements along the first dim.",
    )
    .forms(Forms::WITH_OUT),
    chosen(
        "topk",
        "self, k: Int, dim: Dim = -1, largest: Bool = True, sorted: Bool = True",
        Keeps,
        "Returns the `k` greatest or smallest elements along a dim, sorted, and their \
         indices.",
    )
    .differs(
        "always sorted; of equal elements, takes the first; also supports bool; also \
         takes the dim by name",
    ),
    chosen(
        "kthvalue",
        "self, k: Int, dim: Dim = -1, keepdim: Bool = False",
        Removes,
        "Returns the `k`-th smallest element along a dim, counted from 1, and its \
         index.",
    )
    .differs("of equal elements, the one that a stable sort puts there; also supports bool"),
    chosen(
        "median",
        "self, dim: Dim = None, keepdim: Bool = False",
        Removes,
        "Returns the median along a dim, the lower of two, and its index; over all \
         dims, the median alone. NaN if any element is NaN.",
    )
    .differs("of equal elements, the one that a stable sort puts there; also supports bool"),
    chosen(
        "nanmedian",
        "self, dim: Dim = None, keepdim: Bool = False",
        Removes,
        "Returns the `median` of the elements that are not NaN.",
    )
    .differs("of equal elements, the one that a stable sort puts there; also supports bool"),
    chosen(
        "mode",
        "self, dim: Dim = -1, keepdim: Bool = False",
        Removes,
        "Returns the most frequent element along a dim, the smallest of several, and \
         its last index.",
    ),
    ordered(
        "cummax",
        "self, dim: Dim",
        Sort,
        Keeps,
        "Returns the running maximum along a dim and its index, the last of equal ones.",
    )
    .forms(Forms::WITH_OUT),
    ordered(
        "cummin",
        "self, dim: Dim",
        Sort,
        Keeps,
        "Returns the running minimum along a dim and its index, the last of equal ones.",
    )
    .forms(Forms::WITH_OUT),
    ordered(
        "unique",
        "self, sorted: Bool = True, return_inverse: Bool = False, return_counts: Bool \
         = False, dim: Dim = None",
        Compose,
        Special,
        "Returns the distinct elements in order, in one unnamed dim; with a dim, the \
         distinct slices along it.",
    )
    .grad(Never("sorted by counts; `sort` has a gradient"))
    .differs("always sorted; also takes the dim by name")
    .spread(Spread::Whole),
    ordered(
        "unique_consecutive",
        "self, return_inverse: Bool = False, return_counts: Bool = False, dim: Dim = \
         None",
        Compose,
        Special,
        "Returns the elements that differ from their predecessor, in one unnamed dim; \
         with a dim, the slices along it.",
    )
    .grad(Never("counts have no gradient; `index_select` has one"))
    .differs("also takes the dim by name")
    .spread(Spread::Whole),
    ordered(
        "searchsorted",
        "sorted_sequence, self: Operand, *, out_int32: Bool = False, right: Bool = \
         False, side: Data = None, sorter: Tensor = None",
        Places,
        Special,
        "Returns the positions at which values would be inserted in a sorted sequence; \
         with several rows, each row of values in its own sequence.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Index, DTypes::REAL)
    .grad(Constant)
    .differs("also supports bool; the result has the names of the values")
    .spread(Spread::Along),
    ordered(
        "bucketize",
        "self: Operand, boundaries, *, out_int32: Bool = False, right: Bool = False",
        Places,
        Keeps,
        "Returns the index of the bucket between sorted boundaries that each element \
         belongs to.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Index, DTypes::REAL)
    .grad(Constant)
    .spread(Spread::Elementwise),
    ordered(
        "bincount",
        "self, weights: Tensor = None, minlength: Int = 0",
        Places,
        Special,
        "Counts the occurrences of each whole number from 0 on, or sums their weights, \
         in one unnamed dim.",
    )
    .dtype(Index, DTypes::INTEGERS)
    .grad(Never("sums are not recorded; `index_add` has a gradient"))
    .spread(Spread::Scatter),
    ordered(
        "histc",
        "self, bins: Int = 100, min: Scalar = 0, max: Scalar = 0, *, outdim: Names = \
         None",
        Places,
        Special,
        "Counts the elements in equal bins from `min` to `max`, along one dim; from \
         the smallest element to the greatest if both are the same.",
    )
    .grad(Never("counts have no gradient"))
    .differs(
        "the dim may have a name, and has one in types; also supports f16, where a \
         count beyond its range is an error",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS)
    .spread(Spread::Scatter),
    ordered(
        "isin",
        "elements: Operand, test_elements: Operand, *, assume_unique: Bool = False, \
         invert: Bool = False",
        Places,
        Keeps,
        "Returns whether each element is among the test elements.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .dtype(Bool, DTypes::REAL)
    .grad(Constant)
    .differs("also supports bool; a method of the elements")
    .spread(Spread::Whole),
    ordered(
        "quantile",
        QUANTILE,
        Compose,
        Special,
        "Computes quantiles of the elements along a dim, or of all; those of a list \
         `q` along a new first dim with the name of the list's dim. NaN if any element \
         is NaN.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS)
    .differs("also supports f16 and bf16; also takes dims by name")
    .spread(Spread::Along),
    ordered(
        "nanquantile",
        QUANTILE,
        Compose,
        Special,
        "Computes the `quantile` of the elements that are not NaN.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::FLOATS)
    .differs("also supports f16 and bf16; also takes dims by name")
    .spread(Spread::Along),
];

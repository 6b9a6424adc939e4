//! Indexing: by position, by index tensors, by masks.

use crate::op::Class::{Index, View};
use crate::op::Grad::Constant;
use crate::op::NameRule::{Keeps, Special, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, NameRule, Row, Spread};

const fn row(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Index, rule, doc)
}

const NAMED: &str = "names propagate";
const ANY_RANK: &str = "names propagate; an index may have any number of dims; negative indices count \
 from the end";
const NEGATIVE: &str = "names propagate; negative indices count from the end";

pub(super) const ROWS: &[Row] = &[
    row(
        "index_fill",
        "self, dim: Dim, index, value: Operand",
        Keeps,
        "Writes a number at the indices of a dim.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .differs("an index may have any number of dims")
    .spread(Spread::Along),
    row(
        "index_select",
        "self, dim: Dim, index",
        Special,
        "Returns the slices at the indices of a dim; the dims of the index replace the \
         dim.",
    )
    .forms(Forms::WITH_OUT)
    .differs(ANY_RANK)
    .spread(Spread::Lookup),
    row(
        "gather",
        "self, dim: Dim, index, *, sparse_grad: Bool = False",
        Unifies,
        "Returns for each element of the index the element of `self` at the same \
         position, with the index as the position along one dim.",
    )
    .forms(Forms::WITH_OUT)
    .differs(NEGATIVE)
    .spread(Spread::Lookup),
    row(
        "scatter",
        "self, dim: Dim, index, src: Operand, *, reduce: Data = None",
        Unifies,
        "Writes values to `self` at the positions that `gather` would read.",
    )
    .forms(Forms::ALL)
    .differs(NEGATIVE)
    .spread(Spread::Scatter),
    row(
        "scatter_add",
        "self, dim: Dim, index, src",
        Unifies,
        "Adds values to `self` at the positions that `gather` would read, always in \
         the order of the index.",
    )
    .forms(Forms::ALL)
    .differs(NEGATIVE)
    .spread(Spread::Scatter),
    row(
        "scatter_reduce",
        "self, dim: Dim, index, src, reduce: Data, *, include_self: Bool = True",
        Unifies,
        "Reduces values into `self` at the positions that `gather` would read: sum, \
         prod, mean, amax or amin.",
    )
    .forms(Forms::ALL)
    .differs(NEGATIVE)
    .spread(Spread::Scatter),
    row(
        "index_add",
        "self, dim: Dim, index, source, *, alpha: Scalar = 1",
        Special,
        "Adds slices to `self` at the indices of a dim.",
    )
    .forms(Forms::ALL)
    .differs(ANY_RANK)
    .spread(Spread::Scatter),
    row(
        "index_copy",
        "self, dim: Dim, index, source",
        Special,
        "Copies slices into `self` at the indices of a dim.",
    )
    .forms(Forms::ALL)
    .differs(ANY_RANK)
    .spread(Spread::Along),
    row(
        "index_reduce",
        "self, dim: Dim, index, source, reduce: Data, *, include_self: Bool = True",
        Special,
        "Reduces slices into `self` at the indices of a dim: prod, mean, amax or amin.",
    )
    .forms(Forms::ALL)
    .differs(ANY_RANK)
    .spread(Spread::Scatter),
    row(
        "index",
        "self, indices: Tensors",
        Special,
        "Returns the elements at index tensors, one or none for each of the first \
         dims: `x[a, :, b]`.",
    )
    .differs("names propagate: the indices unify, and their dims replace the indexed dims")
    .spread(Spread::Lookup),
    row(
        "index_put",
        "self, indices: Tensors, values, accumulate: Bool = False",
        Special,
        "Writes or adds values at the positions that `index` would read.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .differs(NAMED)
    .spread(Spread::Scatter),
    row(
        "take",
        "self, index",
        Special,
        "Returns the elements at flat row-major indices; the result has the dims of \
         the index.",
    )
    .forms(Forms::WITH_OUT)
    .differs(NAMED)
    .spread(Spread::Whole),
    row(
        "take_along_dim",
        "self, indices, dim: Dim = None",
        Unifies,
        "Gathers along a dim like `gather`, but broadcasts the other dims.",
    )
    .forms(Forms::WITH_OUT)
    .differs(NEGATIVE)
    .spread(Spread::Lookup),
    row(
        "put",
        "self, index, source, accumulate: Bool = False",
        Keeps,
        "Writes or adds values at flat row-major indices.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .differs(NAMED)
    .spread(Spread::Whole),
    row(
        "masked_scatter",
        "self, mask, source",
        Unifies,
        "Writes the values of `source`, in order, at the positions where `mask` is \
         true.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .differs(NAMED)
    .spread(Spread::Whole),
    row(
        "nonzero",
        "self, *, as_tuple: Bool = False",
        Special,
        "Returns the indices of the elements that differ from zero, a row each, \
         without names.",
    )
    .dtype(DTypeRule::Index, DTypes::ALL)
    .forms(Forms::WITH_OUT)
    .grad(Constant)
    .spread(Spread::Whole),
    row(
        "argwhere",
        "self",
        Special,
        "Returns the indices of the elements that differ from zero, a row each, \
         without names.",
    )
    .dtype(DTypeRule::Index, DTypes::ALL)
    .grad(Constant)
    .spread(Spread::Whole),
    row(
        "embedding",
        "input, weight, padding_idx: Int = None, *, scale_grad_by_freq: Bool = False, \
         sparse: Bool = False",
        Special,
        "Looks up rows of `weight`; the result has the dims of the indices, then those \
         of a row.",
    )
    .forms(Forms::FUNCTION)
    .differs("names propagate; any dim of the weight may be indexed; no `max_norm`")
    .spread(Spread::Lookup),
    row(
        "one_hot",
        "self, num_classes: Int = -1",
        Special,
        "Returns a row for each index, one at the index and zero elsewhere, along a \
         new last dim.",
    )
    .forms(Forms::FUNCTION)
    .dtype(DTypeRule::Index, DTypes::INTEGERS)
    .grad(Constant)
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::Elementwise),
    row(
        "unravel_index",
        "indices, shape: Sizes",
        Keeps,
        "Converts flat row-major indices to one index per dim of a shape.",
    )
    .forms(Forms::FUNCTION)
    .dtype(DTypeRule::Index, DTypes::INTEGERS)
    .grad(Constant)
    .differs(NAMED)
    .spread(Spread::Along),
    row(
        "select_scatter",
        "self, src, dim: Dim, index: Int",
        Keeps,
        "Returns a copy of `self` with `src` in place of the slice that `select` would \
         return.",
    )
    .differs(NAMED)
    .spread(Spread::Along),
    row(
        "slice_scatter",
        "self, src, dim: Dim = 0, start: Int = None, end: Int = None, step: Int = 1",
        Keeps,
        "Returns a copy of `self` with `src` in place of a range of a dim.",
    )
    .differs(NAMED)
    .spread(Spread::Along),
    row(
        "diagonal_scatter",
        "self, src, offset: Int = 0, dim1: Dim = 0, dim2: Dim = 1",
        Keeps,
        "Returns a copy of `self` with `src` in place of the diagonal that `diagonal` \
         would return.",
    )
    .differs(NAMED)
    .spread(Spread::Along),
    Row::new(
        "at",
        "self, indices: Data",
        View,
        Special,
        "Returns the part at indices by name: a number removes its dim, a range keeps \
         it, the dims of an index tensor replace it.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Part),
];

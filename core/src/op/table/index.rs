//! Operators that copy elements to other places.

use crate::op::Class::Index;
use crate::op::Grad::Lines;
use crate::op::NameRule::{Special, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "cat",
        "tensors: Tensors, dim: Dim = 0",
        Index,
        Unifies,
        "Concatenates tensors along an existing dim.",
    )
    .dtype(DTypeRule::Same, DTypes::ALL)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .aliases(&["concat", "concatenate"])
    .grad(Lines(&[("tensors", "rule::cat(grad, tensors)")]))
    .spread(Spread::Part),
    Row::new(
        "stack",
        "tensors: Tensors, dim: Int = 0",
        Index,
        Unifies,
        "Stacks tensors along a new dim.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .grad(Lines(&[("tensors", "unbind(grad, dim)")]))
    .differs("names propagate; the new dim may have a name")
    .spread(Spread::Rearrange),
    Row::new(
        "masked_select",
        "self, mask",
        Index,
        Special,
        "Returns the elements where `mask` is true, in one unnamed dim.",
    )
    .forms(Forms::WITH_OUT)
    .grad(Lines(&[(
        "self",
        "masked_scatter(where_cond(mask, zeros_like(self), 0), mask, grad)",
    )]))
    .spread(Spread::Whole),
];

//! Operators that copy elements to other places.

use crate::op::Class::Index;
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
    .spread(Spread::Part),
    Row::new(
        "stack",
        "tensors: Tensors, dim: Int = 0",
        Index,
        Unifies,
        "Stacks tensors along a new dim.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
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
    .spread(Spread::Whole),
];

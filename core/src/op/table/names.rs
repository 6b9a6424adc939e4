//! Operators that change only names.

use crate::op::Class::Names;
use crate::op::NameRule::Special;
use crate::op::{Forms, Row, Spread};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "rename",
        "self, names: Order",
        Names,
        Special,
        "Renames dims.",
    )
    .forms(Forms::METHOD.and(Forms::IN_PLACE))
    .spread(Spread::Rearrange),
    Row::new(
        "refine_names",
        "self, names: Order",
        Names,
        Special,
        "Names dims that have no name.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
];

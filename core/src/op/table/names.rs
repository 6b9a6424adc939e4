//! Operators on names alone.

use crate::op::Class::Names;
use crate::op::NameRule::Special;
use crate::op::{Forms, Row, Spread};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "rename",
        "self, names: Order",
        Names,
        Special,
        "Gives dims other names.",
    )
    .forms(Forms::METHOD.and(Forms::IN_PLACE))
    .spread(Spread::Rearrange),
    Row::new(
        "refine_names",
        "self, names: Order",
        Names,
        Special,
        "Gives names to dims that have none.",
    )
    .forms(Forms::METHOD)
    .spread(Spread::Rearrange),
];

//! Operators that change only names.

use crate::op::Class::Names;
use crate::op::NameRule::Special;
use crate::op::{Forms, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "rename",
        "self, names: Order",
        Names,
        Special,
        "Renames dims.",
    )
    .forms(Forms::METHOD.and(Forms::IN_PLACE)),
    Row::new(
        "refine_names",
        "self, names: Order",
        Names,
        Special,
        "Names dims that have no name.",
    )
    .forms(Forms::METHOD),
];

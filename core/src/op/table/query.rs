//! Queries, which return no tensor.

use crate::op::Class::Query;
use crate::op::NameRule::None;
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

const fn query(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Query, None, doc)
        .dtype(DTypeRule::None, DTypes::ALL)
        .forms(Forms::METHOD)
}

pub(super) const ROWS: &[Row] = &[
    query(
        "size",
        "self, dim: Dim = None",
        "Returns the size of a dim, or of all dims.",
    ),
    query(
        "stride",
        "self, dim: Dim = None",
        "Returns the stride of a dim in elements, or of all dims.",
    ),
    query("names", "self", "Returns the names of the dims."),
    query("has_names", "self", "Returns whether any dim has a name."),
    query("item", "self", "Returns the only element as a number.").spread(Spread::Whole),
    query("shape", "self", "Returns the sizes."),
    query("dim", "self", "Returns the number of dims.").aliases(&["ndimension", "ndim"]),
    query("numel", "self", "Returns the number of elements.")
        .forms(Forms::PURE)
        .aliases(&["nelement"]),
    query("dtype", "self", "Returns the dtype."),
    query("device", "self", "Returns the device.")
        .forms(Forms::PURE)
        .differs("in Rust, `parse::<Device>()` reads a device from text"),
    query(
        "storage_offset",
        "self",
        "Returns the index of the first element in its buffer.",
    ),
    query(
        "is_contiguous",
        "self, *, memory_format: Format = contiguous_format",
        "Returns whether the elements are in row-major, or the given, order without \
         gaps.",
    ),
    query(
        "equal",
        "self, other",
        "Returns whether names, sizes and elements are equal.",
    )
    .forms(Forms::PURE)
    .spread(Spread::Whole),
];

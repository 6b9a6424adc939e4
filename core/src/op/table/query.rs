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
    )
    .spread(Spread::Local),
    query(
        "stride",
        "self, dim: Dim = None",
        "Returns the stride of a dim in elements, or of all dims.",
    )
    .spread(Spread::Local),
    query("names", "self", "Returns the names of the dims.").spread(Spread::Local),
    query("has_names", "self", "Returns whether any dim has a name.").spread(Spread::Local),
    query("item", "self", "Returns the only element as a number.").spread(Spread::Whole),
    query("shape", "self", "Returns the sizes.").spread(Spread::Local),
    query("dim", "self", "Returns the number of dims.")
        .aliases(&["ndimension", "ndim"])
        .spread(Spread::Local),
    query("numel", "self", "Returns the number of elements.")
        .forms(Forms::PURE)
        .aliases(&["nelement"])
        .spread(Spread::Local),
    query("dtype", "self", "Returns the dtype.").spread(Spread::Local),
    query("device", "self", "Returns the device.")
        .forms(Forms::PURE)
        .differs("in Rust, `parse::<Device>()` reads a device from text")
        .spread(Spread::Local),
    query(
        "storage_offset",
        "self",
        "Returns the index of the first element in its buffer.",
    )
    .spread(Spread::Local),
    query(
        "is_contiguous",
        "self, *, memory_format: Format = contiguous_format",
        "Returns whether the elements are in row-major, or the given, order without gaps.",
    )
    .spread(Spread::Local),
    query(
        "equal",
        "self, other",
        "Returns whether names, sizes and elements are equal.",
    )
    .forms(Forms::PURE)
    .spread(Spread::Whole),
];

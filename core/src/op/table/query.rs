//! Queries, whose result is not a tensor.

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
        "The size of a dim, or of all.",
    )
    .spread(Spread::Local),
    query(
        "stride",
        "self, dim: Dim = None",
        "The stride of a dim in elements, or of all.",
    )
    .spread(Spread::Local),
    query("names", "self", "The names of the dims.").spread(Spread::Local),
    query("has_names", "self", "Whether any dim has a name.").spread(Spread::Local),
    query("item", "self", "The one element, as a number.").spread(Spread::Whole),
    query("shape", "self", "The sizes.").spread(Spread::Local),
    query("dim", "self", "The number of dims.")
        .aliases(&["ndimension", "ndim"])
        .spread(Spread::Local),
    query("numel", "self", "The number of elements.")
        .forms(Forms::PURE)
        .aliases(&["nelement"])
        .spread(Spread::Local),
    query("dtype", "self", "The dtype.").spread(Spread::Local),
    query("device", "self", "The device.")
        .forms(Forms::PURE)
        .differs("the function that reads a device from text is `parse::<Device>()` in Rust")
        .spread(Spread::Local),
    query(
        "storage_offset",
        "self",
        "The index of the first element in its buffer.",
    )
    .spread(Spread::Local),
    query(
        "is_contiguous",
        "self, *, memory_format: Format = contiguous_format",
        "Whether the elements stand in row-major order, or in the given one, without gaps.",
    )
    .spread(Spread::Local),
    query(
        "equal",
        "self, other",
        "Whether names, sizes and elements are equal.",
    )
    .forms(Forms::PURE)
    .spread(Spread::Whole),
];

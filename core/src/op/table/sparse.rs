//! Sparse tensors: coordinates and values.

use crate::op::Class::{Copy, Fill, Index, Query};
use crate::op::Grad::{Constant, Never};
use crate::op::NameRule::{Factory, Keeps, None, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

const fn copy(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Copy, Keeps, doc).forms(Forms::METHOD)
}

const fn query(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, "self", Query, None, doc)
        .dtype(DTypeRule::None, DTypes::ALL)
        .forms(Forms::METHOD)
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "sparse_coo_tensor",
        "indices: Operand, values: Operand, size: Sizes = None, *, names: Names = None, dtype: DType = None, device: Device = None, is_coalesced: Bool = False",
        Fill,
        Factory,
        "A sparse tensor from coordinates, one row per sparse dim, and the values there.",
    )
    .dtype(DTypeRule::Argument, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Never("a sparse tensor records nothing: take `to_dense` first")).differs("takes names; in Rust, `from_coo`").spread(Spread::Refused),
    copy(
        "coalesce",
        "self",
        "Entries in row-major order; values at one place become their sum.",
    ).grad(Never("a sparse tensor records nothing: take `to_dense` first")).spread(Spread::Refused),
    query(
        "is_coalesced",
        "Whether entries stand in row-major order, each at a place of its own.",
    ).spread(Spread::Refused),
    Row::new(
        "indices",
        "self",
        Index,
        None,
        "The coordinates of a coalesced sparse tensor: one row per sparse dim.",
    )
    .dtype(DTypeRule::Index, DTypes::ALL)
    .forms(Forms::METHOD).grad(Constant).spread(Spread::Refused),
    Row::new(
        "values",
        "self",
        Index,
        Keeps,
        "The values of a coalesced sparse tensor; dense dims keep their names.",
    )
    .forms(Forms::METHOD).grad(Never("a sparse tensor records nothing: take `to_dense` first")).spread(Spread::Refused),
    query("nnz", "The number of entries.").aliases(&["_nnz"]).spread(Spread::Refused),
    query("sparse_dim", "The number of sparse dims.").spread(Spread::Refused),
    query("dense_dim", "The number of dense dims.").spread(Spread::Refused),
    copy(
        "to_dense",
        "self, dtype: DType = None",
        "All elements of a sparse tensor; a dense one as it is.",
    )
    .dtype(DTypeRule::Argument, DTypes::ALL).grad(Never("a sparse tensor records nothing: take `to_dense` first")).spread(Spread::Refused),
    copy(
        "to_sparse",
        "self, sparse_dim: Int = None",
        "The elements that differ from zero, as a sparse tensor.",
    )
    .grad(Never("a sparse tensor records nothing: take `to_dense` first")).differs("names go through; another layout than COO is not there").spread(Spread::Refused),
    Row::new(
        "sparse_mask",
        "self, mask",
        Index,
        Unifies,
        "The elements at the places of a sparse tensor.",
    )
    .forms(Forms::METHOD)
    .grad(Never("a sparse tensor records nothing: take `to_dense` first")).differs("names unify").spread(Spread::Refused),
];

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
        "indices: Operand, values: Operand, size: Sizes = None, *, names: Names = \
         None, dtype: DType = None, device: Device = None, is_coalesced: Bool = False",
        Fill,
        Factory,
        "Creates a sparse tensor from coordinates, one row per sparse dim, and the \
         values there.",
    )
    .dtype(DTypeRule::Argument, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .differs("takes names; in Rust, `from_coo`")
    .spread(Spread::Refused),
    copy(
        "coalesce",
        "self",
        "Sorts the entries in row-major order and sums the values at each position.",
    )
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .spread(Spread::Refused),
    query(
        "is_coalesced",
        "Returns whether the entries are in row-major order, one at most for each \
         position.",
    )
    .spread(Spread::Refused),
    Row::new(
        "indices",
        "self",
        Index,
        None,
        "Returns the coordinates of a coalesced sparse tensor, one row per sparse dim.",
    )
    .dtype(DTypeRule::Index, DTypes::ALL)
    .forms(Forms::METHOD)
    .grad(Constant)
    .spread(Spread::Refused),
    Row::new(
        "values",
        "self",
        Index,
        Keeps,
        "Returns the values of a coalesced sparse tensor; dense dims keep their names.",
    )
    .forms(Forms::METHOD)
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .spread(Spread::Refused),
    query("nnz", "Returns the number of entries.")
        .aliases(&["_nnz"])
        .spread(Spread::Refused),
    query("sparse_dim", "Returns the number of sparse dims.").spread(Spread::Refused),
    query("dense_dim", "Returns the number of dense dims.").spread(Spread::Refused),
    copy(
        "to_dense",
        "self, dtype: DType = None",
        "Converts a sparse tensor to a dense one; a dense tensor is returned unchanged.",
    )
    .dtype(DTypeRule::Argument, DTypes::ALL)
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .spread(Spread::Refused),
    copy(
        "to_sparse",
        "self, sparse_dim: Int = None",
        "Converts the elements that differ from zero to a sparse tensor.",
    )
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .differs("names propagate; COO is the only layout")
    .spread(Spread::Refused),
    Row::new(
        "sparse_mask",
        "self, mask",
        Index,
        Unifies,
        "Returns the elements at the positions of a sparse tensor.",
    )
    .forms(Forms::METHOD)
    .grad(Never("sparse tensors record no gradient: use `to_dense`"))
    .differs("names unify")
    .spread(Spread::Refused),
];

//! Products that contract dims.

use crate::op::Class::{Compose, Gemm};
use crate::op::DTypeRule::NoPromotion;
use crate::op::NameRule::Contracts;
use crate::op::{DTypes, Forms, NameRule, Row, Spread};

const fn product(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Gemm, Contracts, doc)
        .dtype(NoPromotion, DTypes::ALL)
        .forms(Forms::WITH_OUT)
}

const fn added(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Compose, NameRule::Compose, doc)
        .dtype(NoPromotion, DTypes::NUMBERS)
        .forms(Forms::ALL)
}

pub(super) const ROWS: &[Row] = &[
    product("mm", "self, mat2", "Multiplies two matrices."),
    product("mv", "self, vec", "Multiplies a matrix by a vector."),
    product(
        "dot",
        "self, tensor",
        "Computes the inner product of two vectors.",
    ),
    product("bmm", "self, mat2", "Multiplies two batches of matrices."),
    product(
        "matmul",
        "self, other",
        "Computes the matrix product over the last two dims; batch dims broadcast.",
    ),
    added(
        "addmm",
        "self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the product of two matrices.",
    )
    .spread(Spread::Contract),
    added(
        "addmv",
        "self, mat, vec, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the product of a matrix and a \
         vector.",
    )
    .spread(Spread::Contract),
    added(
        "baddbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the products of two batches \
         of matrices.",
    )
    .spread(Spread::Contract),
    added(
        "addbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the sum of the products of \
         two batches of matrices.",
    )
    .spread(Spread::Contract),
    Row::new(
        "cdist",
        "x1, x2, p: Scalar = 2.0, compute_mode: Mode = None",
        Compose,
        Contracts,
        "Computes the distance between each pair of rows of two matrices, the `p`-norm \
         of their difference.",
    )
    .dtype(NoPromotion, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .differs("also supports f16 and bf16")
    .spread(Spread::Along),
    product(
        "contract",
        "self, other, dim: Dims",
        "Multiplies and sums over dims that both tensors have, by name.",
    )
    .forms(Forms::PURE)
    .differs("not in PyTorch, which has `tensordot` by position"),
];

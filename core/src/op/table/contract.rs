//! Products that contract dims.

use crate::op::Class::{Compose, Gemm};
use crate::op::DTypeRule::NoPromotion;
use crate::op::NameRule::Contracts;
use crate::op::{DTypes, Forms, NameRule, Row};

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
    product("mm", "self, mat2", "The product of two matrices.")
        .grad(&["mm(grad, t(y))", "mm(t(x), grad)"]),
    product("mv", "self, vec", "The product of a matrix and a vector.")
        .grad(&["outer(grad, y)", "mv(t(x), grad)"]),
    product("dot", "self, tensor", "The inner product of two vectors.")
        .grad(&["grad * y", "grad * x"]),
    product("bmm", "self, mat2", "Products of two batches of matrices.")
        .grad(&["bmm(grad, mT(y))", "bmm(mT(x), grad)"]),
    product(
        "matmul",
        "self, other",
        "The matrix product over the last two dims; batch dims broadcast.",
    )
    .grad(&["matmul(grad, mT(y))", "matmul(mT(x), grad)"]),
    added(
        "addmm",
        "self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "`beta` times self, plus `alpha` times the product of two matrices.",
    )
    .grad(&[
        "grad * beta",
        "alpha * mm(grad, t(z))",
        "alpha * mm(t(y), grad)",
    ]),
    added(
        "addmv",
        "self, mat, vec, *, beta: Scalar = 1, alpha: Scalar = 1",
        "`beta` times self, plus `alpha` times the product of a matrix and a vector.",
    )
    .grad(&[
        "grad * beta",
        "alpha * outer(grad, z)",
        "alpha * mv(t(y), grad)",
    ]),
    added(
        "baddbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "`beta` times self, plus `alpha` times the products of two batches of matrices.",
    )
    .grad(&[
        "grad * beta",
        "alpha * bmm(grad, mT(z))",
        "alpha * bmm(mT(y), grad)",
    ]),
    added(
        "addbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "`beta` times self, plus `alpha` times the sum of the products of two batches of matrices.",
    )
    .grad(&[
        "grad * beta",
        "alpha * matmul(grad, mT(z))",
        "alpha * matmul(mT(y), grad)",
    ]),
    Row::new(
        "cdist",
        "x1, x2, p: Scalar = 2.0, compute_mode: Mode = None",
        Compose,
        Contracts,
        "The distance of every row of one matrix from every row of another, as the `p`-norm of \
         their difference.",
    )
    .dtype(NoPromotion, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .differs("of f16 and bf16 too"),
    product(
        "contract",
        "self, other, dim: Dims",
        "Multiplies and sums over dims that both have, by name.",
    )
    .forms(Forms::PURE)
    .differs("not in PyTorch; there by position as `tensordot`"),
];

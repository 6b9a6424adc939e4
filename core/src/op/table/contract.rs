//! Products that contract dims.

use crate::op::Class::{Compose, Gemm};
use crate::op::DTypeRule::NoPromotion;
use crate::op::NameRule::Contracts;
use crate::op::{DTypes, Forms, Row};

const fn product(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Gemm, Contracts, doc)
        .dtype(NoPromotion, DTypes::ALL)
        .forms(Forms::WITH_OUT)
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
    Row::new(
        "addmm",
        "self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1",
        Compose,
        crate::op::NameRule::Compose,
        "`beta` times self, plus `alpha` times the product of two matrices.",
    )
    .dtype(NoPromotion, DTypes::NUMBERS)
    .forms(Forms::ALL)
    .grad(&[
        "grad * beta",
        "alpha * mm(grad, t(z))",
        "alpha * mm(t(y), grad)",
    ]),
    product(
        "contract",
        "self, other, dim: Dims",
        "Multiplies and sums over dims that both have, by name.",
    )
    .forms(Forms::PURE)
    .differs("not in PyTorch; there by position as `tensordot`"),
];

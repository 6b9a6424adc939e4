//! Products that contract dims.

use crate::op::Class::{Compose, Gemm};
use crate::op::DTypeRule::NoPromotion;
use crate::op::Grad::Lines;
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
    product("mm", "self, mat2", "Multiplies two matrices.")
        .grad(Lines(&[
            ("self", "mm(grad, conj(t(mat2)))"),
            ("mat2", "mm(conj(t(self)), grad)"),
        ]))
        .spread(Spread::Contract),
    product("mv", "self, vec", "Multiplies a matrix by a vector.")
        .grad(Lines(&[
            ("self", "outer(grad, conj(vec))"),
            ("vec", "mv(conj(t(self)), grad)"),
        ]))
        .spread(Spread::Contract),
    product("dot", "self, tensor", "Computes the inner product of two vectors.")
        .grad(Lines(&[
            ("self", "grad * conj(tensor)"),
            ("tensor", "grad * conj(self)"),
        ]))
        .spread(Spread::Contract),
    product("bmm", "self, mat2", "Multiplies two batches of matrices.")
        .grad(Lines(&[
            ("self", "bmm(grad, conj(transpose(mat2, 1, 2)))"),
            ("mat2", "bmm(conj(transpose(self, 1, 2)), grad)"),
        ]))
        .spread(Spread::Contract),
    product(
        "matmul",
        "self, other",
        "Computes the matrix product over the last two dims; batch dims broadcast.",
    )
    .grad(Lines(&[
        ("self", "rule::matmul(grad, self, other, 0)"),
        ("other", "rule::matmul(grad, self, other, 1)"),
    ]))
    .spread(Spread::Contract),
    added(
        "addmm",
        "self, mat1, mat2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the product of two matrices.",
    )
    .grad(Lines(&[
        ("self", "grad * conj(beta)"),
        ("mat1", "conj(alpha) * mm(grad, conj(t(mat2)))"),
        ("mat2", "conj(alpha) * mm(conj(t(mat1)), grad)"),
    ]))
    .spread(Spread::Contract),
    added(
        "addmv",
        "self, mat, vec, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the product of a matrix and a vector.",
    )
    .grad(Lines(&[
        ("self", "grad * conj(beta)"),
        ("mat", "conj(alpha) * outer(grad, conj(vec))"),
        ("vec", "conj(alpha) * mv(conj(t(mat)), grad)"),
    ]))
    .spread(Spread::Contract),
    added(
        "baddbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the products of two batches of matrices.",
    )
    .grad(Lines(&[
        ("self", "grad * conj(beta)"),
        (
            "batch1",
            "conj(alpha) * bmm(grad, conj(transpose(batch2, 1, 2)))",
        ),
        (
            "batch2",
            "conj(alpha) * bmm(conj(transpose(batch1, 1, 2)), grad)",
        ),
    ]))
    .spread(Spread::Contract),
    added(
        "addbmm",
        "self, batch1, batch2, *, beta: Scalar = 1, alpha: Scalar = 1",
        "Computes `beta` times `self` plus `alpha` times the sum of the products of two batches of matrices.",
    )
    .grad(Lines(&[
        ("self", "grad * conj(beta)"),
        (
            "batch1",
            "conj(alpha) * matmul(grad, conj(transpose(batch2, 1, 2)))",
        ),
        (
            "batch2",
            "conj(alpha) * matmul(conj(transpose(batch1, 1, 2)), grad)",
        ),
    ]))
    .spread(Spread::Contract),
    Row::new(
        "cdist",
        "x1, x2, p: Scalar = 2.0, compute_mode: Mode = None",
        Compose,
        Contracts,
        "Computes the distance between each pair of rows of two matrices, the `p`-norm of their difference.",
    )
    .dtype(NoPromotion, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .grad(Lines(&[
        ("x1", "rule::cdist(grad, x1, x2, result, 0)"),
        ("x2", "rule::cdist(grad, x1, x2, result, 1)"),
    ]))
    .differs("also supports f16 and bf16")
    .spread(Spread::Along),
    product(
        "contract",
        "self, other, dim: Dims",
        "Multiplies and sums over dims that both tensors have, by name.",
    )
    .forms(Forms::PURE)
    .grad(Lines(&[
        ("self", "rule::contract(grad, self, other, 0)"),
        ("other", "rule::contract(grad, self, other, 1)"),
    ]))
    .differs("not in PyTorch, which has `tensordot` by position")
    .spread(Spread::Contract),
];

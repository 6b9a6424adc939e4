//! Linear algebra: matrices whose rows and columns are said by name.

use crate::op::Class::Linalg;
use crate::op::DTypeRule::{Index, NoPromotion, Real};
use crate::op::Grad::{Constant, Lines};
use crate::op::NameRule::{Contracts, Keeps, Permutes, Removes, Special};
use crate::op::{DTypes, NameRule, Row, Samples, Spread};

const fn row(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Linalg, rule, doc)
        .dtype(NoPromotion, DTypes::SOLVABLE)
        .samples(Samples::Own)
        .differs("rows and columns by name, all other dims are batch")
}

const DIMS: &str = "self, dims: Dims";
const RANKED: &str = "self, dims: Dims, rank: Text";
const TOLERANT: &str = "self, dims: Dims, *, atol: Scalar = 0, rtol: Scalar = None";

pub(super) const ROWS: &[Row] = &[
    row(
        "inv",
        DIMS,
        Permutes,
        "The inverse of square matrices. It maps rows back to columns, so their names change places.",
    ).grad(Lines(&[("self", "rule::inv(grad, result)")])).spread(Spread::Along),
    row(
        "pinv",
        TOLERANT,
        Permutes,
        "The pseudoinverse of matrices; singular values up to the tolerance count as zero.",
    ).grad(Lines(&[("self", "rule::inv(grad, result)")])).spread(Spread::Along),
    row(
        "solve",
        "self, other, dims: Dims",
        Contracts,
        "The solution `x` of `A x = b` for square matrices `A`; `b` has the rows' dim, `x` the \
         columns'.",
    ).grad(Lines(&[("self", "rule::solve(grad, self, result, 0)"), ("other", "rule::solve(grad, self, result, 1)")])).spread(Spread::Along),
    row(
        "lstsq",
        "self, other, dims: Dims, *, atol: Scalar = 0, rtol: Scalar = None",
        Contracts,
        "The solution `x` of least norm that brings `A x` closest to `b`.",
    )
    .grad(Lines(&[("self", "rule::solve(grad, self, result, 0)"), ("other", "rule::solve(grad, self, result, 1)")])).differs(
        "rows and columns by name, all other dims are batch; the solution alone, by singular values",
    ).spread(Spread::Along),
    row(
        "solve_triangular",
        "self, other, dims: Dims, *, upper: Bool, unitriangular: Bool = False",
        Contracts,
        "The solution `x` of `A x = b` for triangular matrices `A`; the other triangle is not read.",
    )
    .grad(Lines(&[("self", "rule::solve(grad, self, result, 0)"), ("other", "rule::solve(grad, self, result, 1)")])).differs("rows and columns by name, which say the side too; all other dims are batch").spread(Spread::Along),
    row("det", DIMS, Removes, "The determinant of square matrices.").grad(Lines(&[("self", "rule::det(grad, self, result)")])).spread(Spread::Along),
    row(
        "slogdet",
        DIMS,
        Removes,
        "The sign of the determinant, and the logarithm of its magnitude.",
    ).grad(Lines(&[("self", "rule::det(grads.1, self, results.1)")])).spread(Spread::Along),
    row(
        "matrix_rank",
        TOLERANT,
        Removes,
        "How many singular values are greater than the tolerance.",
    )
    .dtype(Index, DTypes::SOLVABLE).grad(Constant).spread(Spread::Along),
    row(
        "matrix_norm",
        "self, dims: Dims, ord: Word = fro",
        Removes,
        "A norm of matrices: `fro`, `nuc`, 1, 2 or infinite.",
    )
    .dtype(Real, DTypes::SOLVABLE).grad(Lines(&[("self", "rule::matrix_norm(grad, self, result)")])).spread(Spread::Along),
    row(
        "cholesky",
        DIMS,
        Keeps,
        "The lower triangular `L` of positive definite matrices `A = L Lᴴ`; the upper triangle of \
         `A` is not read.",
    ).grad(Lines(&[("self", "rule::cholesky(grad, result)")])).spread(Spread::Along),
    row(
        "qr",
        RANKED,
        Special,
        "The reduced decomposition `A = Q R` into orthonormal columns and an upper triangle.",
    ).grad(Lines(&[("self", "rule::qr(grads.0, grads.1, results.0, results.1)")])).spread(Spread::Along),
    row(
        "svd",
        RANKED,
        Special,
        "The reduced decomposition `A = U S Vᴴ` into orthonormal columns, singular values from the \
         greatest on, and orthonormal rows.",
    ).grad(Lines(&[("self", "rule::svd(grads.0, grads.1, grads.2, self, results.0, results.1, results.2)")])).spread(Spread::Along),
    row(
        "svdvals",
        RANKED,
        Special,
        "The singular values, from the greatest on.",
    )
    .dtype(Real, DTypes::SOLVABLE).grad(Lines(&[("self", "rule::svdvals(grad, self)")])).spread(Spread::Along),
    row(
        "eigh",
        RANKED,
        Special,
        "The eigenvalues of symmetric or Hermitian matrices from the smallest on, and their \
         eigenvectors; the upper triangle is not read.",
    ).grad(Lines(&[("self", "rule::eigh(grads.0, grads.1, self, results.0, results.1)")])).spread(Spread::Along),
    row(
        "eigvalsh",
        RANKED,
        Special,
        "The eigenvalues of symmetric or Hermitian matrices, from the smallest on.",
    )
    .dtype(Real, DTypes::SOLVABLE).grad(Lines(&[("self", "rule::eigvalsh(grad, self)")])).spread(Spread::Along),
    row(
        "eig",
        RANKED,
        Special,
        "The complex eigenvalues of square matrices and their eigenvectors, of norm 1.",
    ).grad(Lines(&[("self", "rule::eig(grads.0, grads.1, results.0, results.1)")])).spread(Spread::Along),
];

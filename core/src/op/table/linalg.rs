//! Linear algebra on matrices whose rows and columns are given by name.

use crate::op::Class::Linalg;
use crate::op::DTypeRule::{Index, NoPromotion, Real};
use crate::op::Grad::Constant;
use crate::op::NameRule::{Contracts, Keeps, Permutes, Removes, Special};
use crate::op::{DTypes, NameRule, Row, Samples};

const fn row(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Linalg, rule, doc)
        .dtype(NoPromotion, DTypes::SOLVABLE)
        .samples(Samples::Own)
        .differs("rows and columns are given by name, all other dims are batch dims")
}

const DIMS: &str = "self, dims: Dims";
const RANKED: &str = "self, dims: Dims, rank: Text";
const TOLERANT: &str = "self, dims: Dims, *, atol: Scalar = 0, rtol: Scalar = None";

pub(super) const ROWS: &[Row] = &[
    row(
        "inv",
        DIMS,
        Permutes,
        "Computes the inverse of square matrices. It maps rows back to columns, so \
         their names are swapped.",
    ),
    row(
        "pinv",
        TOLERANT,
        Permutes,
        "Computes the pseudoinverse of matrices; singular values up to the tolerance \
         count as zero.",
    ),
    row(
        "solve",
        "self, other, dims: Dims",
        Contracts,
        "Solves `A x = b` for square matrices `A`; `b` has the dim of the rows, `x` \
         that of the columns.",
    ),
    row(
        "lstsq",
        "self, other, dims: Dims, *, atol: Scalar = 0, rtol: Scalar = None",
        Contracts,
        "Computes the `x` of least norm that brings `A x` closest to `b`.",
    )
    .differs(
        "rows and columns are given by name, all other dims are batch dims; returns \
         only the solution, computed by singular values",
    ),
    row(
        "solve_triangular",
        "self, other, dims: Dims, *, upper: Bool, unitriangular: Bool = False",
        Contracts,
        "Solves `A x = b` for triangular matrices `A`; the other triangle is not read.",
    )
    .differs(
        "rows and columns are given by name, which also determines the side; all other \
         dims are batch dims",
    ),
    row(
        "det",
        DIMS,
        Removes,
        "Computes the determinant of square matrices.",
    ),
    row(
        "slogdet",
        DIMS,
        Removes,
        "Computes the sign of the determinant and the logarithm of its magnitude.",
    ),
    row(
        "matrix_rank",
        TOLERANT,
        Removes,
        "Counts the singular values that are greater than the tolerance.",
    )
    .dtype(Index, DTypes::SOLVABLE)
    .grad(Constant),
    row(
        "matrix_norm",
        "self, dims: Dims, ord: Word = fro",
        Removes,
        "Computes a norm of matrices: `fro`, `nuc`, 1, 2 or infinity.",
    )
    .dtype(Real, DTypes::SOLVABLE),
    row(
        "cholesky",
        DIMS,
        Keeps,
        "Computes the lower triangular `L` of positive definite matrices `A = L Lᴴ`; \
         the upper triangle of `A` is not read.",
    ),
    row(
        "qr",
        RANKED,
        Special,
        "Computes the reduced decomposition `A = Q R` into orthonormal columns and an \
         upper triangle.",
    ),
    row(
        "svd",
        RANKED,
        Special,
        "Computes the reduced decomposition `A = U S Vᴴ` into orthonormal columns, \
         descending singular values and orthonormal rows.",
    ),
    row(
        "svdvals",
        RANKED,
        Special,
        "Computes the singular values in descending order.",
    )
    .dtype(Real, DTypes::SOLVABLE),
    row(
        "eigh",
        RANKED,
        Special,
        "Computes the eigenvalues of symmetric or Hermitian matrices in ascending \
         order, and their eigenvectors; the upper triangle is not read.",
    ),
    row(
        "eigvalsh",
        RANKED,
        Special,
        "Computes the eigenvalues of symmetric or Hermitian matrices in ascending \
         order.",
    )
    .dtype(Real, DTypes::SOLVABLE),
    row(
        "eig",
        RANKED,
        Special,
        "Computes the complex eigenvalues of square matrices and their eigenvectors, \
         of norm 1.",
    ),
];

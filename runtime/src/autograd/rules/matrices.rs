//! Helpers for gradients of matrices, which are the last two dims.

use nomina_core::Result;
use nomina_core::op::class::Linalg;
use nomina_core::rule::Pairs;

use crate::call::arithmetic::{is_zero, mul, replaced};
use crate::call::{MatrixOptions, full, matmul, matrices, solve, triangle, wrong_entry};
use crate::raw::Raw;

/// Computes all results of an operator.
pub(super) fn all_results(op: Linalg, x: &Raw, options: MatrixOptions) -> Result<Vec<Raw>> {
    matrices(op, x, [x.rank() - 2, x.rank() - 1], options)
}

/// Computes the first result of an operator.
pub(super) fn first_result(op: Linalg, x: &Raw, options: MatrixOptions) -> Result<Raw> {
    all_results(op, x, options)?
        .into_iter()
        .next()
        .ok_or_else(|| wrong_entry(op.op(), "backward"))
}

/// Solves for a right side with the same batch dims.
pub(super) fn solved(op: Linalg, a: &Raw, b: &Raw, options: MatrixOptions) -> Result<Raw> {
    let rows = a.rank() - 2;
    let batch: Pairs = (0..rows).map(|dim| (dim, dim)).collect();
    solve(op, a, [rows, rows + 1], (b, rows), &batch, options)
}

/// Multiplies three matrices.
pub(super) fn product([a, b, c]: [&Raw; 3]) -> Result<Raw> {
    matmul(&matmul(a, b)?, c)
}

/// Replaces the elements on one side of a diagonal by zeros.
pub(super) fn triangle_of(x: &Raw, diagonal: i64, upper: bool) -> Result<Raw> {
    let shape = &x.shape()[x.rank() - 2..];
    let ones = full(shape, 1_i64.into(), x.dtype().to_real(), x.device())?;
    mul(x, &triangle("backward", &ones, diagonal, upper)?)
}

/// Appends two dims of size 1 to numbers of matrices, so that they broadcast to the elements.
pub(super) fn unsqueeze_matrix(x: &Raw) -> Result<Raw> {
    x.unsqueeze(x.rank())?.unsqueeze(x.rank() + 1)
}

/// Computes the reduced singular value decomposition.
pub(super) fn reduced_svd(a: &Raw) -> Result<[Raw; 3]> {
    let made = all_results(Linalg::Svd, a, MatrixOptions::default())?;
    made.try_into()
        .map_err(|_| wrong_entry(Linalg::Svd.op(), "backward"))
}

/// Replaces zeros by ones, to divide by them.
pub(super) fn replace_zeros(x: &Raw) -> Result<Raw> {
    replaced(&is_zero(x)?, 1.0, x)
}

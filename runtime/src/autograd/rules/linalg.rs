//! Gradients of inverses, solutions, determinants and norms of matrices, which are the last two dims.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::op::class::Linalg;

use super::adjugate::{adjugate, plain_inverse};
use super::decomposition;
use super::matrices::{
    first_result, product, reduced_svd, replace_zeros, solved, triangle_of, unsqueeze_matrix,
};
use super::matrix_scale::MatrixScale;
use crate::call::arithmetic::{add, adjoint, div, mul, neg, scaled, sub, sum};
use crate::call::{
    Arg, MatrixNorm, MatrixOptions, ReduceOptions, conjugated, matmul, pointwise, reduce, to_dtype,
    wrong_entry,
};
use crate::raw::Raw;
use crate::tape::{Backward, LinalgSaved, SolutionSaved, Upstream};

impl Backward for LinalgSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        decomposition_gradient(self.op, upstream, &self.a, self.options).map(Some)
    }
}

impl Backward for SolutionSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let operands = [&self.a, &self.b];
        solution_gradient(self.op, upstream, operands, operand, self.options).map(Some)
    }
}

fn decomposition_gradient(
    op: Linalg,
    upstream: &Upstream<'_>,
    a: &Raw,
    options: MatrixOptions,
) -> Result<Raw> {
    match op {
        Linalg::Inv => {
            let inverse = adjoint(&upstream.result_of(0)?)?;
            neg(&product([&inverse, &upstream.grad()?, &inverse])?)
        }
        Linalg::Pinv => pseudoinverse_scaled(op, &upstream.grad()?, &upstream.result_of(0)?, a),
        Linalg::Det => determinant(upstream, a),
        Linalg::Slogdet => logarithm(upstream, a),
        Linalg::MatrixNorm => norm(upstream, a, options),
        Linalg::Cholesky => decomposition::cholesky(upstream),
        Linalg::Qr => decomposition::qr(upstream, a),
        Linalg::Svd => decomposition::svd(upstream, a),
        Linalg::Svdvals => decomposition::svdvals(&upstream.grad()?, a),
        Linalg::Eigh => decomposition::eigh(upstream, a),
        Linalg::Eigvalsh => decomposition::eigvalsh(&upstream.grad()?, a),
        Linalg::Eig => decomposition::eig(upstream, a),
        // A rank is an integer; the other operators have a right side.
        Linalg::MatrixRank | Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq => {
            Err(wrong_entry(op.op(), "backward"))
        }
    }
}

/// Computes the gradient of a matrix or of a right side from that of a solution.
fn solution_gradient(
    op: Linalg,
    upstream: &Upstream<'_>,
    [a, b]: [&Raw; 2],
    operand: usize,
    options: MatrixOptions,
) -> Result<Raw> {
    let g = upstream.grad()?;
    if matches!(op, Linalg::Lstsq) {
        let inverse = first_result(Linalg::Pinv, a, options)?;
        return match operand {
            0 => {
                // The right side is divided, too, so that its product with the gradient stays precise.
                let Some(scale) = MatrixScale::for_matrices(op, b)? else {
                    return pseudoinverse_scaled(op, &matmul(&g, &adjoint(b)?)?, &inverse, a);
                };
                let g = matmul(&g, &adjoint(&scale.times(b, -1, 2)?)?)?;
                let Some(of_a) = MatrixScale::for_matrices(op, a)? else {
                    return scale.times(&pseudoinverse(&g, &inverse, a)?, 1, 2);
                };
                let near = of_a.times(a, -1, 2)?;
                // The inverse of the matrix may be out of range; a tolerance is relative to the matrix itself.
                let inverse = if options.atol == 0.0 {
                    first_result(Linalg::Pinv, &near, options)?
                } else {
                    of_a.times(&inverse, 1, 2)?
                };
                let found = pseudoinverse(&g, &inverse, &near)?;
                MatrixScale::product([(&of_a, -2), (&scale, 1)]).times(&found, 1, 2)
            }
            _ => matmul(&adjoint(&inverse)?, &g),
        };
    }
    // The adjoint of a lower triangle is an upper one.
    let turned = MatrixOptions {
        upper: !options.upper,
        ..options
    };
    let z = solved(op, &adjoint(a)?, &g, turned)?;
    if operand == 1 {
        return Ok(z);
    }
    let of_a = neg(&matmul(&z, &adjoint(&upstream.result_of(0)?)?)?)?;
    match op {
        Linalg::SolveTriangular => {
            let off = i64::from(options.unitriangular);
            let off = if options.upper { off } else { -off };
            triangle_of(&of_a, off, options.upper)
        }
        _ => Ok(of_a),
    }
}

/// Like [`pseudoinverse`], but also for matrices near the ends of the range.
fn pseudoinverse_scaled(op: Linalg, g: &Raw, inverse: &Raw, a: &Raw) -> Result<Raw> {
    let Some(scale) = MatrixScale::for_matrices(op, a)? else {
        return pseudoinverse(g, inverse, a);
    };
    let (a, inverse) = (scale.times(a, -1, 2)?, scale.times(inverse, 1, 2)?);
    scale.times(&pseudoinverse(g, &inverse, &a)?, -2, 2)
}

/// Golub and Pereyra's derivative: that of the inverse, plus terms for changes of the column and row space.
fn pseudoinverse(g: &Raw, inverse: &Raw, a: &Raw) -> Result<Raw> {
    let (gh, ih) = (adjoint(g)?, adjoint(inverse)?);
    let rank = a.rank();
    if a.shape()[rank - 2] <= a.shape()[rank - 1] {
        let k = matmul(&gh, inverse)?;
        let back = matmul(&k, &ih)?;
        let first = sub(&back, &adjoint(&matmul(inverse, &k)?)?)?;
        let columns = product([a, inverse, &back])?;
        let rows = product([&ih, inverse, &sub(&gh, &matmul(&k, a)?)?])?;
        return add(&sub(&first, &columns)?, &rows);
    }
    let k = matmul(inverse, &gh)?;
    let back = matmul(&ih, &k)?;
    let first = sub(&back, &adjoint(&matmul(&k, inverse)?)?)?;
    let columns = product([&sub(&gh, &matmul(a, &k)?)?, inverse, &ih])?;
    let rows = product([&back, inverse, a])?;
    sub(&add(&first, &columns)?, &rows)
}

/// Multiplies the gradient by the adjoint of the adjugate.
fn determinant(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let (g, det) = (upstream.grad()?, upstream.result_of(0)?);
    if let Some(inverse) = plain_inverse(a, &det)? {
        return mul(
            &unsqueeze_matrix(&mul(&g, &conjugated(&det)?)?)?,
            &adjoint(&inverse)?,
        );
    }
    mul(&unsqueeze_matrix(&g)?, &adjoint(&adjugate(a)?)?)
}

/// Multiplies `A⁻ᴴ` by the gradient of the logarithm and, for complex numbers, of the phase.
fn logarithm(upstream: &Upstream<'_>, a: &Raw) -> Result<Raw> {
    let inverse = first_result(Linalg::Inv, a, MatrixOptions::default())?;
    let mut g = upstream.grad_of(1)?;
    if upstream.has_grad(0) && a.dtype().is_complex() {
        let turn = mul(&conjugated(&upstream.grad_of(0)?)?, &upstream.result_of(0)?)?;
        let imaginary = scaled(&sub(&turn, &conjugated(&turn)?)?, 0.5)?;
        g = sub(&g, &imaginary)?;
    }
    mul(&unsqueeze_matrix(&g)?, &adjoint(&inverse)?)
}

fn norm(upstream: &Upstream<'_>, a: &Raw, options: MatrixOptions) -> Result<Raw> {
    let (g, rank) = (unsqueeze_matrix(&upstream.grad()?)?, a.rank());
    match options.norm {
        MatrixNorm::Fro => match MatrixScale::for_matrices(Linalg::MatrixNorm, a)? {
            None => mul(
                a,
                &div(
                    &g,
                    &replace_zeros(&unsqueeze_matrix(&upstream.result_of(0)?)?)?,
                )?,
            ),
            Some(scale) => {
                let a = scale.times(a, -1, 2)?;
                let y = unsqueeze_matrix(&first_result(Linalg::MatrixNorm, &a, options)?)?;
                mul(&div(&a, &replace_zeros(&y)?)?, &g)
            }
        },
        MatrixNorm::Nuc => mul(&g, &decomposition::polar(a)?),
        MatrixNorm::Two => {
            let [u, _, vh] = reduced_svd(a)?;
            let (u, vh) = (u.narrow(rank - 1, 0, 1)?, vh.narrow(rank - 2, 0, 1)?);
            mul(&g, &matmul(&u, &vh)?)
        }
        MatrixNorm::One => greatest(a, &g, rank - 2),
        MatrixNorm::Inf => greatest(a, &g, rank - 1),
    }
}

/// Computes the gradient of the greatest sum of magnitudes along a dim, which equal sums share.
fn greatest(a: &Raw, g: &Raw, along: usize) -> Result<Raw> {
    let near = match MatrixScale::for_matrices(Linalg::MatrixNorm, a)? {
        Some(scale) => scale.times(&a.clone().detach(), -1, 2)?,
        None => a.clone(),
    };
    let sums = sum(&pointwise(Op::Abs, &[Arg::Tensor(&near)])?, &[along], true)?;
    // These sums need not be rounded like the norm, so the greatest one is taken of them.
    let sums = sums.detach();
    let both = [a.rank() - 2, a.rank() - 1];
    let greatest = reduce(Op::Amax, &sums, &both, true, ReduceOptions::default())?;
    let mask = pointwise(Op::Eq, &[Arg::Tensor(&sums), Arg::Tensor(&greatest)])?;
    let mask = to_dtype(&mask, g.dtype())?;
    let shares = div(&mask, &sum(&mask, &both, true)?)?;
    let signs = pointwise(Op::Sgn, &[Arg::Tensor(a)])?;
    mul(&signs, &mul(g, &shares)?)
}

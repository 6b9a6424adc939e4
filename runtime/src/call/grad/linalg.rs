//! Inverses, solutions, determinants and norms of matrices. The matrices stand last.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::op::class::Linalg;
use nomina_core::rule::Pairs;

use super::adjugate::{adjugate, plain_inverse, without_zeros};
use super::arithmetic::{add, adjoint, div, mul, neg, scaled, sub, sum};
use super::by::{Back, all_by};
use super::decomposition;
use super::matrix_scale::MatrixScale;
use crate::call::product::conjugated;
use crate::call::{
    Arg, MatrixNorm, MatrixOptions, ReduceOptions, matmul, matrices, pointwise, reduce, solve,
    triangle,
};
use crate::raw::Raw;

/// Records what an operator made of matrices, with the right side of one that solves.
///
/// # Errors
/// When there is no memory for a node.
pub(in crate::call) fn decomposed(
    op: Linalg,
    made: &mut [Raw],
    (a, b): (&Raw, Option<&Raw>),
    options: MatrixOptions,
) -> Result<()> {
    match b {
        None => all_by(op.op(), made, [a], || {
            let a = a.clone();
            move |back, _| of_one(op, back, &a, options).map(Some)
        }),
        Some(b) => all_by(op.op(), made, [a, b], || {
            let (a, b) = (a.clone(), b.clone());
            move |back, operand| of_two(op, back, [&a, &b], operand, options).map(Some)
        }),
    }
}

fn of_one(op: Linalg, back: &Back<'_>, a: &Raw, options: MatrixOptions) -> Result<Raw> {
    match op {
        Linalg::Inv => {
            let inverse = adjoint(&back.result_of(0)?)?;
            neg(&product([&inverse, &back.grad()?, &inverse])?)
        }
        Linalg::Pinv => pseudoinverse_scaled(op, &back.grad()?, &back.result_of(0)?, a),
        Linalg::Det => determinant(back, a),
        Linalg::Slogdet => logarithm(back, a),
        Linalg::MatrixNorm => norm(back, a, options),
        Linalg::Cholesky => decomposition::cholesky(back),
        Linalg::Qr => decomposition::qr(back, a),
        Linalg::Svd => decomposition::svd(back, a),
        Linalg::Svdvals => decomposition::svdvals(&back.grad()?, a),
        Linalg::Eigh => decomposition::eigh(back, a),
        Linalg::Eigvalsh => decomposition::eigvalsh(&back.grad()?, a),
        Linalg::Eig => decomposition::eig(back, a),
        // A rank is an integer; the others have a right side.
        Linalg::MatrixRank | Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq => {
            Err(crate::call::check::another(op.op(), "backward"))
        }
    }
}

/// Of solutions.
fn of_two(
    op: Linalg,
    back: &Back<'_>,
    [a, b]: [&Raw; 2],
    operand: usize,
    options: MatrixOptions,
) -> Result<Raw> {
    let g = back.grad()?;
    if matches!(op, Linalg::Lstsq) {
        let inverse = one(Linalg::Pinv, a, options)?;
        return match operand {
            0 => {
                // The right side is divided, too, so that its product with the gradient keeps its digits.
                let Some(scale) = MatrixScale::of(op, b)? else {
                    return pseudoinverse_scaled(op, &matmul(&g, &adjoint(b)?)?, &inverse, a);
                };
                let g = matmul(&g, &adjoint(&scale.times(b, -1, 2)?)?)?;
                let Some(of_a) = MatrixScale::of(op, a)? else {
                    return scale.times(&pseudoinverse(&g, &inverse, a)?, 1, 2);
                };
                let near = of_a.times(a, -1, 2)?;
                // The inverse of the matrix itself may be beyond the range; a tolerance is one of the matrix itself.
                let inverse = if options.atol == 0.0 {
                    one(Linalg::Pinv, &near, options)?
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
    let of_a = neg(&matmul(&z, &adjoint(&back.result_of(0)?)?)?)?;
    match op {
        Linalg::SolveTriangular => {
            let off = i64::from(options.unitriangular);
            let off = if options.upper { off } else { -off };
            part(&of_a, off, options.upper)
        }
        _ => Ok(of_a),
    }
}

/// All results of an operator.
pub(super) fn all(op: Linalg, x: &Raw, options: MatrixOptions) -> Result<Vec<Raw>> {
    matrices(op, x, [x.rank() - 2, x.rank() - 1], options)
}

/// The first result of an operator.
pub(super) fn one(op: Linalg, x: &Raw, options: MatrixOptions) -> Result<Raw> {
    all(op, x, options)?
        .into_iter()
        .next()
        .ok_or_else(|| crate::call::check::another(op.op(), "backward"))
}

/// The solution for a right side whose batch dims are the same.
pub(super) fn solved(op: Linalg, a: &Raw, b: &Raw, options: MatrixOptions) -> Result<Raw> {
    let rows = a.rank() - 2;
    let batch: Pairs = (0..rows).map(|dim| (dim, dim)).collect();
    solve(op, a, [rows, rows + 1], (b, rows), &batch, options)
}

/// Three matrices multiplied.
pub(super) fn product([a, b, c]: [&Raw; 3]) -> Result<Raw> {
    matmul(&matmul(a, b)?, c)
}

/// What lies on one side of a diagonal; zeros on the other.
pub(super) fn part(x: &Raw, diagonal: i64, upper: bool) -> Result<Raw> {
    let shape = &x.shape()[x.rank() - 2..];
    let ones = crate::call::full(shape, 1_i64.into(), x.dtype().to_real(), x.device())?;
    mul(x, &triangle("backward", &ones, diagonal, upper)?)
}

/// Numbers of matrices beside their elements.
pub(super) fn beside(x: &Raw) -> Result<Raw> {
    x.unsqueeze(x.rank())?.unsqueeze(x.rank() + 1)
}

/// [`pseudoinverse`] of matrices near the ends of the range, too.
fn pseudoinverse_scaled(op: Linalg, g: &Raw, inverse: &Raw, a: &Raw) -> Result<Raw> {
    let Some(scale) = MatrixScale::of(op, a)? else {
        return pseudoinverse(g, inverse, a);
    };
    let (a, inverse) = (scale.times(a, -1, 2)?, scale.times(inverse, 1, 2)?);
    scale.times(&pseudoinverse(g, &inverse, &a)?, -2, 2)
}

/// Golub and Pereyra's derivative: that of the inverse, and what a change of the column and the row space brings.
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

/// The adjoint of the adjugate, times the gradient.
fn determinant(back: &Back<'_>, a: &Raw) -> Result<Raw> {
    let (g, det) = (back.grad()?, back.result_of(0)?);
    if let Some(inverse) = plain_inverse(a, &det)? {
        return mul(&beside(&mul(&g, &conjugated(&det)?)?)?, &adjoint(&inverse)?);
    }
    mul(&beside(&g)?, &adjoint(&adjugate(a)?)?)
}

/// `A⁻ᴴ` times the gradient of the logarithm and, of complex numbers, of the phase.
fn logarithm(back: &Back<'_>, a: &Raw) -> Result<Raw> {
    let inverse = one(Linalg::Inv, a, MatrixOptions::default())?;
    let mut g = back.grad_of(1)?;
    if back.came(0) && a.dtype().is_complex() {
        let turn = mul(&conjugated(&back.grad_of(0)?)?, &back.result_of(0)?)?;
        let imaginary = scaled(&sub(&turn, &conjugated(&turn)?)?, 0.5)?;
        g = sub(&g, &imaginary)?;
    }
    mul(&beside(&g)?, &adjoint(&inverse)?)
}

/// The reduced singular value decomposition.
pub(super) fn three(a: &Raw) -> Result<[Raw; 3]> {
    let made = all(Linalg::Svd, a, MatrixOptions::default())?;
    made.try_into()
        .map_err(|_| crate::call::check::another(Linalg::Svd.op(), "backward"))
}

fn norm(back: &Back<'_>, a: &Raw, options: MatrixOptions) -> Result<Raw> {
    let (g, rank) = (beside(&back.grad()?)?, a.rank());
    match options.norm {
        MatrixNorm::Fro => match MatrixScale::of(Linalg::MatrixNorm, a)? {
            None => mul(a, &div(&g, &without_zeros(&beside(&back.result_of(0)?)?)?)?),
            Some(scale) => {
                let a = scale.times(a, -1, 2)?;
                let y = beside(&one(Linalg::MatrixNorm, &a, options)?)?;
                mul(&div(&a, &without_zeros(&y)?)?, &g)
            }
        },
        MatrixNorm::Nuc => mul(&g, &decomposition::polar(a)?),
        MatrixNorm::Two => {
            let [u, _, vh] = three(a)?;
            let (u, vh) = (u.narrow(rank - 1, 0, 1)?, vh.narrow(rank - 2, 0, 1)?);
            mul(&g, &matmul(&u, &vh)?)
        }
        MatrixNorm::One => greatest(a, &g, rank - 2),
        MatrixNorm::Inf => greatest(a, &g, rank - 1),
    }
}

/// Of the greatest sum of magnitudes along a dim; equal ones share it.
fn greatest(a: &Raw, g: &Raw, along: usize) -> Result<Raw> {
    let near = match MatrixScale::of(Linalg::MatrixNorm, a)? {
        Some(scale) => scale.times(&a.clone().detach(), -1, 2)?,
        None => a.clone(),
    };
    let sums = sum(&pointwise(Op::Abs, &[Arg::Tensor(&near)])?, &[along], true)?;
    // As these sums are rounded, which need not be as the norm is.
    let sums = sums.detach();
    let both = [a.rank() - 2, a.rank() - 1];
    let greatest = reduce(Op::Amax, &sums, &both, true, ReduceOptions::default())?;
    let mask = pointwise(Op::Eq, &[Arg::Tensor(&sums), Arg::Tensor(&greatest)])?;
    let mask = crate::call::to_dtype(&mask, g.dtype())?;
    let shares = div(&mask, &sum(&mask, &both, true)?)?;
    let signs = pointwise(Op::Sgn, &[Arg::Tensor(a)])?;
    mul(&signs, &mul(g, &shares)?)
}

//! Inverses, solutions, determinants and norms of matrices. The matrices stand last.

use nomina_core::Result;
use nomina_core::op::Op;
use nomina_core::op::class::Linalg;
use nomina_core::rule::Pairs;

use super::arithmetic::{add, adjoint, div, is_zero, mul, neg, replaced, scaled, sub, sum};
use super::by::{Back, all_by};
use super::decomposition;
use crate::call::product::conjugated;
use crate::call::{
    Arg, MatrixNorm, MatrixOptions, ReduceOptions, matmul, matrices, pointwise, reduce, solve,
    stack, triangle,
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
        Linalg::Pinv => pseudoinverse(&back.grad()?, &back.result_of(0)?, a),
        Linalg::Det => determinant(back, a),
        Linalg::Slogdet => logarithm(back, a),
        Linalg::MatrixNorm => norm(back, a, options),
        Linalg::Cholesky => decomposition::cholesky(back),
        Linalg::Qr => decomposition::qr(back),
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
            0 => pseudoinverse(&matmul(&g, &adjoint(b)?)?, &inverse, a),
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
fn beside(x: &Raw) -> Result<Raw> {
    x.unsqueeze(x.rank())?.unsqueeze(x.rank() + 1)
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

/// `g conj(det A) A⁻ᴴ`; by cofactors where a matrix of the batch is singular.
fn determinant(back: &Back<'_>, a: &Raw) -> Result<Raw> {
    let (g, det) = (back.grad()?, back.result_of(0)?);
    let zeros = is_zero(&det.clone().detach())?;
    if !zeros.to_vec::<bool>()?.contains(&true) {
        let inverse = one(Linalg::Inv, a, MatrixOptions::default())?;
        return mul(&beside(&mul(&g, &conjugated(&det)?)?)?, &adjoint(&inverse)?);
    }
    let [u, s, vh] = three(a)?;
    let phase = mul(
        &one(Linalg::Det, &u, MatrixOptions::default())?,
        &one(Linalg::Det, &vh, MatrixOptions::default())?,
    )?;
    let cofactors = mul(&u, &products_of_others(&s)?.unsqueeze(s.rank() - 1)?)?;
    let back = mul(&g, &conjugated(&phase)?)?;
    mul(&beside(&back)?, &matmul(&cofactors, &vh)?)
}

/// For each element along the last dim the product of the others.
fn products_of_others(s: &Raw) -> Result<Raw> {
    let (last, n) = (s.rank() - 1, s.shape()[s.rank() - 1]);
    let one = crate::call::full(&s.shape()[..last], 1_i64.into(), s.dtype(), s.device())?;
    let (mut before, mut behind) = (vec![one.clone()], vec![one]);
    for at in 1..n {
        before.push(mul(&before[at - 1], &s.select(last, at - 1)?)?);
        behind.push(mul(&behind[at - 1], &s.select(last, n - at)?)?);
    }
    let both = before.iter().zip(behind.iter().rev());
    let all = both.map(|(a, b)| mul(a, b)).collect::<Result<Vec<_>>>()?;
    stack(&all.iter().collect::<Vec<_>>(), last)
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
    let (g, y, rank) = (
        beside(&back.grad()?)?,
        beside(&back.result_of(0)?)?,
        a.rank(),
    );
    match options.norm {
        MatrixNorm::Fro => mul(a, &div(&g, &replaced(&is_zero(&y)?, 1.0, &y)?)?),
        MatrixNorm::Nuc => {
            let [u, _, vh] = three(a)?;
            mul(&g, &matmul(&u, &vh)?)
        }
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
    let sums = sum(&pointwise(Op::Abs, &[Arg::Tensor(a)])?, &[along], true)?;
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

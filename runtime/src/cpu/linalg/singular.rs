//! Singular value decompositions, and results computed from them.

use faer::linalg::matmul::matmul;
use faer::linalg::svd::{ComputeSvdVectors, svd as faer_svd, svd_scratch};
use faer::traits::ext::ComplexFieldExt;
use faer::traits::math_utils::{abs, eps, from_f64, one};
use faer::{Accum, MatMut, MatRef, Par};

use super::field::{Field, diagonal};
use super::job::{Failure, MatrixNorm, MatrixOptions};
use super::workspace::{memory, stack, view, zeros};
use crate::memory::Scratch;

/// Computes the singular values and, if there is room for them, the vectors: `U`, and `V` with columns that
/// are not conjugated yet.
fn decompose<T: Field>(
    a: MatRef<'_, T>,
    vectors: Option<(MatMut<'_, T>, MatMut<'_, T>)>,
    par: Par,
) -> Result<Scratch<T>, Failure> {
    if !a.is_all_finite() {
        return Err(Failure::NotFinite);
    }
    let (m, n) = a.shape();
    let which = match vectors {
        Some(_) => ComputeSvdVectors::Thin,
        None => ComputeSvdVectors::No,
    };
    let params = Default::default();
    let mut stack = stack(svd_scratch::<T>(m, n, which, which, par, params))?;
    let mut values = zeros::<T>(m.min(n), 1)?;
    let (mut u, mut v) = vectors.unzip();
    let into = diagonal(view(&mut values, m.min(n)));
    // A row-major matrix is read faster as the transpose; its left and right vectors are swapped and
    // conjugated.
    let turned = a.col_stride() == 1;
    if turned {
        std::mem::swap(&mut u, &mut v);
    }
    let of = if turned { a.transpose() } else { a };
    let (left, right) = (
        u.as_mut().map(MatMut::as_mut),
        v.as_mut().map(MatMut::as_mut),
    );
    faer_svd(of, into, left, right, par, memory(&mut stack), params)
        .map_err(|_| Failure::NoConvergence)?;
    if turned {
        u.into_iter().chain(v).for_each(conjugate);
    }
    Ok(values)
}

fn conjugate<T: Field>(mut x: MatMut<'_, T>) {
    let columns = if T::IS_REAL { 0 } else { x.ncols() };
    for j in 0..columns {
        let column = x.as_mut().col_mut(j);
        column.iter_mut().for_each(|x| *x = x.conjugate());
    }
}

fn store<T: Field>(values: &[T], mut out: MatMut<'_, T::R>) {
    for (i, value) in values.iter().enumerate() {
        out[(i, 0)] = value.real();
    }
}

/// Computes a singular value decomposition; `v` is `Vᴴ` in row-major order.
pub(super) fn svd<T: Field>(
    a: MatRef<'_, T>,
    u: MatMut<'_, T>,
    s: MatMut<'_, T::R>,
    mut v: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    store(&decompose(a, Some((u, v.as_mut())), par)?, s);
    conjugate(v);
    Ok(())
}

pub(super) fn svdvals<T: Field>(
    a: MatRef<'_, T>,
    s: MatMut<'_, T::R>,
    par: Par,
) -> Result<(), Failure> {
    store(&decompose(a, None, par)?, s);
    Ok(())
}

/// Returns the number of values, in descending order, that do not count as zero.
fn kept<T: Field>(values: &[T], shape: (usize, usize), options: &MatrixOptions) -> usize {
    let magnitude = |value: &T| Into::<f64>::into(value.real());
    let precision = || shape.0.max(shape.1) as f64 * Into::<f64>::into(eps::<T::R>());
    // Like in PyTorch, an absolute tolerance alone replaces the relative one.
    let relative = options
        .rtol
        .unwrap_or_else(|| if options.atol > 0.0 { 0.0 } else { precision() });
    let greatest = values.first().map_or(0.0, magnitude);
    let least = options.atol.max(relative * greatest);
    values.iter().take_while(|v| magnitude(v) > least).count()
}

pub(super) fn rank<T: Field>(
    a: MatRef<'_, T>,
    options: &MatrixOptions,
    par: Par,
) -> Result<i64, Failure> {
    Ok(kept(&decompose(a, None, par)?, a.shape(), options) as i64)
}

/// Computes `V S⁺ Uᴴ b`, with the identity if `b` is absent.
fn project<T: Field>(
    a: MatRef<'_, T>,
    b: Option<MatRef<'_, T>>,
    out: MatMut<'_, T>,
    options: &MatrixOptions,
    par: Par,
) -> Result<(), Failure> {
    let (m, n) = a.shape();
    let size = m.min(n);
    let (mut u, mut v) = (zeros::<T>(m, size)?, zeros::<T>(n, size)?);
    let (u, mut v) = (&mut view(&mut u, m), view(&mut v, n));
    let values = decompose(a, Some((u.as_mut(), v.as_mut())), par)?;
    let rank = kept(&values, a.shape(), options);
    for (j, value) in values[..rank].iter().enumerate() {
        let inverse = value.real().recip();
        let column = v.as_mut().col_mut(j);
        column.iter_mut().for_each(|x| *x = x.mul_real(&inverse));
    }
    let (u, v) = (u.as_ref().subcols(0, rank), v.as_ref().subcols(0, rank));
    let Some(b) = b else {
        matmul(out, Accum::Replace, v, u.adjoint(), one(), par);
        return Ok(());
    };
    let mut between = zeros::<T>(rank.max(1), b.ncols())?;
    let mut between = view(&mut between, rank.max(1)).subrows_mut(0, rank);
    matmul(between.as_mut(), Accum::Replace, u.adjoint(), b, one(), par);
    matmul(out, Accum::Replace, v, between.as_ref(), one(), par);
    Ok(())
}

pub(super) fn pinv<T: Field>(
    a: MatRef<'_, T>,
    out: MatMut<'_, T>,
    options: &MatrixOptions,
    par: Par,
) -> Result<(), Failure> {
    project(a, None, out, options, par)
}

pub(super) fn lstsq<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    out: MatMut<'_, T>,
    options: &MatrixOptions,
    par: Par,
) -> Result<(), Failure> {
    project(a, Some(b), out, options, par)
}

pub(super) fn norm<T: Field>(
    a: MatRef<'_, T>,
    norm: MatrixNorm,
    par: Par,
) -> Result<T::R, Failure> {
    let values = |fold: fn(f64, f64) -> f64| {
        let values = decompose(a, None, par)?;
        let values = values.iter().map(|value| Into::<f64>::into(value.real()));
        Ok(from_f64(values.fold(0.0, fold)))
    };
    match norm {
        MatrixNorm::Fro => Ok(a.norm_l2()),
        MatrixNorm::Nuc => values(|sum, value| sum + value),
        MatrixNorm::Two => values(f64::max),
        MatrixNorm::One => Ok(from_f64(greatest_column(a))),
        MatrixNorm::Inf => Ok(from_f64(greatest_column(a.transpose()))),
    }
}

/// Returns the greatest column sum of magnitudes; NaN if there is a NaN.
fn greatest_column<T: Field>(a: MatRef<'_, T>) -> f64 {
    let sums = (0..a.ncols()).map(|j| {
        let magnitudes = a.col(j).iter().map(|x| Into::<f64>::into(abs(x)));
        magnitudes.sum::<f64>()
    });
    sums.fold(0.0, |greatest: f64, sum| {
        if sum > greatest || sum.is_nan() {
            sum
        } else {
            greatest
        }
    })
}

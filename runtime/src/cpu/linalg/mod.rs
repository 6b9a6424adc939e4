//! Linear algebra by the crate `faer`: each operator on one matrix, and over a batch of matrices.

mod eigen;
mod exponent;
mod extended;
mod factor;
mod field;
mod job;
#[cfg(feature = "rayon")]
mod pool;
mod scale;
mod singular;
mod solve;
mod workspace;

use std::sync::{Mutex, PoisonError};

use faer::{MatRef, Par};
use nomina_core::DType;
use nomina_core::op::class::Linalg;
use num_complex::Complex;

use super::parallel::{GRAIN, split, threads};
use crate::memory::NoMemory;
use crate::memory::scratch::collect;
use crate::raw::Raw;
use crate::shape::product;
use field::Field;
use job::MatrixResult;
pub(crate) use job::{BatchResult, Failure, MatrixJob};
pub use job::{MatrixNorm, MatrixOptions};
#[cfg(feature = "rayon")]
use pool::with_threads;
use scale::Scaled;

/// Computes all matrices.
///
/// # Errors
/// The index of the first matrix that has no result, and the reason.
///
/// # Safety
/// Operands are on the CPU and have one dtype, `f32`, `f64` or complex. The targets are those that the operator writes,
/// each with room for the whole batch, and nobody else accesses them.
pub(crate) unsafe fn execute(job: &MatrixJob<'_>) -> Result<(), (usize, Failure)> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match job.a.dtype() {
            DType::F32 => each::<f32>(job),
            DType::F64 => each::<f64>(job),
            DType::C64 => each::<Complex<f32>>(job),
            _ => each::<Complex<f64>>(job),
        }
    }
}

/// Returns the exponents of the powers of two by which matrices are divided before the operator's gradient is computed;
/// `None` if no matrix is divided.
///
/// # Safety
/// The matrix is readable, as for [`execute`].
pub(crate) unsafe fn exponents(op: Linalg, a: &Raw) -> Result<Option<Vec<i64>>, NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match a.dtype() {
            DType::F32 => exponents_of::<f32>(op, a),
            DType::F64 => exponents_of::<f64>(op, a),
            DType::C64 => exponents_of::<Complex<f32>>(op, a),
            _ => exponents_of::<Complex<f64>>(op, a),
        }
    }
}

/// Computes [`exponents`] for one element type.
///
/// # Safety
/// The matrix is readable, as for [`execute`], and has elements of type `T`.
unsafe fn exponents_of<T: Field>(op: Linalg, a: &Raw) -> Result<Option<Vec<i64>>, NoMemory> {
    let batch = crate::shape::count(&a.shape()[..a.rank() - 2]);
    let each = (0..batch).map(|i| {
        // SAFETY: guaranteed by the caller.
        let a = unsafe { matrix::<T>(a, i) };
        i64::from(scale::gradient_excess(op, a))
    });
    let each = collect(each)?;
    Ok(each.iter().any(|&by| by != 0).then_some(each))
}

/// The number of elements from which several threads share a matrix. They synchronise so often that one thread is
/// faster for smaller ones.
const LARGE: usize = 1 << 18;

/// Computes all matrices of one element type.
///
/// # Safety
/// The requirements of [`execute`], with operands of `T`.
unsafe fn each<T: Field>(job: &MatrixJob<'_>) -> Result<(), (usize, Failure)> {
    let (batch, matrix) = job.a.shape().split_at(job.a.rank() - 2);
    let (count, size) = (crate::shape::count(batch), crate::shape::count(matrix));
    // The determinant of an empty matrix is one, which must be written; all other results are zero, or empty.
    let empty = size == 0 || job.b.is_some_and(|b| b.numel() == 0);
    if empty && !matches!(job.op, Linalg::Det | Linalg::Slogdet) {
        return Ok(());
    }
    let first: Mutex<Option<(usize, Failure)>> = Mutex::new(None);
    let one = |i: usize, par: Par| {
        // SAFETY: a matrix of the batch; nobody else writes its results.
        if let Err(failure) = unsafe { compute::<T>(job, i, par) } {
            let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none_or(|(before, _)| i < before) {
                *first = Some((i, failure));
            }
        }
    };
    if size >= LARGE && count < 2 * threads() {
        with_threads(|par| (0..count).for_each(|i| one(i, par)));
    } else {
        let longest = matrix[0].max(matrix[1]);
        let grain = GRAIN / product([size, longest]).max(1) + 1;
        split(count, grain, &|range| range.for_each(|i| one(i, Par::Seq)));
    }
    let first = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    first.map_or(Ok(()), Err)
}

/// Calls `f` with one thread, because there are no others.
#[cfg(not(feature = "rayon"))]
fn with_threads(f: impl Fn(Par)) {
    f(Par::Seq);
}

/// Returns one matrix of an operand.
///
/// # Safety
/// The operand is on the CPU, has elements of `T`, and has matrix `i`.
unsafe fn matrix<T: Field>(x: &Raw, mut i: usize) -> MatRef<'_, T> {
    let (shape, strides) = (x.shape(), x.strides());
    let outer = x.rank() - 2;
    let mut offset = 0;
    for dim in (0..outer).rev() {
        offset += (i % shape[dim]) as isize * strides[dim];
        i /= shape[dim];
    }
    let first = x.as_ptr().cast::<T>().wrapping_offset(offset);
    // SAFETY: rows and columns of the tensor, whose elements are all within its buffer.
    unsafe {
        MatRef::from_raw_parts(
            first,
            shape[outer],
            shape[outer + 1],
            strides[outer],
            strides[outer + 1],
        )
    }
}

/// Computes matrix `i`.
///
/// # Safety
/// The requirements of [`each`].
unsafe fn compute<T: Field>(job: &MatrixJob<'_>, i: usize, par: Par) -> Result<(), Failure> {
    if job.a.numel() == 0 {
        MatrixResult::new(&job.out[0], i).set(T::from_scalar(nomina_core::Scalar::Int(1)));
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    let (a, b) = unsafe { (matrix::<T>(job.a, i), job.b.map(|b| matrix::<T>(b, i))) };
    let Some(scaled) = Scaled::new(job.op, a, b)? else {
        return matrix_results::<T>(job, i, (a, b), &job.options, par);
    };
    let options = scaled.options(&job.options);
    matrix_results::<T>(job, i, scaled.matrices(), &options, par)?;
    scaled.restore(job.op, job.out, i);
    Ok(())
}

/// Writes the results of matrix `i`, given as `a`, which may be scaled.
fn matrix_results<T: Field>(
    job: &MatrixJob<'_>,
    i: usize,
    (a, b): (MatRef<'_, T>, Option<MatRef<'_, T>>),
    options: &MatrixOptions,
    par: Par,
) -> Result<(), Failure> {
    let mut slots = job.out.iter().map(|target| MatrixResult::new(target, i));
    let mut next = || slots.next().expect("a target for each result");
    match (job.op, b) {
        (Linalg::Inv, _) => solve::inv(a, next().matrix(), par),
        (Linalg::Det, _) => solve::det(a, par).map(|det| next().set::<T>(det)),
        (Linalg::Slogdet, _) => {
            let (sign, log) = solve::slogdet(a, par)?;
            next().set::<T>(sign);
            next().set::<T::R>(log);
            Ok(())
        }
        (Linalg::Cholesky, _) => factor::cholesky(a, next().matrix(), par),
        (Linalg::Qr, _) => factor::qr(a, next().matrix(), next().matrix(), par),
        (Linalg::Svd, _) => {
            singular::svd::<T>(a, next().matrix(), next().matrix(), next().matrix(), par)
        }
        (Linalg::Svdvals, _) => singular::svdvals::<T>(a, next().matrix(), par),
        (Linalg::Pinv, _) => singular::pinv(a, next().matrix(), options, par),
        (Linalg::MatrixRank, _) => {
            singular::rank(a, options, par).map(|rank| next().set::<i64>(rank))
        }
        (Linalg::MatrixNorm, _) => {
            singular::norm(a, options.norm, par).map(|norm| next().set::<T::R>(norm))
        }
        (Linalg::Eigh, _) => eigen::eigh::<T>(a, next().matrix(), Some(next().matrix()), par),
        (Linalg::Eigvalsh, _) => eigen::eigh::<T>(a, next().matrix(), None, par),
        (Linalg::Eig, _) => T::eig(a, next().matrix(), next().matrix(), par),
        (Linalg::Solve, Some(b)) => solve::solve(a, b, next().matrix(), par),
        (Linalg::SolveTriangular, Some(b)) => {
            solve::triangular(a, b, next().matrix(), options, par)
        }
        (Linalg::Lstsq, Some(b)) => singular::lstsq(a, b, next().matrix(), options, par),
        (Linalg::Solve | Linalg::SolveTriangular | Linalg::Lstsq, None) => {
            unreachable!("solvers have a right side")
        }
    }
}

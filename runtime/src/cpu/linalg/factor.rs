//! Triangular factorisations: Cholesky and QR.

use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::householder as reflect;
use faer::linalg::qr::no_pivoting::factor as qr;
use faer::traits::math_utils::{mul, one};
use faer::{Conj, MatMut, MatRef, Par};

use super::field::Field;
use super::job::Failure;
use super::scale::{Extent, excess, shift};
use super::workspace::{copied, memory, stack, view, zeros};
use crate::memory::scratch::filled;

pub(super) fn cholesky<T: Field>(
    a: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    let n = a.nrows();
    out.copy_from_triangular_lower(a);
    let params = Default::default();
    let mut stack = stack(llt::cholesky_in_place_scratch::<T>(n, par, params))?;
    let (matrix, memory) = (out.as_mut(), memory(&mut stack));
    llt::cholesky_in_place(matrix, Default::default(), par, memory, params)
        .map_err(|llt::LltError::NonPositivePivot { index }| Failure::NotPositive(index + 1))?;
    for j in 1..n {
        out.as_mut().col_mut(j).subrows_mut(0, j).fill(T::default());
    }
    Ok(())
}

pub(super) fn qr<T: Field>(
    a: MatRef<'_, T>,
    mut q: MatMut<'_, T>,
    mut r: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    let (m, n) = a.shape();
    let rank = m.min(n);
    let block = qr::recommended_block_size::<T>(m, n);
    let params = Default::default();
    let mut both = copied(a)?;
    let mut coefficients = zeros::<T>(block, rank)?;
    let asked = qr::qr_in_place_scratch::<T>(m, n, block, par, params);
    let asked = asked.or(
        reflect::apply_block_householder_sequence_on_the_left_in_place_scratch::<T>(m, block, rank),
    );
    let mut stack = stack(asked)?;
    let mut both = view(&mut both, m);
    let mut coefficients = view(&mut coefficients, block);
    // Scaling a column scales the triangle's column by the same factor, and leaves the orthonormal columns
    // unchanged.
    let mut exponents = filled([n], 0_i32)?;
    for (j, exponent) in exponents.iter_mut().enumerate() {
        *exponent = excess::<T>(Extent::new(a.col(j).iter().copied()));
        if *exponent != 0 {
            shift(both.as_mut().subcols_mut(j, 1), -i64::from(*exponent));
        }
    }
    qr::qr_in_place(
        both.as_mut(),
        coefficients.as_mut(),
        par,
        memory(&mut stack),
        params,
    );
    for j in 0..n {
        let rows = rank.min(j + 1);
        let column = both.as_ref().col(j).subrows(0, rows);
        r.as_mut().col_mut(j).subrows_mut(0, rows).copy_from(column);
    }
    q.as_mut().diagonal_mut().fill(one());
    reflect::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        both.as_ref().subcols(0, rank),
        coefficients.as_ref(),
        Conj::No,
        q.as_mut(),
        par,
        memory(&mut stack),
    );
    // The diagonal of the triangle is made real, like LAPACK's: with phases it would not be a smooth function
    // of the matrix.
    for k in 0..rank {
        if let Some(phase) = r[(k, k)].phase() {
            let back = phase.conjugate();
            let rows = r.as_mut().row_mut(k);
            rows.iter_mut().for_each(|x| *x = mul(x, &back));
            let column = q.as_mut().col_mut(k);
            column.iter_mut().for_each(|x| *x = mul(x, &phase));
        }
    }
    for (j, &by) in exponents.iter().enumerate() {
        if by != 0 {
            shift(r.as_mut().subcols_mut(j, 1), i64::from(by));
        }
    }
    Ok(())
}

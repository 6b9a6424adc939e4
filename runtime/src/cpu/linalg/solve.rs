//! By pivots: the inverse, solutions, determinants.

use faer::linalg::lu::partial_pivoting::{factor, inverse, solve as back};
use faer::linalg::triangular_solve as triangle;
use faer::perm::PermRef;
use faer::traits::ext::ComplexFieldExt;
use faer::traits::math_utils::{MulByRef, abs, from_f64, recip};
use faer::{MatMut, MatRef, Par};

use super::field::Field;
use super::{Failure, MatrixOptions, copied, memory, stack, view};
use crate::memory::scratch::filled;
use crate::memory::{NoMemory, Scratch};

/// `P A = L U`, both triangles in one matrix.
struct Lu<T> {
    both: Scratch<T>,
    order: [Vec<usize>; 2],
    swaps: usize,
    n: usize,
}

impl<T: Field> Lu<T> {
    fn new(a: MatRef<'_, T>, par: Par) -> Result<Self, NoMemory> {
        let n = a.nrows();
        let mut both = copied(a)?;
        let mut order = [filled([n], 0)?, filled([n], 0)?];
        let params = Default::default();
        let mut stack = stack(factor::lu_in_place_scratch::<usize, T>(n, n, par, params))?;
        let [forward, backward] = &mut order;
        let (matrix, memory) = (view(&mut both, n), memory(&mut stack));
        let (info, _) = factor::lu_in_place(matrix, forward, backward, par, memory, params);
        let swaps = info.transposition_count;
        Ok(Self {
            both,
            order,
            swaps,
            n,
        })
    }

    fn matrix(&self) -> MatRef<'_, T> {
        MatRef::from_column_major_slice(&self.both, self.n, self.n)
    }

    fn permutation(&self) -> PermRef<'_, usize> {
        PermRef::new_checked(&self.order[0], &self.order[1], self.n)
    }

    fn pivots(&self) -> impl Iterator<Item = T> {
        let matrix = self.matrix();
        (0..self.n).map(move |i| matrix[(i, i)])
    }

    /// The first pivot that is zero. What was computed after it is nothing.
    fn zero_pivot(&self) -> Option<usize> {
        self.pivots().position(|pivot| pivot == T::default())
    }

    fn regular(self) -> Result<Self, Failure> {
        match self.zero_pivot() {
            Some(at) => Err(Failure::Singular(at)),
            None => Ok(self),
        }
    }
}

pub(super) fn inv<T: Field>(a: MatRef<'_, T>, out: MatMut<'_, T>, par: Par) -> Result<(), Failure> {
    let lu = Lu::new(a, par)?.regular()?;
    let (both, order) = (lu.matrix(), lu.permutation());
    let mut stack = stack(inverse::inverse_scratch::<usize, T>(lu.n, par))?;
    inverse::inverse(out, both, both, order, par, memory(&mut stack));
    Ok(())
}

pub(super) fn solve<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    let lu = Lu::new(a, par)?.regular()?;
    let (both, order) = (lu.matrix(), lu.permutation());
    out.copy_from(b);
    let mut stack = stack(back::solve_in_place_scratch::<usize, T>(
        lu.n,
        b.ncols(),
        par,
    ))?;
    back::solve_in_place(both, both, order, out, par, memory(&mut stack));
    Ok(())
}

pub(super) fn det<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<T, Failure> {
    let lu = Lu::new(a, par)?;
    if lu.zero_pivot().is_some() {
        return Ok(T::default());
    }
    Ok(lu
        .pivots()
        .fold(sign(&lu), |det, pivot| det.mul_by_ref(&pivot)))
}

/// The determinant's sign, and the logarithm of its magnitude.
pub(super) fn slogdet<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<(T, T::R), Failure> {
    let lu = Lu::new(a, par)?;
    if lu.zero_pivot().is_some() {
        return Ok((T::default(), from_f64(f64::NEG_INFINITY)));
    }
    let (mut unit, mut log) = (sign(&lu), 0.0);
    for pivot in lu.pivots() {
        let magnitude = abs(&pivot);
        unit = unit.mul_by_ref(&pivot).mul_real(&recip(&magnitude));
        log += Into::<f64>::into(magnitude).ln();
    }
    Ok((unit, from_f64(log)))
}

/// That of the order of rows.
fn sign<T: Field>(lu: &Lu<T>) -> T {
    from_f64(if lu.swaps.is_multiple_of(2) {
        1.0
    } else {
        -1.0
    })
}

pub(super) fn triangular<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    options: &MatrixOptions,
    par: Par,
) {
    out.copy_from(b);
    match (options.upper, options.unitriangular) {
        (false, false) => triangle::solve_lower_triangular_in_place(a, out, par),
        (false, true) => triangle::solve_unit_lower_triangular_in_place(a, out, par),
        (true, false) => triangle::solve_upper_triangular_in_place(a, out, par),
        (true, true) => triangle::solve_unit_upper_triangular_in_place(a, out, par),
    }
}

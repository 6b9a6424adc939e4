//! Elimination: inverses, solutions, determinants.

use faer::linalg::lu::partial_pivoting::{factor, inverse, solve as back};
use faer::linalg::triangular_solve as triangle;
use faer::perm::PermRef;
use faer::traits::math_utils::from_f64;
use faer::{MatMut, MatRef, Par};

use super::extended::{self, ExtendedLu, ScaledComplex};
use super::field::Field;
use super::job::{Failure, MatrixOptions};
use super::scale::{Extent, shift};
use super::workspace::{copied, memory, stack, view, zeros};
use crate::memory::scratch::filled;
use crate::memory::{NoMemory, Scratch};

/// From this size on, elements that are tiny relative to others do not trigger the slow paths of elimination.
const LARGE: usize = 64;

/// `P A = L U`; both triangles in one matrix.
struct Lu<T> {
    both: Scratch<T>,
    order: [Vec<usize>; 2],
    swaps: usize,
    n: usize,
    /// The exponent of the power of two by which the matrix was divided.
    exponent: i32,
}

impl<T: Field> Lu<T> {
    fn new(a: MatRef<'_, T>, exponent: i32, par: Par) -> Result<Self, NoMemory> {
        let n = a.nrows();
        let mut both = copied(a)?;
        if exponent != 0 {
            shift(view(&mut both, n), -i64::from(exponent));
        }
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
            exponent,
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

    /// Returns the index of the first zero pivot. Values computed after it are meaningless.
    fn zero_pivot(&self) -> Option<usize> {
        self.pivots().position(|pivot| pivot == T::default())
    }

    /// Returns whether each pivot has full precision and a reciprocal.
    fn has_normal_pivots(&self) -> bool {
        self.pivots().all(|pivot| {
            let greatest = pivot.parts().map(f64::abs).into_iter().fold(0.0, f64::max);
            greatest.is_finite() && greatest >= T::LEAST_NORMAL
        })
    }
}

/// A factored matrix, by the first of three methods that loses no precision to overflow or underflow.
enum Factors<T: Field> {
    /// Factors in the matrix's own dtype.
    Own(Lu<T>),
    /// The matrix has to be factored in [`Field::Wide`].
    Wide,
    Extended(ExtendedLu),
}

/// Returns whether elements of this extent take the usual path. In large matrices, tiny elements do, too: a kernel
/// matrix of distant points has them, and the loss is smaller than the rounding errors of the greatest elements.
fn is_usual<T: Field>(extent: Extent, n: usize) -> bool {
    let least = if n > LARGE {
        extent.greatest
    } else {
        extent.least
    };
    Extent { least, ..extent }.is_within(T::SAFE_EXPONENT)
}

fn factors<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<Factors<T>, NoMemory> {
    let n = a.nrows();
    // NaN and infinities are left to the arithmetic.
    let Some(extent) = Extent::of_matrix(a) else {
        return Ok(Factors::Own(Lu::new(a, 0, par)?));
    };
    if is_usual::<T>(extent, n) {
        let lu = Lu::new(a, 0, par)?;
        if lu.zero_pivot().is_some() || lu.has_normal_pivots() {
            return Ok(Factors::Own(lu));
        }
    }
    if T::IS_NARROW {
        return Ok(Factors::Wide);
    }
    if n > LARGE {
        let lu = Lu::new(a, extent.greatest, par)?;
        if lu.has_normal_pivots() {
            return Ok(Factors::Own(lu));
        }
    }
    Ok(Factors::Extended(ExtendedLu::new(a)?))
}

/// Returns a copy in [`Field::Wide`].
fn widened<T: Field>(a: MatRef<'_, T>) -> Result<Scratch<T::Wide>, NoMemory> {
    let mut copy = zeros::<T::Wide>(a.nrows(), a.ncols())?;
    let mut into = view(&mut copy, a.nrows());
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            into[(i, j)] = T::Wide::from_parts(a[(i, j)].parts());
        }
    }
    Ok(copy)
}

/// Computes a result in [`Field::Wide`] and rounds it to `out`.
fn by_wide<T: Field>(
    mut out: MatMut<'_, T>,
    compute: impl FnOnce(MatMut<'_, T::Wide>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (rows, columns) = (out.nrows(), out.ncols());
    let mut wide = zeros::<T::Wide>(rows, columns)?;
    compute(view(&mut wide, rows))?;
    let wide = view(&mut wide, rows);
    for j in 0..columns {
        for i in 0..rows {
            out[(i, j)] = T::from_parts(wide[(i, j)].parts());
        }
    }
    Ok(())
}

fn regular(zero_pivot: Option<usize>) -> Result<(), Failure> {
    zero_pivot.map_or(Ok(()), |at| Err(Failure::Singular(at)))
}

pub(super) fn inv<T: Field>(
    a: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    match factors(a, par)? {
        Factors::Own(lu) => {
            regular(lu.zero_pivot())?;
            let (both, order) = (lu.matrix(), lu.permutation());
            let mut stack = stack(inverse::inverse_scratch::<usize, T>(lu.n, par))?;
            inverse::inverse(out.as_mut(), both, both, order, par, memory(&mut stack));
            if lu.exponent != 0 {
                shift(out, -i64::from(lu.exponent));
            }
            Ok(())
        }
        Factors::Wide => {
            let mut wide = widened(a)?;
            let wide = view(&mut wide, a.nrows());
            by_wide(out, |out| inv(wide.as_ref(), out, par))
        }
        Factors::Extended(lu) => {
            regular(lu.zero_pivot())?;
            Ok(lu.solve(None, out)?)
        }
    }
}

pub(super) fn solve<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    let n = a.nrows();
    let mut factors = factors(a, par)?;
    // A right-hand side near the ends of the range takes the path of such matrices. NaN and infinities are left to the
    // arithmetic.
    let Some(extent) = Extent::of_matrix(b) else {
        return solve_plain(&Lu::new(a, 0, par)?, b, out, par);
    };
    if matches!(factors, Factors::Own(_)) && !extent.is_within(T::SAFE_EXPONENT) {
        if T::IS_NARROW {
            factors = Factors::Wide;
        } else if n <= LARGE && Extent::of_matrix(a).is_some() {
            factors = Factors::Extended(ExtendedLu::new(a)?);
        }
    }
    match factors {
        Factors::Own(lu) => {
            let excess = if extent.is_within(T::SAFE_EXPONENT) {
                0
            } else {
                extent.greatest
            };
            if excess == 0 {
                solve_plain(&lu, b, out.as_mut(), par)?;
            } else {
                let mut copy = copied(b)?;
                shift(view(&mut copy, n), -i64::from(excess));
                solve_plain(&lu, view(&mut copy, n).as_ref(), out.as_mut(), par)?;
            }
            let by = i64::from(excess) - i64::from(lu.exponent);
            if by != 0 {
                shift(out, by);
            }
            Ok(())
        }
        Factors::Wide => {
            let (mut wide, mut right) = (widened(a)?, widened(b)?);
            let (wide, right) = (view(&mut wide, n), view(&mut right, n));
            by_wide(out, |out| solve(wide.as_ref(), right.as_ref(), out, par))
        }
        Factors::Extended(lu) => {
            regular(lu.zero_pivot())?;
            Ok(lu.solve(Some(b), out)?)
        }
    }
}

/// Solves with the factors as they are, without regard to their exponent.
fn solve_plain<T: Field>(
    lu: &Lu<T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    par: Par,
) -> Result<(), Failure> {
    regular(lu.zero_pivot())?;
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

/// Computes the determinant as a product in which no factor before the last leaves the range.
fn determinant<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<Determinant<T>, Failure> {
    match factors(a, par)? {
        Factors::Own(lu) if lu.zero_pivot().is_some() => {
            Ok(Determinant::Finite(ScaledComplex::ZERO))
        }
        Factors::Own(lu) if lu.pivots().all(is_finite) => {
            let whole = ScaledComplex::power_of_two(i64::from(lu.exponent) * lu.n as i64);
            let whole = if lu.swaps.is_multiple_of(2) {
                whole
            } else {
                whole.neg()
            };
            let pivots = lu.pivots().map(ScaledComplex::from_field);
            Ok(Determinant::Finite(pivots.fold(whole, ScaledComplex::mul)))
        }
        Factors::Own(lu) => {
            let sign = from_f64(if lu.swaps.is_multiple_of(2) {
                1.0
            } else {
                -1.0
            });
            let product = |det: T, pivot| det * pivot;
            Ok(Determinant::NotFinite(lu.pivots().fold(sign, product)))
        }
        Factors::Wide => {
            let mut wide = widened(a)?;
            let wide = view(&mut wide, a.nrows());
            Ok(match determinant(wide.as_ref(), par)? {
                Determinant::Finite(det) => Determinant::Finite(det),
                Determinant::NotFinite(det) => Determinant::NotFinite(T::from_parts(det.parts())),
            })
        }
        Factors::Extended(lu) => Ok(Determinant::Finite(lu.det())),
    }
}

fn is_finite<T: Field>(x: T) -> bool {
    x.parts().iter().all(|part| part.is_finite())
}

enum Determinant<T> {
    Finite(ScaledComplex),
    /// The product of pivots of which one is NaN or infinite.
    NotFinite(T),
}

pub(super) fn det<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<T, Failure> {
    Ok(match determinant(a, par)? {
        Determinant::Finite(det) => det.to_field(),
        Determinant::NotFinite(det) => det,
    })
}

/// Computes the sign of the determinant and the logarithm of its magnitude.
pub(super) fn slogdet<T: Field>(a: MatRef<'_, T>, par: Par) -> Result<(T, T::R), Failure> {
    Ok(match determinant(a, par)? {
        Determinant::Finite(det) if det.is_zero() => (T::default(), from_f64(f64::NEG_INFINITY)),
        Determinant::Finite(det) => {
            let (unit, log) = det.polar();
            (T::from_parts(unit), from_f64(log))
        }
        Determinant::NotFinite(det) => {
            let [re, im] = det.parts();
            let magnitude = re.hypot(im);
            (
                T::from_parts([re / magnitude, im / magnitude]),
                from_f64(magnitude.ln()),
            )
        }
    })
}

pub(super) fn triangular<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    options: &MatrixOptions,
    par: Par,
) -> Result<(), Failure> {
    let n = a.nrows();
    let diagonal = || (0..n).map(|k| a[(k, k)]);
    let is_zero = |x: T| x == T::default();
    if !is_usual_triangle(a, b, options) && (options.unitriangular || !diagonal().any(is_zero)) {
        if T::IS_NARROW {
            let (mut wide, mut right) = (widened(a)?, widened(b)?);
            let (wide, right) = (view(&mut wide, n), view(&mut right, n));
            let (wide, right) = (wide.as_ref(), right.as_ref());
            return by_wide(out, |out| triangular(wide, right, out, options, par));
        }
        return extended::triangular(a, b, out, options);
    }
    out.copy_from(b);
    match (options.upper, options.unitriangular) {
        (false, false) => triangle::solve_lower_triangular_in_place(a, out, par),
        (false, true) => triangle::solve_unit_lower_triangular_in_place(a, out, par),
        (true, false) => triangle::solve_upper_triangular_in_place(a, out, par),
        (true, true) => triangle::solve_unit_upper_triangular_in_place(a, out, par),
    }
    Ok(())
}

/// Returns whether the triangle that is read, and the right-hand side, take the usual path.
fn is_usual_triangle<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    options: &MatrixOptions,
) -> bool {
    let n = a.nrows();
    let off = usize::from(options.unitriangular);
    let triangle = (0..n).flat_map(|j| {
        let rows = if options.upper {
            0..(j + 1).saturating_sub(off)
        } else {
            (j + off).min(n)..n
        };
        rows.map(move |i| a[(i, j)])
    });
    let Some(extents) = Extent::new(triangle).zip(Extent::of_matrix(b)) else {
        return true;
    };
    let least = (0..n).map(|k| a[(k, k)].parts().map(f64::abs));
    let normal = least
        .map(|[re, im]| re.max(im))
        .all(|pivot| options.unitriangular || pivot == 0.0 || pivot >= T::LEAST_NORMAL);
    normal && is_usual::<T>(extents.0, n) && is_usual::<T>(extents.1, n)
}

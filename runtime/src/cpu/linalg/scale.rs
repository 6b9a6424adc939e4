//! Scaling by powers of two, as in LAPACK, for matrices with elements near the ends of their dtype's range.
//!
//! Decompositions sum squares, which overflow or underflow long before the elements do. A matrix scaled by a power of
//! two has the same digits, and its decomposition is that of the original scaled by a law that depends only on the
//! operator.

use faer::{MatMut, MatRef};
use nomina_core::DType;
use nomina_core::op::class::Linalg;
use num_complex::Complex;

use super::exponent::{exponent, ldexp};
use super::field::Field;
use super::job::{BatchResult, MatrixOptions, MatrixResult};
use super::workspace::{copied, view};
use crate::memory::{NoMemory, Scratch};

/// The exponents of the smallest nonzero and of the greatest magnitude among real and imaginary parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) least: i32,
    pub(super) greatest: i32,
}

impl Extent {
    /// Computes the extent of some elements; `None` if one is NaN or infinite. If all are zero, the extent is that of
    /// one.
    pub(super) fn new<T: Field>(elements: impl Iterator<Item = T>) -> Option<Self> {
        let (mut least, mut greatest, mut finite) = (f64::INFINITY, 0.0_f64, true);
        for x in elements {
            for part in x.parts() {
                let part = part.abs();
                finite &= part <= f64::MAX;
                greatest = if part > greatest { part } else { greatest };
                least = if part > 0.0 && part < least {
                    part
                } else {
                    least
                };
            }
        }
        let of = |x: f64| {
            if x.is_finite() && x > 0.0 {
                exponent(x)
            } else {
                0
            }
        };
        finite.then(|| Self {
            least: of(least),
            greatest: of(greatest),
        })
    }

    pub(super) fn of_matrix<T: Field>(a: MatRef<'_, T>) -> Option<Self> {
        let a = if a.row_stride().unsigned_abs() > a.col_stride().unsigned_abs() {
            a.transpose()
        } else {
            a
        };
        Self::new((0..a.ncols()).flat_map(|j| a.col(j).iter().copied()))
    }

    /// Returns whether the magnitudes of both exponents are at most `limit`.
    pub(super) fn is_within(self, limit: i32) -> bool {
        self.least >= -limit && self.greatest <= limit
    }
}

/// Returns the exponent by which elements are divided before they are decomposed; 0 if they are far from the ends of
/// the range.
pub(super) fn excess<T: Field>(extent: Option<Extent>) -> i32 {
    excess_beyond(extent, T::SAFE_EXPONENT / 2)
}

fn excess_beyond(extent: Option<Extent>, limit: i32) -> i32 {
    let greatest = extent.map_or(0, |extent| extent.greatest);
    if greatest.abs() <= limit { 0 } else { greatest }
}

/// Returns the [`excess`] of the elements that the operator reads.
pub(super) fn matrix_excess<T: Field>(op: Linalg, a: MatRef<'_, T>) -> i32 {
    excess::<T>(extent_for(op, a))
}

/// Like [`matrix_excess`], for the gradient of the operator, whose products can have more factors.
pub(super) fn gradient_excess<T: Field>(op: Linalg, a: MatRef<'_, T>) -> i32 {
    let limit = match op {
        Linalg::Pinv | Linalg::Lstsq => T::SAFE_EXPONENT / 8,
        _ => T::SAFE_EXPONENT / 2,
    };
    excess_beyond(extent_for(op, a), limit)
}

/// Returns the extent of the elements that the operator reads.
fn extent_for<T: Field>(op: Linalg, a: MatRef<'_, T>) -> Option<Extent> {
    let n = a.nrows();
    match op {
        Linalg::Cholesky | Linalg::Eigh | Linalg::Eigvalsh => {
            let lower = |j: usize| a.col(j).subrows(j, n - j).iter().copied();
            Extent::new((0..a.ncols()).flat_map(lower))
        }
        _ => Extent::of_matrix(a),
    }
}

/// Multiplies elements by a power of two.
pub(super) fn shift<T: Field>(mut x: MatMut<'_, T>, by: i64) {
    for j in 0..x.ncols() {
        let column = x.as_mut().col_mut(j);
        column.iter_mut().for_each(|x| {
            *x = T::from_parts(x.parts().map(|part| ldexp(part, by)));
        });
    }
}

/// A matrix and its right-hand side, divided by powers of two.
pub(super) struct Scaled<T: Field> {
    a: Scratch<T>,
    rows: usize,
    exponent: i32,
    b: Option<(Scratch<T>, i32)>,
}

/// Returns the degree, in halves, to which each result of an operator depends on a factor of the matrix; `None` for
/// operators that need no scaling or scale themselves.
fn degrees(op: Linalg) -> Option<[i32; 3]> {
    match op {
        Linalg::MatrixRank => Some([0; 3]),
        Linalg::Pinv | Linalg::Lstsq => Some([-2, 0, 0]),
        Linalg::MatrixNorm | Linalg::Svdvals | Linalg::Eigvalsh | Linalg::Eigh | Linalg::Eig => {
            Some([2, 0, 0])
        }
        Linalg::Svd => Some([0, 2, 0]),
        Linalg::Cholesky => Some([1, 0, 0]),
        Linalg::Qr
        | Linalg::Inv
        | Linalg::Det
        | Linalg::Slogdet
        | Linalg::Solve
        | Linalg::SolveTriangular => None,
    }
}

impl<T: Field> Scaled<T> {
    /// Scales the operands; `None` if they need no scaling.
    pub(super) fn new(
        op: Linalg,
        a: MatRef<'_, T>,
        b: Option<MatRef<'_, T>>,
    ) -> Result<Option<Self>, NoMemory> {
        if degrees(op).is_none() {
            return Ok(None);
        }
        let mut of_a = matrix_excess(op, a);
        let of_b = b.map_or(0, |b| excess::<T>(Extent::of_matrix(b)));
        if of_a == 0 && of_b == 0 {
            return Ok(None);
        }
        if matches!(op, Linalg::Cholesky) {
            // The exponent is made even, because the factor is scaled by the square root.
            of_a -= of_a & 1;
        }
        let divided = |x: MatRef<'_, T>, exponent: i32| {
            let mut copy = copied(x)?;
            shift(view(&mut copy, x.nrows()), -i64::from(exponent));
            Ok((copy, exponent))
        };
        let (copy, exponent) = divided(a, of_a)?;
        Ok(Some(Self {
            a: copy,
            rows: a.nrows(),
            exponent,
            b: b.map(|b| divided(b, of_b)).transpose()?,
        }))
    }

    pub(super) fn matrices(&self) -> (MatRef<'_, T>, Option<MatRef<'_, T>>) {
        let of = |x: &'_ [T]| x.len() / self.rows.max(1);
        let a = MatRef::from_column_major_slice(&self.a, self.rows, of(&self.a));
        let b = self.b.as_ref();
        let b = b.map(|(b, _)| MatRef::from_column_major_slice(b, self.rows, of(b)));
        (a, b)
    }

    /// Returns the options, with the absolute tolerance scaled, too.
    pub(super) fn options(&self, options: &MatrixOptions) -> MatrixOptions {
        let atol = ldexp(options.atol, -i64::from(self.exponent));
        MatrixOptions {
            // A tolerance that underflows must not become zero.
            atol: if options.atol > 0.0 {
                atol.max(f64::from_bits(1))
            } else {
                options.atol
            },
            ..*options
        }
    }

    /// Scales the results of matrix `i` back to those of the original matrix.
    pub(super) fn restore(&self, op: Linalg, out: &[BatchResult], i: usize) {
        let degrees = degrees(op).unwrap_or_default();
        for (target, degree) in out.iter().zip(degrees) {
            let right = self.b.as_ref().map_or(0, |&(_, exponent)| exponent);
            let by = i64::from(self.exponent * degree / 2 + right);
            if by == 0 {
                continue;
            }
            let slot = MatrixResult::new(target, i);
            match target.dtype {
                DType::F32 => shift(slot.matrix::<f32>(), by),
                DType::F64 => shift(slot.matrix::<f64>(), by),
                DType::C64 => shift(slot.matrix::<Complex<f32>>(), by),
                DType::C128 => shift(slot.matrix::<Complex<f64>>(), by),
                // A rank does not depend on the scale.
                _ => {}
            }
        }
    }
}

//! The four dtypes of linear algebra.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, evd_cplx, evd_real, evd_scratch};
use faer::traits::{ComplexField, RealField};
use faer::{MatMut, MatRef, Par};
use nomina_core::Element;
use num_complex::Complex;

use super::exponent::{exponent, ldexp};
use super::job::Failure;
use super::workspace::{memory, stack, view, zeros};

/// An element type that `faer` computes with.
pub(super) trait Field: ComplexField<Real = Self::R> + Element {
    /// The type of magnitudes.
    type R: RealField + Element + Into<f64>;
    /// The type of eigenvalues.
    type C: Element;
    /// The type of twice the precision, whose range is more than the square of this one's; `Self` if there is none.
    type Wide: Field;

    /// The smallest number with full precision.
    const LEAST_NORMAL: f64;
    /// Whether [`Field::Wide`] is another type.
    const IS_NARROW: bool;
    /// The greatest exponent `e` such that products of two numbers between `2^-e` and `2^e` are far from the ends of
    /// the range.
    const SAFE_EXPONENT: i32;

    /// Returns the real and the imaginary part.
    fn parts(self) -> [f64; 2];
    /// Returns the nearest number with these parts.
    fn from_parts(parts: [f64; 2]) -> Self;

    fn conjugate(self) -> Self;
    fn real(self) -> Self::R;

    /// Returns the number divided by its magnitude; `None` if it is zero or not finite.
    fn phase(self) -> Option<Self>;

    /// Computes eigenvalues, and eigenvectors of norm 1.
    fn eig(
        a: MatRef<'_, Self>,
        values: MatMut<'_, Self::C>,
        vectors: MatMut<'_, Self::C>,
        par: Par,
    ) -> Result<(), Failure>;
}

/// Normalises columns to norm 1.
fn normalize<R: RealField + num_traits::Float + num_traits::NumAssign>(
    mut vectors: MatMut<'_, Complex<R>>,
) {
    for j in 0..vectors.ncols() {
        let column = vectors.as_mut().col_mut(j);
        let norm = column.norm_l2();
        if norm > R::zero() {
            column.iter_mut().for_each(|x| *x /= norm);
        }
    }
}

macro_rules! fields {
    ($($real:ident $narrow:literal $safe:literal;)*) => {$(
        impl Field for $real {
            type R = Self;
            type C = Complex<Self>;
            type Wide = f64;
            const LEAST_NORMAL: f64 = $real::MIN_POSITIVE as f64;
            const IS_NARROW: bool = $narrow;
            const SAFE_EXPONENT: i32 = $safe;

            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [f64::from(self), 0.0]
            }

            #[inline(always)]
            fn from_parts([re, _]: [f64; 2]) -> Self {
                re as $real
            }

            fn conjugate(self) -> Self {
                self
            }

            fn real(self) -> Self {
                self
            }

            fn phase(self) -> Option<Self> {
                None
            }

            fn eig(
                a: MatRef<'_, Self>,
                mut values: MatMut<'_, Complex<Self>>,
                mut vectors: MatMut<'_, Complex<Self>>,
                par: Par,
            ) -> Result<(), Failure> {
                if !a.is_all_finite() {
                    return Err(Failure::NotFinite);
                }
                let n = a.nrows();
                let params = Default::default();
                let (no, yes) = (ComputeEigenvectors::No, ComputeEigenvectors::Yes);
                let mut stack = stack(evd_scratch::<Self>(n, no, yes, par, params))?;
                let mut parts = zeros::<Self>(n, n + 2)?;
                let parts = view(&mut parts, n);
                let (mut packed, parts) = parts.split_at_col_mut(n);
                let (mut re, mut im) = parts.split_at_col_mut(1);
                evd_real(
                    a,
                    diagonal(re.as_mut()),
                    diagonal(im.as_mut()),
                    None,
                    Some(packed.as_mut()),
                    par,
                    memory(&mut stack),
                    params,
                )
                .map_err(|_| Failure::NoConvergence)?;
                let mut j = 0;
                while j < n {
                    values[(j, 0)] = Complex::new(re[(j, 0)], im[(j, 0)]);
                    // For a conjugate pair, two columns hold the real and the imaginary part.
                    let pair = im[(j, 0)] != 0.0 && j + 1 < n;
                    for i in 0..n {
                        let second = if pair { packed[(i, j + 1)] } else { 0.0 };
                        let x = Complex::new(packed[(i, j)], second);
                        vectors[(i, j)] = x;
                        if pair {
                            vectors[(i, j + 1)] = x.conj();
                        }
                    }
                    if pair {
                        values[(j + 1, 0)] = values[(j, 0)].conj();
                    }
                    j += 1 + usize::from(pair);
                }
                normalize(vectors);
                Ok(())
            }
        }

        impl Field for Complex<$real> {
            type R = $real;
            type C = Self;
            type Wide = Complex<f64>;
            const LEAST_NORMAL: f64 = $real::MIN_POSITIVE as f64;
            const IS_NARROW: bool = $narrow;
            const SAFE_EXPONENT: i32 = $safe;

            #[inline(always)]
            fn parts(self) -> [f64; 2] {
                [f64::from(self.re), f64::from(self.im)]
            }

            #[inline(always)]
            fn from_parts([re, im]: [f64; 2]) -> Self {
                Self::new(re as $real, im as $real)
            }

            fn conjugate(self) -> Self {
                self.conj()
            }

            fn real(self) -> $real {
                self.re
            }

            fn phase(self) -> Option<Self> {
                // In two steps, because the magnitude of parts near the ends of the range can exceed it.
                let [re, im] = self.parts();
                let greatest = re.abs().max(im.abs());
                if greatest == 0.0 || !greatest.is_finite() {
                    return None;
                }
                let down = -i64::from(exponent(greatest));
                let [re, im] = [re, im].map(|part| ldexp(part, down));
                let magnitude = re.hypot(im);
                Some(Self::from_parts([re / magnitude, im / magnitude]))
            }

            fn eig(
                a: MatRef<'_, Self>,
                values: MatMut<'_, Self>,
                mut vectors: MatMut<'_, Self>,
                par: Par,
            ) -> Result<(), Failure> {
                if !a.is_all_finite() {
                    return Err(Failure::NotFinite);
                }
                let params = Default::default();
                let (no, yes) = (ComputeEigenvectors::No, ComputeEigenvectors::Yes);
                let mut stack = stack(evd_scratch::<Self>(a.nrows(), no, yes, par, params))?;
                let (into, memory) = (Some(vectors.as_mut()), memory(&mut stack));
                evd_cplx(a, diagonal(values), None, into, par, memory, params)
                    .map_err(|_| Failure::NoConvergence)?;
                normalize(vectors);
                Ok(())
            }
        }
    )*};
}
fields! {
    f32 true 60;
    f64 false 500;
}

/// Returns a column as the diagonal of a matrix.
pub(super) fn diagonal<V>(column: MatMut<'_, V>) -> DiagMut<'_, V> {
    column.col_mut(0).as_diagonal_mut()
}

//! Elimination without overflow and underflow, in numbers with a separate integer exponent.
//!
//! Far slower than elements of the hardware. Used for matrices whose elements or pivots are near the ends of the range
//! of `f64`.

use std::cmp::Ordering;

use faer::{MatMut, MatRef};

use super::exponent::{exponent, ldexp};
use super::field::Field;
use super::job::{Failure, MatrixOptions};
use crate::memory::scratch::collect;
use crate::memory::{NoMemory, Scratch};

/// The complex number `(re + i im) * 2^exponent`. The larger part is in `[1, 2)` by magnitude, or both are zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScaledComplex {
    re: f64,
    im: f64,
    exponent: i64,
}

impl ScaledComplex {
    pub(super) const ZERO: Self = Self {
        re: 0.0,
        im: 0.0,
        exponent: 0,
    };
    pub(super) const ONE: Self = Self {
        re: 1.0,
        im: 0.0,
        exponent: 0,
    };

    /// Creates the number `(re + i im) * 2^by` from two finite parts.
    fn new(re: f64, im: f64, by: i64) -> Self {
        let greatest = re.abs().max(im.abs());
        if greatest == 0.0 {
            return Self::ZERO;
        }
        let own = i64::from(exponent(greatest));
        Self {
            re: ldexp(re, -own),
            im: ldexp(im, -own),
            exponent: by + own,
        }
    }

    pub(super) fn power_of_two(exponent: i64) -> Self {
        Self {
            exponent,
            ..Self::ONE
        }
    }

    pub(super) fn from_field<T: Field>(x: T) -> Self {
        let [re, im] = x.parts();
        Self::new(re, im, 0)
    }

    /// Returns the nearest element of the dtype: infinite above its range, zero below.
    pub(super) fn to_field<T: Field>(self) -> T {
        T::from_parts([self.re, self.im].map(|part| ldexp(part, self.exponent)))
    }

    pub(super) fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }

    pub(super) fn neg(self) -> Self {
        Self {
            re: -self.re,
            im: -self.im,
            ..self
        }
    }

    pub(super) fn mul(self, other: Self) -> Self {
        Self::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
            self.exponent + other.exponent,
        )
    }

    /// Returns the quotient by a nonzero number.
    pub(super) fn div(self, other: Self) -> Self {
        if other.im == 0.0 {
            let (re, im) = (self.re / other.re, self.im / other.re);
            return Self::new(re, im, self.exponent - other.exponent);
        }
        let square = other.re * other.re + other.im * other.im;
        Self::new(
            (self.re * other.re + self.im * other.im) / square,
            (self.im * other.re - self.re * other.im) / square,
            self.exponent - other.exponent,
        )
    }

    fn sub(self, other: Self) -> Self {
        if other.is_zero() {
            return self;
        }
        if self.is_zero() {
            return other.neg();
        }
        let common = self.exponent.max(other.exponent);
        let [a, b] = [self, other].map(|x| {
            let down = x.exponent - common;
            [ldexp(x.re, down), ldexp(x.im, down)]
        });
        Self::new(a[0] - b[0], a[1] - b[1], common)
    }

    /// Returns the number divided by its magnitude, and the logarithm of the magnitude. The number must not be zero.
    pub(super) fn polar(self) -> ([f64; 2], f64) {
        let magnitude = self.re.hypot(self.im);
        let log = magnitude.ln() + self.exponent as f64 * std::f64::consts::LN_2;
        ([self.re / magnitude, self.im / magnitude], log)
    }

    /// Compares the magnitudes.
    fn compare(self, other: Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        // Scaled magnitudes are in [1, 2.83), so exponents that differ by two or more decide.
        let apart = self.exponent - other.exponent;
        if apart.abs() > 1 {
            return apart.cmp(&0);
        }
        let magnitude = |x: Self| x.re.hypot(x.im);
        ldexp(magnitude(self), apart).total_cmp(&magnitude(other))
    }
}

/// `P A = L U` by partial pivoting; both triangles in one matrix, column by column.
pub(super) struct ExtendedLu {
    both: Scratch<ScaledComplex>,
    /// For each row of the triangles, the corresponding row of `A`.
    order: Vec<usize>,
    odd: bool,
    n: usize,
}

impl ExtendedLu {
    /// Factors a square matrix of finite elements.
    pub(super) fn new<T: Field>(a: MatRef<'_, T>) -> Result<Self, NoMemory> {
        let n = a.nrows();
        let mut both = Scratch::new([n, n], ScaledComplex::ZERO)?;
        for (j, column) in both.chunks_exact_mut(n.max(1)).enumerate() {
            for (i, x) in column.iter_mut().enumerate() {
                *x = ScaledComplex::from_field(a[(i, j)]);
            }
        }
        let mut this = Self {
            both,
            order: collect(0..n)?,
            odd: false,
            n,
        };
        for k in 0..n {
            this.eliminate(k);
        }
        Ok(this)
    }

    fn eliminate(&mut self, k: usize) {
        let n = self.n;
        let greatest =
            (k..n).reduce(
                |best, i| match self.both[k * n + i].compare(self.both[k * n + best]) {
                    Ordering::Greater => i,
                    _ => best,
                },
            );
        let best = greatest.unwrap_or(k);
        if best != k {
            for column in self.both.chunks_exact_mut(n) {
                column.swap(k, best);
            }
            self.order.swap(k, best);
            self.odd = !self.odd;
        }
        let pivot = self.both[k * n + k];
        if pivot.is_zero() {
            return;
        }
        let (left, right) = self.both.split_at_mut((k + 1) * n);
        let factors = &mut left[k * n + k + 1..];
        factors.iter_mut().for_each(|x| *x = x.div(pivot));
        for column in right.chunks_exact_mut(n) {
            let top = column[k];
            if top.is_zero() {
                continue;
            }
            for (x, factor) in column[k + 1..].iter_mut().zip(&*factors) {
                *x = x.sub(factor.mul(top));
            }
        }
    }

    fn pivots(&self) -> impl Iterator<Item = ScaledComplex> {
        (0..self.n).map(|k| self.both[k * self.n + k])
    }

    /// Returns the index of the first zero pivot.
    pub(super) fn zero_pivot(&self) -> Option<usize> {
        self.pivots().position(ScaledComplex::is_zero)
    }

    pub(super) fn det(&self) -> ScaledComplex {
        let sign = if self.odd {
            ScaledComplex::ONE.neg()
        } else {
            ScaledComplex::ONE
        };
        self.pivots().fold(sign, ScaledComplex::mul)
    }

    /// Solves for each column of `b`, or of the identity if `b` is absent. No pivot is zero.
    pub(super) fn solve<T: Field>(
        &self,
        b: Option<MatRef<'_, T>>,
        mut out: MatMut<'_, T>,
    ) -> Result<(), NoMemory> {
        let mut x = Scratch::new([self.n], ScaledComplex::ZERO)?;
        for j in 0..out.ncols() {
            for (x, &row) in x.iter_mut().zip(&self.order) {
                *x = match b {
                    Some(b) => ScaledComplex::from_field(b[(row, j)]),
                    None if row == j => ScaledComplex::ONE,
                    None => ScaledComplex::ZERO,
                };
            }
            let element = |i: usize, k: usize| self.both[k * self.n + i];
            substitute(&mut x, false, true, element);
            substitute(&mut x, true, false, element);
            for (i, x) in x.iter().enumerate() {
                out[(i, j)] = x.to_field();
            }
        }
        Ok(())
    }
}

/// Solves a triangular system in place.
fn substitute(
    x: &mut [ScaledComplex],
    upper: bool,
    unit: bool,
    element: impl Fn(usize, usize) -> ScaledComplex,
) {
    let n = x.len();
    for step in 0..n {
        let k = if upper { n - 1 - step } else { step };
        if !unit {
            x[k] = x[k].div(element(k, k));
        }
        let found = x[k];
        if found.is_zero() {
            continue;
        }
        let rest = if upper { 0..k } else { k + 1..n };
        for i in rest {
            x[i] = x[i].sub(element(i, k).mul(found));
        }
    }
}

/// Solves triangular systems of finite elements, with no zero on the diagonal.
pub(super) fn triangular<T: Field>(
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    mut out: MatMut<'_, T>,
    options: &MatrixOptions,
) -> Result<(), Failure> {
    let mut x = Scratch::new([a.nrows()], ScaledComplex::ZERO)?;
    for j in 0..b.ncols() {
        for (i, x) in x.iter_mut().enumerate() {
            *x = ScaledComplex::from_field(b[(i, j)]);
        }
        substitute(&mut x, options.upper, options.unitriangular, |i, k| {
            ScaledComplex::from_field(a[(i, k)])
        });
        for (i, x) in x.iter().enumerate() {
            out[(i, j)] = x.to_field();
        }
    }
    Ok(())
}

//! Powers of two that keep the squares of numbers of any magnitude within the range of `f64`.
//!
//! Two fixed factors are enough (Blue, "A portable Fortran program to find the Euclidean norm of a vector",
//! 1978): squares are summed without scaling, and only a sum that overflowed, or that is so small that terms
//! may have underflowed, is recomputed with scaled numbers.

/// Sums of squares below this may have lost terms to underflow.
const LEAST: f64 = 1e-280;
/// Sums of squares above this may overflow when they are added to others.
const MOST: f64 = 1e300;
/// 2⁻⁶⁰⁰, for numbers whose squares overflow.
const DOWN: f64 = f64::from_bits((1023 - 600) << 52);
/// 2⁷⁰⁰, for numbers whose squares underflow.
const UP: f64 = f64::from_bits((1023 + 700) << 52);

/// A factor that numbers are multiplied by before they are squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SquareScale {
    Down,
    One,
    Up,
}

impl SquareScale {
    /// Returns the scale for numbers whose unscaled squares have this sum.
    #[inline(always)]
    pub(crate) fn for_squares(squares: f64) -> Self {
        if (LEAST..MOST).contains(&squares) {
            Self::One
        } else if squares < LEAST {
            Self::Up
        } else {
            Self::Down
        }
    }

    pub(crate) fn factor(self) -> f64 {
        match self {
            Self::Down => DOWN,
            Self::One => 1.0,
            Self::Up => UP,
        }
    }

    /// Returns the difference of two numbers times the factor. Numbers near the end of the range are scaled
    /// before they are subtracted.
    #[inline(always)]
    pub(crate) fn difference(self, x: f64, from: f64) -> f64 {
        match self {
            Self::Down => x * DOWN - from * DOWN,
            Self::One => x - from,
            Self::Up => (x - from) * UP,
        }
    }
}

/// A sum of squares of any magnitude: one partial sum for each scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Squares {
    down: f64,
    one: f64,
    up: f64,
}

impl Squares {
    pub(crate) const ZERO: Self = Self {
        down: 0.0,
        one: 0.0,
        up: 0.0,
    };

    /// Adds a sum that was computed without scaling and is in range.
    #[inline(always)]
    pub(crate) fn add(&mut self, squares: f64) {
        self.one += squares;
    }

    /// Adds the squares of differences from a number, whose sum without scaling was `squares`.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_again(&mut self, xs: impl Iterator<Item = f64>, from: f64, squares: f64) {
        let scale = SquareScale::for_squares(squares);
        let sum = xs.fold(0.0, |sum, x| {
            let x = scale.difference(x, from);
            sum + x * x
        });
        match scale {
            SquareScale::Down => self.down += sum,
            SquareScale::One => self.one += sum,
            SquareScale::Up => self.up += sum,
        }
    }

    #[inline(always)]
    pub(crate) fn merge(&mut self, other: &Self) {
        self.down += other.down;
        self.one += other.one;
        self.up += other.up;
    }

    /// Returns the root of the sum divided by a number.
    #[inline]
    pub(crate) fn root(&self, divisor: f64) -> f64 {
        let scale = if self.down != 0.0 {
            SquareScale::Down
        } else {
            SquareScale::for_squares(self.one)
        };
        let squares = match scale {
            SquareScale::Down => self.down + self.one * DOWN * DOWN,
            SquareScale::One => self.one + self.up / UP / UP,
            // An unscaled sum this small has few accurate digits, or none.
            SquareScale::Up => self.up + self.one * UP * UP,
        };
        (squares / divisor).sqrt() / scale.factor()
    }
}

/// Returns the power of two that scales a magnitude into the range 1 to 2, or 1 for zero, infinity and NaN.
pub(crate) fn inverse_exponent(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    // Subnormal numbers are treated like the smallest normal ones, and the largest factor is 2¹⁰²².
    let exponent = (x.to_bits() >> 52).max(1);
    f64::from_bits((2046 - exponent).max(1) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(xs: &[f64]) -> f64 {
        let mut all = Squares::ZERO;
        for part in xs.chunks(2) {
            let sum: f64 = part.iter().map(|x| x * x).sum();
            match SquareScale::for_squares(sum) {
                SquareScale::One => all.add(sum),
                _ => all.add_again(part.iter().copied(), 0.0, sum),
            }
        }
        all.root(1.0)
    }

    #[test]
    fn roots_of_squares_of_any_size() {
        for scale in [1e-300, 1e-160, 1e-140, 1.0, 1e150, 1e160, 1e300] {
            let found = root(&[3.0 * scale, 0.0, 0.0, -4.0 * scale, 0.0, 12.0 * scale]);
            assert!(
                (found / (13.0 * scale) - 1.0).abs() < 1e-15,
                "{scale}: {found}"
            );
        }
        assert_eq!(root(&[0.0; 5]), 0.0);
        assert_eq!(root(&[1.0, 0.0, 1e-200, 0.0]), 1.0);
        assert_eq!(root(&[1e200, 0.0, 1.0, 0.0, 1e-200]), 1e200);
        assert_eq!(root(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(root(&[f64::NAN, 1.0, 1e300]).is_nan());
    }
}

//! Vectorised division of floats with a remainder, exact if the quotient is not too large.

use super::polynomial::Madd;

/// A float type that supports division with a remainder.
pub(crate) trait Remainder: Copy {
    /// Returns the remainder of two magnitudes, and whether it is exact.
    fn remainder<const FMA: bool>(a: Self, b: Self) -> (Self, bool);
}

impl Remainder for f32 {
    // The wider type represents the product of a number and such a short quotient exactly.
    #[inline(always)]
    fn remainder<const FMA: bool>(a: Self, b: Self) -> (Self, bool) {
        let (a, b) = (f64::from(a), f64::from(b));
        let quotient = a / b;
        let fits = (quotient < 268_435_456.0) & (b < f64::INFINITY);
        ((a - quotient.trunc() * b) as Self, fits)
    }
}

impl Remainder for f64 {
    #[inline(always)]
    fn remainder<const FMA: bool>(a: Self, b: Self) -> (Self, bool) {
        let quotient = a / b;
        // In the subnormal range a product would lose digits.
        let fits = (quotient < 4_503_599_627_370_496.0)
            & (b < Self::INFINITY)
            & (b > 1e-250)
            & (a < 1e300);
        let whole = quotient.trunc();
        let rest = if FMA {
            (-whole).madd::<FMA>(b, a)
        } else {
            let (high, low) = super::double::product::<FMA>(whole, b);
            (a - high) - low
        };
        // A quotient just below an integer may have been rounded up to it.
        (if rest < 0.0 { rest + b } else { rest }, fits)
    }
}

macro_rules! divisions {
    ($($t:ty, $fmod:ident, $remainder:ident, $floor_divide:ident;)*) => {$(
        /// Returns the remainder with the dividend's sign, and whether it is exact.
        #[inline(always)]
        pub(crate) fn $fmod<const FMA: bool>(x: $t, y: $t) -> ($t, bool) {
            let (rest, fits) = <$t>::remainder::<FMA>(x.abs(), y.abs());
            (rest.copysign(x), fits)
        }

        /// Returns the remainder with the divisor's sign, and whether it is exact.
        #[inline(always)]
        pub(crate) fn $remainder<const FMA: bool>(x: $t, y: $t) -> ($t, bool) {
            let (rest, fits) = $fmod::<FMA>(x, y);
            let other = (rest != 0.0) & ((y < 0.0) != (rest < 0.0));
            (if other { rest + y } else { rest }, fits)
        }

        /// Returns the quotient, rounded down like in Python, and whether it is exact.
        #[inline(always)]
        pub(crate) fn $floor_divide<const FMA: bool>(x: $t, y: $t) -> ($t, bool) {
            let (rest, fits) = $fmod::<FMA>(x, y);
            let other = (rest != 0.0) & ((y < 0.0) != (rest < 0.0));
            let quotient = (x - rest) / y - if other { 1.0 } else { 0.0 };
            let whole = quotient.floor();
            let whole = if quotient - whole > 0.5 { whole + 1.0 } else { whole };
            let zero = if (x < 0.0) != (y < 0.0) { -0.0 } else { 0.0 };
            let zero = if x == 0.0 { x / y } else { zero };
            (if quotient == 0.0 { zero } else { whole }, fits)
        }
    )*};
}

divisions! {
    f32, fmod_f32, remainder_f32, floor_divide_f32;
    f64, fmod_f64, remainder_f64, floor_divide_f64;
}

#[cfg(test)]
mod tests {
    use super::super::special::Whole;
    use super::*;

    /// Compares bitwise, so that the signs of zeros count; all NaNs are equal.
    fn same(a: f64, b: f64) -> bool {
        a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
    }

    #[test]
    fn as_one_at_a_time() {
        const CORNERS: [f64; 16] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.1,
            -0.3,
            3.0,
            -7.5,
            5e-324,
            1e-300,
            1e300,
            f64::MAX,
            4e15,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let bits = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let near = |i: u64| (bits(i) >> 11) as f64 / (1_u64 << 50) as f64 - 4.0;
        let points = if cfg!(miri) { 100 } else { 50_000_u64 };
        let corners = CORNERS.iter().flat_map(|&x| CORNERS.map(|y| (x, y)));
        let anywhere =
            (0..points).map(|i| (f64::from_bits(bits(2 * i)), f64::from_bits(bits(2 * i + 1))));
        let close = (0..points).map(|i| (1e3 * near(2 * i), near(2 * i + 1)));
        let whole = (0..points).map(|i| (near(i) * 1e6, near(i)));
        let multiples = (0..points).map(|i| (near(i) * (i % 1000) as f64, near(i)));
        let mut held = 0_u64;
        for (x, y) in corners
            .chain(anywhere)
            .chain(close)
            .chain(whole)
            .chain(multiples)
        {
            let pairs = [
                (fmod_f64::<false>(x, y), fmod_f64::<true>(x, y), x.fmod(y)),
                (
                    remainder_f64::<false>(x, y),
                    remainder_f64::<true>(x, y),
                    x.remainder(y),
                ),
                (
                    floor_divide_f64::<false>(x, y),
                    floor_divide_f64::<true>(x, y),
                    x.floor_divide(y),
                ),
            ];
            for (i, (a, b, want)) in pairs.into_iter().enumerate() {
                for (got, fits) in [a, b] {
                    held += u64::from(fits);
                    assert!(
                        !fits || same(got, want),
                        "{i} of {x:e} and {y:e}: {got:e}, not {want:e}"
                    );
                }
            }
            let (x, y) = (x as f32, y as f32);
            let pairs = [
                (fmod_f32::<false>(x, y), x.fmod(y)),
                (remainder_f32::<false>(x, y), x.remainder(y)),
                (floor_divide_f32::<false>(x, y), x.floor_divide(y)),
            ];
            for (i, ((got, fits), want)) in pairs.into_iter().enumerate() {
                let told = format!("{i} of {x:e} and {y:e}: {got:e}, not {want:e}");
                assert!(!fits || same(got.into(), want.into()), "{told}");
            }
        }
        // All points of the other three kinds, and some of the arbitrary ones.
        assert!(held > 18 * points, "{held}");
    }
}

//! Exact sums and products of two numbers, as the rounded one and what it lacks.
//!
//! T. J. Dekker, A floating-point technique for extending the available precision (1971); D. E. Knuth,
//! The Art of Computer Programming, volume 2, section 4.2.2.

use crate::cpu::numeric::single::Madd;

/// A polynomial as those of its even and its odd terms: what waits for one does not wait for the other,
/// which counts where a function is longer than what a processor looks ahead.
#[inline(always)]
pub(super) fn long<const FMA: bool, const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let square = x * x;
    let [mut even, mut odd] = [0.0; 2];
    let mut i = 0;
    while i < N {
        // The last one is that of the power 0.
        let part = if (N - 1 - i).is_multiple_of(2) {
            &mut even
        } else {
            &mut odd
        };
        *part = if i < 2 {
            coefficients[i]
        } else {
            part.madd::<FMA>(square, coefficients[i])
        };
        i += 1;
    }
    odd.madd::<FMA>(x, even)
}

/// The sum, where the first is the greater in magnitude or the second is zero.
#[inline(always)]
pub(super) fn quick_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The sum.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// The product.
#[inline(always)]
pub(in crate::cpu::numeric) fn product<const FMA: bool>(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    if FMA {
        return (product, a.madd::<FMA>(b, -product));
    }
    let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
    let low = ((a * b - product) + a * b_low) + a_low * b;
    (product, low + a_low * b_low)
}

/// The number as the upper half of its digits and the rest.
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & !0x7ff_ffff);
    (high, x - high)
}

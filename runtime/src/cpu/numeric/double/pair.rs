//! Exact sums and products of two numbers, as the rounded result and its error.
//!
//! T. J. Dekker, A floating-point technique for extending the available precision (1971); D. E. Knuth,
//! The Art of Computer Programming, volume 2, section 4.2.2.

use crate::cpu::numeric::exact::exact;
use crate::cpu::numeric::polynomial::Madd;

exact!(f64, 0x7ff_ffff);

/// Returns the sum if the first number is the greater in magnitude or the second is zero.
#[inline(always)]
pub(super) fn quick_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// Returns the sum of any two numbers.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

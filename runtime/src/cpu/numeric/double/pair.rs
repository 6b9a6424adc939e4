//! Exact sums and products of two numbers, as the rounded one and what it lacks.
//!
//! T. J. Dekker, A floating-point technique for extending the available precision (1971); D. E. Knuth,
//! The Art of Computer Programming, volume 2, section 4.2.2.

use crate::cpu::numeric::exact;
use crate::cpu::numeric::single::Madd;

exact!(f64, 0x7ff_ffff);

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

//! Exact sums and products of two numbers, like those of [`double`](super::super::double).

use crate::cpu::numeric::exact::exact;
use crate::cpu::numeric::polynomial::Madd;

exact!(f32, 0xfff);

/// Computes the last step of a polynomial, `x` times `sum` plus a coefficient that is greater than
/// the product. Returns the rounded result and its error.
#[inline(always)]
pub(super) fn step<const FMA: bool>(x: f32, sum: f32, last: f32) -> (f32, f32) {
    if FMA {
        let value = x.madd::<FMA>(sum, last);
        return (value, x.madd::<FMA>(sum, last - value));
    }
    let (product, low) = product::<FMA>(x, sum);
    let value = last + product;
    (value, (product - (value - last)) + (low))
}

/// Returns the difference from 1 of a product that is nearly 1.
#[inline(always)]
pub(super) fn rest<const FMA: bool>(a: f32, b: f32) -> f32 {
    if FMA {
        return a.madd::<FMA>(-b, 1.0);
    }
    let (product, low) = product::<FMA>(a, b);
    (1.0 - product) - low
}

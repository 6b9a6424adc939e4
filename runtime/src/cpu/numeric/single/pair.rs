//! Exact sums and products of two numbers, as [`double`](super::super::double) has them.

use super::Madd;
use crate::cpu::numeric::exact;

exact!(f32, 0xfff);

/// The last step of a polynomial: `x` times `sum` and a coefficient that is greater than the product;
/// rounded, and what that lacks.
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

/// What a product, of nearly 1, lacks of it.
#[inline(always)]
pub(super) fn rest<const FMA: bool>(a: f32, b: f32) -> f32 {
    if FMA {
        return a.madd::<FMA>(-b, 1.0);
    }
    let (product, low) = product::<FMA>(a, b);
    (1.0 - product) - low
}

//! Exact sums and products of two numbers, as [`double`](super::super::double) has them.

use super::Madd;

/// A polynomial as those of its even and its odd terms, which do not wait for each other.
#[inline(always)]
pub(super) fn long<const FMA: bool, const N: usize>(x: f32, coefficients: [f32; N]) -> f32 {
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

/// The product, rounded, and what that lacks.
#[inline(always)]
pub(super) fn product<const FMA: bool>(a: f32, b: f32) -> (f32, f32) {
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
fn halves(x: f32) -> (f32, f32) {
    let high = f32::from_bits(x.to_bits() & !0xfff);
    (high, x - high)
}

//! Real arithmetic that the compiler can vectorise.

use nomina_core::Element;

use crate::cpu::numeric::{double, single};
use crate::cpu::simd::FMA;

/// `f32` or `f64`, as block kernels use them.
pub(crate) trait BlockFloat:
    Element
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::AddAssign
{
    const ZERO: Self;
    const NEG_INFINITY: Self;
    /// Squares below this may have lost digits to underflow.
    const LEAST_SQUARE: f64;
    /// Squared deviations from a mean below this fraction of its square are only rounding errors.
    const LEAST_SHARE: f64;
    /// Rounds to this type.
    fn from_f64(x: f64) -> Self;
    /// Converts to `f64`.
    fn wide(self) -> f64;
    /// Returns *e*^`self` within 2 ulp, without a branch, for arguments up to 40; results for larger
    /// arguments are arbitrary.
    fn exp_nonpositive(self) -> Self;
}

impl BlockFloat for f32 {
    const ZERO: f32 = 0.0;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
    const LEAST_SQUARE: f64 = 1e-30;
    const LEAST_SHARE: f64 = f64::EPSILON;
    #[inline(always)]
    fn from_f64(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn exp_nonpositive(self) -> f32 {
        single::exp_nonpositive::<FMA>(self)
    }
}

impl BlockFloat for f64 {
    const ZERO: f64 = 0.0;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;
    const LEAST_SQUARE: f64 = 1e-280;
    const LEAST_SHARE: f64 = f64::EPSILON * f64::EPSILON / 16.0;
    #[inline(always)]
    fn from_f64(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn exp_nonpositive(self) -> f64 {
        double::exp_nonpositive::<FMA>(self)
    }
}

/// Returns the sum of the lanes, a power of two, by adding halves, which shortens the chain of
/// dependent additions.
#[inline(always)]
pub(crate) fn total<T: BlockFloat, const N: usize>(lanes: &[T; N]) -> f64 {
    let mut sums = [0.0; N];
    for (sum, lane) in sums.iter_mut().zip(lanes) {
        *sum = lane.wide();
    }
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_within_two_ulp() {
        let steps = if cfg!(miri) { 100 } else { 200_000 };
        for i in 0..=steps {
            let x = -104.0 + 193.0 * i as f32 / steps as f32;
            let (got, want) = (single::exp::<FMA>(x), f64::from(x).exp());
            let ulp = f64::from((want as f32).next_up()) - f64::from(want as f32);
            assert!(
                want as f32 == got || (f64::from(got) - want).abs() <= 2.0 * ulp,
                "exp({x}) = {got}, not {want}"
            );
            assert!(x > 40.0 || x.exp_nonpositive() == got, "{x}");
            let x = -745.0 + 1455.0 * i as f64 / steps as f64;
            let (got, want) = (double::exp::<FMA>(x), f64::exp(x));
            let ulp = want.next_up() - want;
            assert!(
                want == got || (got - want).abs() <= 2.0 * ulp,
                "exp({x}) = {got}, not {want}"
            );
            assert!(x > 40.0 || x.exp_nonpositive() == got, "{x}");
        }
    }

    #[test]
    fn exponentials_at_the_ends() {
        assert_eq!(single::exp::<FMA>(f32::INFINITY), f32::INFINITY);
        assert_eq!(double::exp::<FMA>(f64::INFINITY), f64::INFINITY);
        assert!(single::exp::<FMA>(f32::NAN).is_nan() && double::exp::<FMA>(f64::NAN).is_nan());
        for exp in [single::exp::<FMA>, BlockFloat::exp_nonpositive] {
            assert_eq!((exp(f32::NEG_INFINITY), exp(f32::MIN)), (0.0, 0.0));
            assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
            assert!(exp(f32::NAN).is_nan());
        }
        for exp in [double::exp::<FMA>, BlockFloat::exp_nonpositive] {
            assert_eq!((exp(f64::NEG_INFINITY), exp(f64::MIN)), (0.0, 0.0));
            assert_eq!((exp(0.0), exp(-0.0)), (1.0, 1.0));
            assert!(exp(f64::NAN).is_nan());
        }
    }
}

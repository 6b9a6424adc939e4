//! Real arithmetic that the compiler can vectorise.

use nomina_core::Element;

/// `f32` or `f64`, as block kernels use them.
pub(crate) trait Real:
    Element
    + PartialOrd
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::AddAssign
{
    const ZERO: Self;
    const NEG_INFINITY: Self;
    /// Rounds to this type.
    fn of(x: f64) -> Self;
    /// As the widest real.
    fn wide(self) -> f64;
    /// *e* to the power of itself, within 2 ulp, without a branch.
    fn exp(self) -> Self;
}

/// 1/1! to 1/13!, the Taylor series of exp after 1.
macro_rules! taylor {
    ($t:ty, $r:expr, [$first:expr, $($rest:expr),*]) => {{
        let r = $r;
        let mut sum: $t = 1.0 / $first;
        $(sum = sum * r + 1.0 / $rest;)*
        sum * r + 1.0
    }};
}

impl Real for f32 {
    const ZERO: f32 = 0.0;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
    #[inline(always)]
    fn of(x: f64) -> f32 {
        x as f32
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
    #[inline(always)]
    fn exp(self) -> f32 {
        // The number that makes the sum's last bits the nearest integer.
        const ROUND: f32 = 12_582_912.0;
        // Beyond these the result is infinite, or zero. Comparisons let NaN through.
        let x = if self > 89.5 { 89.5 } else { self };
        let x = if x < -105.0 { -105.0 } else { x };
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let whole = shifted - ROUND;
        // ln 2 in two parts, the first with so few bits that its product is exact.
        let r = (x - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
        let power = taylor!(f32, r, [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0]);
        let n = (shifted.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
        // Two factors, so that results between zero and the smallest normal number come out too.
        let half = n >> 1;
        let scale = |n: i32| f32::from_bits((n.wrapping_add(127) << 23) as u32);
        power * scale(half) * scale(n.wrapping_sub(half))
    }
}

impl Real for f64 {
    const ZERO: f64 = 0.0;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;
    #[inline(always)]
    fn of(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
    #[inline(always)]
    fn exp(self) -> f64 {
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let x = if self > 710.5 { 710.5 } else { self };
        let x = if x < -746.0 { -746.0 } else { x };
        let shifted = x * std::f64::consts::LOG2_E + ROUND;
        let whole = shifted - ROUND;
        let r = (x - whole * 0.693_147_180_369_123_8) - whole * 1.908_214_929_270_587_7e-10;
        let power = taylor!(
            f64,
            r,
            [
                6_227_020_800.0,
                479_001_600.0,
                39_916_800.0,
                3_628_800.0,
                362_880.0,
                40_320.0,
                5040.0,
                720.0,
                120.0,
                24.0,
                6.0,
                2.0,
                1.0
            ]
        );
        let n = (shifted.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
        // A logical shift of a positive number: AVX2 has no arithmetic one.
        let half = ((n.wrapping_add(4096) as u64) >> 1) as i64 - 2048;
        let scale = |n: i64| f64::from_bits((n.wrapping_add(1023) << 52) as u64);
        power * scale(half) * scale(n.wrapping_sub(half))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_within_two_ulp() {
        let steps = if cfg!(miri) { 100 } else { 200_000 };
        for i in 0..=steps {
            let x = -104.0 + 193.0 * i as f32 / steps as f32;
            let (got, want) = (Real::exp(x), f64::from(x).exp());
            let ulp = f64::from((want as f32).next_up()) - f64::from(want as f32);
            assert!(
                want as f32 == got || (f64::from(got) - want).abs() <= 2.0 * ulp,
                "exp({x}) = {got}, not {want}"
            );
            let x = -745.0 + 1455.0 * i as f64 / steps as f64;
            let (got, want) = (Real::exp(x), f64::exp(x));
            let ulp = want.next_up() - want;
            assert!(
                want == got || (got - want).abs() <= 2.0 * ulp,
                "exp({x}) = {got}, not {want}"
            );
        }
    }

    #[test]
    fn exp_at_the_ends() {
        assert_eq!(Real::exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(Real::exp(f32::INFINITY), f32::INFINITY);
        assert!(Real::exp(f32::NAN).is_nan());
        assert_eq!((Real::exp(0.0_f32), Real::exp(0.0_f64)), (1.0, 1.0));
        assert_eq!(Real::exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(Real::exp(f64::INFINITY), f64::INFINITY);
        assert!(Real::exp(f64::NAN).is_nan());
    }
}

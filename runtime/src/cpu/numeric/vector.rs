//! Functions of real floats without branches or calls, so that loops over them vectorise.
//!
//! Those of `f32` compute in `f64`, where nothing they subtract loses digits that the result has,
//! and are rounded once; [`exp`](Vector::exp) is cheap enough to compute twice as many at a time.

use crate::cpu::reduce::real::Real;

/// Vector functions of `f32` and `f64`.
pub(super) trait Vector: Sized {
    /// *e* to the power, within 2 ulp.
    fn exp(self) -> Self;
    /// The natural logarithm, within 1 ulp.
    fn log(self) -> Self;
    /// The hyperbolic tangent, within 1 ulp.
    fn tanh(self) -> Self;
}

impl Vector for f32 {
    #[inline(always)]
    fn exp(self) -> Self {
        Real::exp(self)
    }

    #[inline(always)]
    fn log(self) -> Self {
        // Every f32, subnormal ones too, is a normal f64: mantissa times a power of two.
        let bits = f64::from(self).to_bits() as i64;
        // The mantissa from √½ to √2, where its logarithm is smallest.
        let below_one = 0x3fe6_a09e_667f_3bcd_i64;
        let exponent = bits.wrapping_sub(below_one) >> 52;
        let mantissa = f64::from_bits(bits.wrapping_sub(exponent << 52) as u64);
        // log m = 2 artanh s, with |s| under 0.1716: what the series leaves out is under 2⁻³³.
        let s = (mantissa - 1.0) / (mantissa + 1.0);
        let t = s * s;
        let series = (((((1.0 / 11.0) * t + 1.0 / 9.0) * t + 1.0 / 7.0) * t + 1.0 / 5.0) * t
            + 1.0 / 3.0)
            * t
            + 1.0;
        // The low bits of a great constant's sum hold the integer: no conversion, which AVX2 lacks.
        let magic = 6_755_399_441_055_744.0_f64;
        let whole = f64::from_bits((magic.to_bits() as i64).wrapping_add(exponent) as u64) - magic;
        let value = (whole * std::f64::consts::LN_2 + 2.0 * s * series) as f32;
        let value = if self > f32::MAX { self } else { value };
        let value = if self == 0.0 {
            f32::NEG_INFINITY
        } else {
            value
        };
        if self >= 0.0 { value } else { f32::NAN }
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        let x = f64::from(self);
        // From 20 on the result is 1; NaN passes both comparisons.
        let doubled = 2.0
            * if x.abs() > 20.0 {
                20.0_f64.copysign(x)
            } else {
                x
            };
        let power = Real::exp(doubled);
        let value = ((power - 1.0) / (power + 1.0)) as f32;
        // Below, the number itself is nearest, and its exponential cancels.
        if self.abs() < 1e-4 { self } else { value }
    }
}

impl Vector for f64 {
    #[inline(always)]
    fn exp(self) -> Self {
        Real::exp(self)
    }

    #[inline(always)]
    fn log(self) -> Self {
        self.ln()
    }

    #[inline(always)]
    fn tanh(self) -> Self {
        self.tanh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance of `got` from `want` in units of the last place of an f32.
    fn ulps(got: f32, want: f64) -> f64 {
        let nearest = want as f32;
        let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
        (f64::from(got) - want).abs() / unit
    }

    #[test]
    fn within_one_ulp() {
        let step = if cfg!(miri) { 1 << 24 } else { 4999 };
        for bits in (0..=u32::MAX).step_by(step) {
            let x = f32::from_bits(bits);
            if !x.is_finite() {
                continue;
            }
            let (log, tanh) = (Vector::log(x), Vector::tanh(x));
            if x > 0.0 {
                assert!(ulps(log, f64::from(x).ln()) < 1.0, "log {x:e}: {log:e}");
            } else if x < 0.0 {
                assert!(log.is_nan());
            }
            assert!(
                ulps(tanh, f64::from(x).tanh()) < 1.0,
                "tanh {x:e}: {tanh:e}"
            );
        }
        for i in -1000..1000_i16 {
            let x = 1.0 + f32::from(i) * f32::EPSILON;
            assert!(ulps(Vector::log(x), f64::from(x).ln()) < 1.0, "log {x:e}");
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(Vector::log(0.0_f32), f32::NEG_INFINITY);
        assert_eq!(Vector::log(-0.0_f32), f32::NEG_INFINITY);
        assert_eq!(Vector::log(f32::INFINITY), f32::INFINITY);
        assert_eq!(Vector::log(1.0_f32).to_bits(), 0);
        assert!(Vector::log(f32::NAN).is_nan() && Vector::log(f32::NEG_INFINITY).is_nan());
        assert_eq!(Vector::tanh(f32::INFINITY), 1.0);
        assert_eq!(Vector::tanh(f32::NEG_INFINITY), -1.0);
        assert!(Vector::tanh(f32::NAN).is_nan());
        assert!(Vector::tanh(-0.0_f32).is_sign_negative());
        assert_eq!(Vector::exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(Vector::exp(f32::NEG_INFINITY), 0.0);
    }
}

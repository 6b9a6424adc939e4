//! [`Real`] for `f32` and `f64`; both compute in `f64`.

use super::{Real, activation, erf, gamma};
use crate::cpu::numeric::double;
use crate::cpu::simd::FMA;

/// Returns the inverse hyperbolic cosine; libm's confuses large negative numbers with positive
/// ones.
pub(super) fn acosh(x: f64) -> f64 {
    if x < 1.0 { f64::NAN } else { libm::acosh(x) }
}

macro_rules! real {
    ($($t:ty),*) => {$(
        impl Real for $t {
            #[inline(always)]
            fn atan2(self, x: Self) -> Self {
                self.atan2(x)
            }
            #[inline(always)]
            fn hypot(self, other: Self) -> Self {
                self.hypot(other)
            }
            #[inline(always)]
            fn erf(self) -> Self {
                libm::erf(self.into()) as Self
            }
            #[inline(always)]
            fn erfc(self) -> Self {
                libm::erfc(self.into()) as Self
            }
            #[inline(always)]
            fn erfinv(self) -> Self {
                erf::erfinv(self.into()) as Self
            }
            #[inline(always)]
            fn lgamma(self) -> Self {
                double::lgamma::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn digamma(self) -> Self {
                double::digamma::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn frac(self) -> Self {
                self - self.trunc()
            }
            #[inline(always)]
            fn deg2rad(self) -> Self {
                const FACTOR: f64 = std::f64::consts::PI / 180.0;
                (f64::from(self) * FACTOR) as Self
            }
            #[inline(always)]
            fn rad2deg(self) -> Self {
                const FACTOR: f64 = 180.0 / std::f64::consts::PI;
                (f64::from(self) * FACTOR) as Self
            }
            #[inline(always)]
            fn xlogy(self, other: Self) -> Self {
                if other.is_nan() {
                    return other;
                }
                if self == 0.0 { 0.0 } else { self * other.ln() }
            }
            #[inline(always)]
            fn xlog1py(self, other: Self) -> Self {
                if other.is_nan() {
                    return other;
                }
                if self == 0.0 { 0.0 } else { self * other.ln_1p() }
            }
            #[inline(always)]
            fn logaddexp2(self, other: Self) -> Self {
                activation::logaddexp2(self.into(), other.into()) as Self
            }
            #[inline(always)]
            fn logit(self) -> Self {
                activation::logit(self.into()) as Self
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                self.copysign(sign)
            }
            #[inline(always)]
            fn nextafter(self, other: Self) -> Self {
                if self.is_nan() || other.is_nan() {
                    return self + other;
                }
                if self == other {
                    return other;
                }
                if self == 0.0 {
                    return <$t>::from_bits(1).copysign(other);
                }
                // The bits increase with the magnitude.
                let away = (self < other) == (self > 0.0);
                let bits = self.to_bits();
                <$t>::from_bits(if away { bits + 1 } else { bits - 1 })
            }
            #[inline(always)]
            fn round_decimals(self, decimals: Self) -> Self {
                let ten = (10.0 as $t).powi(decimals.abs() as i32);
                if decimals < 0.0 {
                    (self / ten).round_ties_even() * ten
                } else {
                    (self * ten).round_ties_even() / ten
                }
            }
            #[inline(always)]
            fn gelu(self) -> Self {
                erf::gelu(self.into()) as Self
            }
            #[inline(always)]
            fn gelu_tanh(self) -> Self {
                activation::gelu_tanh(self.into()) as Self
            }
            #[inline(always)]
            fn softplus(self, beta: Self, threshold: Self) -> Self {
                activation::softplus(self.into(), beta.into(), threshold.into()) as Self
            }
            #[inline(always)]
            fn logsigmoid(self) -> Self {
                activation::logsigmoid(self.into()) as Self
            }
            #[inline(always)]
            fn mish(self) -> Self {
                activation::mish(self.into()) as Self
            }
            #[inline(always)]
            fn elu(self, alpha: Self) -> Self {
                if self <= 0.0 { alpha * self.exp_m1() } else { self }
            }
            #[inline(always)]
            fn selu(self) -> Self {
                const ALPHA: f64 = 1.673_263_242_354_377_2;
                const SCALE: f64 = 1.050_700_987_355_480_5;
                let x = f64::from(self);
                (SCALE * if x <= 0.0 { ALPHA * x.exp_m1() } else { x }) as Self
            }
            #[inline(always)]
            fn leaky_relu(self, slope: Self) -> Self {
                if self > 0.0 { self } else { self * slope }
            }
            #[inline(always)]
            fn softsign(self) -> Self {
                let value = self / (1.0 + self.abs());
                if self.abs() > <$t>::MAX { (1.0 as $t).copysign(self) } else { value }
            }
            #[inline(always)]
            fn hardsigmoid(self) -> Self {
                if self.is_nan() { self } else { (self + 3.0).clamp(0.0, 6.0) / 6.0 }
            }
            #[inline(always)]
            fn hardswish(self) -> Self {
                // Avoids products with infinite and large numbers.
                let near = if self > 3.0 { 3.0 } else { self };
                let value = near * ((near + 3.0).clamp(0.0, 6.0)) / 6.0;
                let value = if self <= -3.0 { -0.0 } else { value };
                if self > 3.0 { self } else { value }
            }
            #[inline(always)]
            fn erfcx(self) -> Self {
                erf::erfcx(self.into()) as Self
            }
            #[inline(always)]
            fn ndtr(self) -> Self {
                erf::ndtr(self.into()) as Self
            }
            #[inline(always)]
            fn ndtri(self) -> Self {
                erf::ndtri(self.into()) as Self
            }
            #[inline(always)]
            fn log_ndtr(self) -> Self {
                erf::log_ndtr(self.into()) as Self
            }
            #[inline(always)]
            fn entr(self) -> Self {
                let x = f64::from(self);
                let value = match () {
                    () if x > 0.0 || x.is_nan() => -x * x.ln(),
                    () if x == 0.0 => 0.0,
                    () => f64::NEG_INFINITY,
                };
                value as Self
            }
            #[inline(always)]
            fn i0(self) -> Self {
                double::i0::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn i0e(self) -> Self {
                double::i0e::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn i1(self) -> Self {
                double::i1::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn i1e(self) -> Self {
                double::i1e::<FMA>(self.into()) as Self
            }
            #[inline(always)]
            fn zeta(self, x: Self) -> Self {
                gamma::zeta(self.into(), x.into()) as Self
            }
            #[inline(always)]
            fn polygamma(self, n: Self) -> Self {
                gamma::polygamma(n.into(), self.into()) as Self
            }
        }
    )*};
}

real!(f32, f64);

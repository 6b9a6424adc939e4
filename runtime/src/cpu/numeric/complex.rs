//! Arithmetic of complex numbers.

use num_complex::Complex;

use super::{Inexact, Number, Signed, double, single};
use crate::cpu::simd::FMA;

/// The treatment of infinities by annex G of the C standard, for powers.
trait Endless {
    /// Returns the product; an infinite factor gives an infinite product even if NaN is involved.
    fn times_endless(self, other: Self) -> Self;
    /// Returns *e*^`self`. If the real part is infinite, the imaginary part only determines the
    /// direction.
    fn exp_to_limits(self) -> Self;
}

macro_rules! complex {
    ($($t:ty: $module:ident),*) => {$(
        impl Number for Complex<$t> {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn truth(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }

        impl Signed for Complex<$t> {
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> $t {
                $module::hypot::<FMA>(self.re, self.im)
            }
            /// Computes a power by the logarithm, like C's `cpow`, except that anything to the power
            /// of zero is one.
            #[inline(always)]
            fn pow(self, exponent: Self) -> Self {
                if !exponent.truth() {
                    return Self::new(1.0, 0.0);
                }
                Self::exp_to_limits(Self::times_endless(exponent, Inexact::log(self)))
            }
        }

        impl Endless for Complex<$t> {
            #[inline(always)]
            fn times_endless(self, other: Self) -> Self {
                let product = self * other;
                let endless = |z: Self| z.re.is_infinite() || z.im.is_infinite();
                let lost = product.re.is_nan() && product.im.is_nan();
                if !lost || !(endless(self) || endless(other)) {
                    return product;
                }
                let direction = |z: Self| {
                    let part = |x: $t| match (endless(z), x.is_infinite()) {
                        (true, true) => <$t>::copysign(1.0, x),
                        (false, _) if !x.is_nan() => x,
                        _ => <$t>::copysign(0.0, x),
                    };
                    Self::new(part(z.re), part(z.im))
                };
                let product = direction(self) * direction(other);
                Self::new(<$t>::INFINITY * product.re, <$t>::INFINITY * product.im)
            }
            #[inline(always)]
            fn exp_to_limits(self) -> Self {
                if !self.re.is_infinite() || self.im == 0.0 {
                    return Inexact::exp(self);
                }
                let magnitude = self.re.exp();
                if self.im.is_finite() {
                    let (sin, cos) = self.im.sin_cos();
                    return Self::new(magnitude.copysign(cos), magnitude.copysign(sin));
                }
                let im = if magnitude == 0.0 { 0.0 } else { <$t>::NAN };
                Self::new(magnitude, im)
            }
        }

        impl Inexact for Complex<$t> {
            /// Divides, scaled by the greater part of the divisor, so that its square cannot
            /// overflow.
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                if other.re.abs() >= other.im.abs() {
                    if !other.truth() {
                        return Self::new(self.re / other.re, self.im / other.re);
                    }
                    let ratio = other.im / other.re;
                    let scale = 1.0 / (other.re + other.im * ratio);
                    Self::new(
                        (self.re + self.im * ratio) * scale,
                        (self.im - self.re * ratio) * scale,
                    )
                } else {
                    let ratio = other.re / other.im;
                    let scale = 1.0 / (other.re * ratio + other.im);
                    Self::new(
                        (self.re * ratio + self.im) * scale,
                        (self.im * ratio - self.re) * scale,
                    )
                }
            }
            /// Computes *e*^`self`. A real argument gives a real result, even if the magnitude is
            /// infinite.
            #[inline(always)]
            fn exp(self) -> Self {
                let magnitude = self.re.exp();
                if self.im == 0.0 {
                    return Self::new(magnitude, self.im);
                }
                let (sin, cos) = self.im.sin_cos();
                Self::new(magnitude * cos, magnitude * sin)
            }
            #[inline(always)]
            fn log(self) -> Self {
                let log = super::special::complex::log(Complex::new(self.re.into(), self.im.into()));
                Self::new(log.re as $t, log.im as $t)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                let root = super::special::complex::sqrt(Complex::new(self.re.into(), self.im.into()));
                Self::new(root.re as $t, root.im as $t)
            }
            /// Computes tanh from tanh and tan of the parts, which stay finite where cosh would
            /// overflow.
            #[inline(always)]
            fn tanh(self) -> Self {
                let (t, u) = (self.re.tanh(), self.im.tan());
                if self.re.abs() > 20.0 {
                    // Here tanh of the real part is 1 up to rounding.
                    let sech = 2.0 * (-self.re.abs()).exp();
                    return Self::new(t, sech * sech * self.im.sin() * self.im.cos());
                }
                let (tu, scale) = (t * u, 1.0 + t * t * u * u);
                Self::new(t * (1.0 + u * u) / scale, (u - t * tu) / scale)
            }
            #[inline(always)]
            fn sigmoid(self) -> Self {
                Inexact::div(Self::new(1.0, 0.0), Self::new(1.0, 0.0) + Inexact::exp(-self))
            }
        }
    )*};
}

complex!(f32: single, f64: double);

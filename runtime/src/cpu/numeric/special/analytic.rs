//! [`Analytic`] for real floats.

use super::Analytic;

macro_rules! analytic {
    ($($t:ty),*) => {$(
        impl Analytic for $t {
            #[inline(always)]
            fn sin(self) -> Self {
                self.sin()
            }
            #[inline(always)]
            fn cos(self) -> Self {
                self.cos()
            }
            #[inline(always)]
            fn tan(self) -> Self {
                self.tan()
            }
            #[inline(always)]
            fn asin(self) -> Self {
                self.asin()
            }
            #[inline(always)]
            fn acos(self) -> Self {
                self.acos()
            }
            #[inline(always)]
            fn atan(self) -> Self {
                self.atan()
            }
            #[inline(always)]
            fn sinh(self) -> Self {
                self.sinh()
            }
            #[inline(always)]
            fn cosh(self) -> Self {
                self.cosh()
            }
            #[inline(always)]
            fn asinh(self) -> Self {
                libm::asinh(self.into()) as Self
            }
            #[inline(always)]
            fn acosh(self) -> Self {
                super::real::acosh(self.into()) as Self
            }
            #[inline(always)]
            fn atanh(self) -> Self {
                libm::atanh(self.into()) as Self
            }
            #[inline(always)]
            fn expm1(self) -> Self {
                self.exp_m1()
            }
            #[inline(always)]
            fn exp2(self) -> Self {
                self.exp2()
            }
            #[inline(always)]
            fn log1p(self) -> Self {
                self.ln_1p()
            }
            #[inline(always)]
            fn log2(self) -> Self {
                self.log2()
            }
            #[inline(always)]
            fn log10(self) -> Self {
                self.log10()
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                1.0 / self
            }
            #[inline(always)]
            fn rsqrt(self) -> Self {
                1.0 / self.sqrt()
            }
            // Computed in the wider type, where the exponential overflows only if the result is zero.
            #[inline(always)]
            fn silu(self) -> Self {
                super::activation::silu(self.into()) as Self
            }
            #[inline(always)]
            fn sinc(self) -> Self {
                super::activation::sinc(self.into()) as Self
            }
            #[inline(always)]
            fn logaddexp(self, other: Self) -> Self {
                if self == other && self.is_infinite() {
                    return self;
                }
                let (a, b) = (f64::from(self), f64::from(other));
                let greater = if a < b { b } else { a };
                (greater + (-(a - b).abs()).exp().ln_1p()) as Self
            }
            // From the nearer end, so that both ends are reached exactly.
            #[inline(always)]
            fn lerp(self, end: Self, weight: Self) -> Self {
                let span = end - self;
                let near = if weight.abs() < 0.5 { self + weight * span } else { end - span * (1.0 - weight) };
                // An end is infinite, or the difference overflows. An infinite end of weight zero is
                // left out.
                let part = |end: Self, weight: Self| {
                    if (weight == 0.0) & (end.abs() > <$t>::MAX) { 0.0 } else { weight * end }
                };
                let far = part(self, 1.0 - weight) + part(end, weight);
                if span.abs() <= <$t>::MAX { near } else { far }
            }
        }
    )*};
}

analytic!(f32, f64);

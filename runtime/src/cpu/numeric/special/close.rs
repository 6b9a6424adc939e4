//! Approximate equality of two numbers.

use num_complex::Complex;

/// A number type with approximate equality.
pub(crate) trait Close: Copy + PartialEq {
    /// Returns whether the numbers are equal, or differ by at most `atol` plus `rtol` times the
    /// magnitude of `other`.
    fn close(self, other: Self, rtol: Self, atol: Self) -> bool;
    /// Returns whether the number, or a part of it, is NaN.
    fn nan(self) -> bool;
}

macro_rules! close {
    ($($t:ty),*) => {$(
        impl Close for $t {
            #[inline(always)]
            fn close(self, other: Self, rtol: Self, atol: Self) -> bool {
                let (apart, allowed) = ((self - other).abs(), atol + (rtol * other).abs());
                // An infinite or NaN difference is never close.
                (self == other) | ((apart <= allowed) & (apart < <$t>::INFINITY))
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
        }

        impl Close for Complex<$t> {
            #[inline(always)]
            fn close(self, other: Self, rtol: Self, atol: Self) -> bool {
                let magnitude = |x: Self| x.re.hypot(x.im);
                let (apart, far) = (magnitude(self - other), magnitude(other) * rtol.re.abs());
                (self == other) | ((apart <= atol.re + far) & (apart < <$t>::INFINITY))
            }
            #[inline(always)]
            fn nan(self) -> bool {
                self.re.is_nan() | self.im.is_nan()
            }
        }
    )*};
}

close!(f32, f64);

/// Returns whether two numbers are close; NaN never is.
#[inline(always)]
pub(crate) fn isclose<T: Close>(x: T, y: T, rtol: T, atol: T) -> bool {
    x.close(y, rtol, atol)
}

/// Like [`isclose`], but NaN is close to NaN.
#[inline(always)]
pub(crate) fn isclose_nan<T: Close>(x: T, y: T, rtol: T, atol: T) -> bool {
    x.close(y, rtol, atol) | (x.nan() & y.nan())
}

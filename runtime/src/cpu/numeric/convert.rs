//! Conversion between any two dtypes.
//!
//! Floats are truncated to integers, saturate if they are out of range, and give zero for NaN, like Rust's `as`;
//! PyTorch's casts depend on the processor there. Integers keep their low bits. Every number except zero converts to
//! true; complex numbers lose their imaginary part.

use half::{bf16, f16};
use num_complex::Complex;

use super::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// Conversion to another dtype.
pub(crate) trait Convert<To>: Copy {
    /// Returns the converted number.
    fn convert(self) -> To;
}

/// Implements one conversion per pair: the value of an expression in `x`.
macro_rules! convert {
    ($x:ident: $($from:ty => $($to:ty)|* = $value:expr;)*) => {$($(
        impl Convert<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                let $x = self;
                $value as $to
            }
        }
    )*)*};
}

convert! { x:
    u8 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    i8 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    i16 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    i32 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    i64 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    f32 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    f64 => u8 | i8 | i16 | i32 | i64 | f32 | f64 = x;
    bool => u8 | i8 | i16 | i32 | i64 | f32 | f64 = u8::from(x);
}

macro_rules! to_bool {
    ($($from:ty)*) => {$(
        impl Convert<bool> for $from {
            #[inline(always)]
            fn convert(self) -> bool {
                self != (0 as $from)
            }
        }
    )*};
}
to_bool!(u8 i8 i16 i32 i64 f32 f64);

impl Convert<bool> for bool {
    #[inline(always)]
    fn convert(self) -> bool {
        self
    }
}

/// Implements conversions of 16-bit floats by way of `f32`, in both directions.
macro_rules! half {
    ($($half:ty, $widen:ident, $narrow:ident: $($other:ty)*;)*) => {$(
        impl Convert<$half> for $half {
            #[inline(always)]
            fn convert(self) -> $half {
                self
            }
        }
        $(
            impl Convert<$other> for $half {
                #[inline(always)]
                fn convert(self) -> $other {
                    $widen(self).convert()
                }
            }
            impl Convert<$half> for $other {
                #[inline(always)]
                fn convert(self) -> $half {
                    let x: f32 = self.convert();
                    $narrow(x)
                }
            }
        )*
    )*};
}
half! {
    f16, f16_to_f32, f32_to_f16:
        bool u8 i8 i16 i32 i64 f32 f64 Complex<f32> Complex<f64>;
    bf16, bf16_to_f32, f32_to_bf16:
        bool u8 i8 i16 i32 i64 f32 f64 Complex<f32> Complex<f64>;
}

impl Convert<bf16> for f16 {
    #[inline(always)]
    fn convert(self) -> bf16 {
        f32_to_bf16(f16_to_f32(self))
    }
}

impl Convert<f16> for bf16 {
    #[inline(always)]
    fn convert(self) -> f16 {
        f32_to_f16(bf16_to_f32(self))
    }
}

/// Implements conversions of complex numbers; a real number becomes the real part.
macro_rules! complex {
    ($($part:ty: $($real:ty)*;)*) => {$(
        $(
            impl Convert<Complex<$part>> for $real {
                #[inline(always)]
                fn convert(self) -> Complex<$part> {
                    Complex::new(self.convert(), 0.0)
                }
            }
            impl Convert<$real> for Complex<$part> {
                #[inline(always)]
                fn convert(self) -> $real {
                    self.re.convert()
                }
            }
        )*
        impl Convert<bool> for Complex<$part> {
            #[inline(always)]
            fn convert(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }
        impl Convert<Complex<$part>> for bool {
            #[inline(always)]
            fn convert(self) -> Complex<$part> {
                Complex::new(self.convert(), 0.0)
            }
        }
        impl Convert<Complex<f32>> for Complex<$part> {
            #[inline(always)]
            fn convert(self) -> Complex<f32> {
                Complex::new(self.re.convert(), self.im.convert())
            }
        }
        impl Convert<Complex<f64>> for Complex<$part> {
            #[inline(always)]
            fn convert(self) -> Complex<f64> {
                Complex::new(self.re.convert(), self.im.convert())
            }
        }
    )*};
}
complex! {
    f32: u8 i8 i16 i32 i64 f32 f64;
    f64: u8 i8 i16 i32 i64 f32 f64;
}

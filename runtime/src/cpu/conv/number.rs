//! Number types of convolutions and pools.

use half::{bf16, f16};
use nomina_core::DType;
use num_complex::Complex;

use crate::cpu::numeric::half::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// Addition and multiplication; integers wrap.
pub(super) trait ConvNumber: Copy + Send + Sync + 'static {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! wrapping {
    ($($t:ty)*) => {$(
        impl ConvNumber for $t {
            const ZERO: $t = 0;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
        }
    )*};
}
// Unsigned integers of 16 to 128 bits represent the bits of any dtype of that size.
wrapping!(u8 i8 i16 i32 i64 u16 u32 u64 u128);

macro_rules! plain {
    ($($t:ty: $zero:expr;)*) => {$(
        impl ConvNumber for $t {
            const ZERO: $t = $zero;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self + other
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self * other
            }
        }
    )*};
}
plain! {
    f32: 0.0;
    f64: 0.0;
    Complex<f32>: Complex { re: 0.0, im: 0.0 };
    Complex<f64>: Complex { re: 0.0, im: 0.0 };
}

/// An element type that is computed in `A`.
pub(super) trait Widen<A>: Copy + Send + Sync + 'static {
    fn up(self) -> A;
    fn down(value: A) -> Self;
}

macro_rules! widen {
    ($($from:ty => $to:ty: $up:expr, $down:expr;)*) => {$(
        impl Widen<$to> for $from {
            #[inline(always)]
            fn up(self) -> $to {
                let up: fn($from) -> $to = $up;
                up(self)
            }
            #[inline(always)]
            fn down(value: $to) -> $from {
                let down: fn($to) -> $from = $down;
                down(value)
            }
        }
    )*};
}

macro_rules! itself {
    ($($t:ty)*) => { widen! { $($t => $t: |x| x, |x| x;)* } };
}
itself!(u8 i8 i16 i32 i64 u16 u32 u64 u128 f32 f64 Complex<f32> Complex<f64>);

widen! {
    f16 => f32: f16_to_f32, f32_to_f16;
    bf16 => f32: bf16_to_f32, f32_to_bf16;
    f16 => f64: |x| f64::from(f16_to_f32(x)), |x| f32_to_f16(x as f32);
    bf16 => f64: |x| f64::from(bf16_to_f32(x)), |x| f32_to_bf16(x as f32);
    f32 => f64: f64::from, |x| x as f32;
    u8 => i64: i64::from, |x| x as u8;
    i8 => i64: i64::from, |x| x as i8;
    i16 => i64: i64::from, |x| x as i16;
    i32 => i64: i64::from, |x| x as i32;
}

/// Returns whether elements need no conversion for the computation.
pub(super) fn native<S, A>() -> bool {
    size_of::<S>() == size_of::<A>()
}

/// Returns the dtype of the computation.
pub(super) fn compute(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

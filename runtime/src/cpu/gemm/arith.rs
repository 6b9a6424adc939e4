//! Addition and multiplication for matrix products.

use nomina_core::Element;
use num_complex::Complex;

use crate::job::{Matrix, Product};

/// An element type that this module multiplies directly. Integers wrap; for bool the product is
/// *and* and the sum is *or*.
pub(super) trait Arith: Element {
    const ZERO: Self;
    const ONE: Self;
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
}

macro_rules! arith {
    ($($t:ty: $zero:expr, $one:expr, $plus:expr, $times:expr;)*) => {$(
        impl Arith for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                let plus: fn($t, $t) -> $t = $plus;
                plus(self, other)
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                let times: fn($t, $t) -> $t = $times;
                times(self, other)
            }
        }
    )*};
}

arith! {
    bool: false, true, |a, b| a | b, |a, b| a & b;
    u8: 0, 1, u8::wrapping_add, u8::wrapping_mul;
    i8: 0, 1, i8::wrapping_add, i8::wrapping_mul;
    i16: 0, 1, i16::wrapping_add, i16::wrapping_mul;
    i32: 0, 1, i32::wrapping_add, i32::wrapping_mul;
    i64: 0, 1, i64::wrapping_add, i64::wrapping_mul;
    f32: 0.0, 1.0, |a, b| a + b, |a, b| a * b;
    f64: 0.0, 1.0, |a, b| a + b, |a, b| a * b;
    Complex<f32>: Complex { re: 0.0, im: 0.0 }, Complex { re: 1.0, im: 0.0 }, |a, b| a + b, |a, b| a * b;
    Complex<f64>: Complex { re: 0.0, im: 0.0 }, Complex { re: 1.0, im: 0.0 }, |a, b| a + b, |a, b| a * b;
}

/// The final update of `c`: `alpha sum + beta d`. Without `beta`, `d` is not read.
#[derive(Clone, Copy)]
pub(super) struct ScaledUpdate<T> {
    alpha: Option<T>,
    beta: Option<T>,
    addend: Matrix,
    c: Matrix,
}

impl<T: Arith> ScaledUpdate<T> {
    pub(super) fn new(p: &Product) -> Self {
        let alpha = T::from_scalar(p.alpha);
        Self {
            alpha: (alpha != T::ONE).then_some(alpha),
            beta: p.beta.map(T::from_scalar),
            addend: p.addend.unwrap_or(p.c),
            c: p.c,
        }
    }

    /// Writes one element of `c`.
    ///
    /// # Safety
    /// The element of `c` is writable; that of `d` is readable if there is a `beta`.
    #[inline(always)]
    pub(super) unsafe fn write(self, row: usize, col: usize, sum: T) {
        let mut value = self.alpha.map_or(sum, |alpha| alpha.times(sum));
        if let Some(beta) = self.beta {
            // SAFETY: guaranteed by the caller.
            value = value.plus(beta.times(unsafe { self.addend.at::<T>(row, col).read() }));
        }
        // SAFETY: guaranteed by the caller.
        unsafe { self.c.at::<T>(row, col).write(value) };
    }
}

//! The step of each scan.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use nomina_core::Element;
use num_complex::Complex;

use super::prefix;

/// One step of a scan.
pub(super) trait Running: Sync {
    /// The type of elements and results.
    type T: Element;
    /// The accumulator.
    type Acc: Copy + Send + Sync;
    /// The accumulator before the first element.
    const START: Self::Acc;
    /// Returns the accumulator after one more element.
    fn step(acc: Self::Acc, x: Self::T) -> Self::Acc;
    /// Returns the accumulator after all elements of a chunk with total `later`.
    fn join(acc: Self::Acc, later: Self::Acc) -> Self::Acc;
    /// Returns the result at this position.
    fn result(acc: Self::Acc) -> Self::T;
    /// Writes the results of a line and returns the accumulator. `xs` and `out` have the same length.
    #[inline(always)]
    fn line(acc: Self::Acc, xs: &[Self::T], out: &mut [MaybeUninit<Self::T>]) -> Self::Acc {
        xs.iter().zip(out).fold(acc, |acc, (&x, out)| {
            let acc = Self::step(acc, x);
            out.write(Self::result(acc));
            acc
        })
    }
    /// Writes the results of contiguous lines of `length` elements. Returns false, without having written anything,
    /// if there is no loop for this length; such lines are transposed instead.
    #[inline(always)]
    fn lines(_length: usize, _xs: &[Self::T], _out: &mut [MaybeUninit<Self::T>]) -> bool {
        false
    }
}

/// The cumulative sum.
pub(super) struct Cumsum<T>(PhantomData<T>);

/// The cumulative product.
pub(super) struct Cumprod<T>(PhantomData<T>);

macro_rules! running {
    ($name:ident: $($t:ty, $acc:ty, $start:expr, $plus:expr, $widen:expr, $narrow:expr;)*) => {$(
        impl Running for $name<$t> {
            type T = $t;
            type Acc = $acc;
            const START: $acc = $start;
            #[inline(always)]
            fn step(acc: $acc, x: $t) -> $acc {
                let widen: fn($t) -> $acc = $widen;
                let plus: fn($acc, $acc) -> $acc = $plus;
                plus(acc, widen(x))
            }
            #[inline(always)]
            fn join(acc: $acc, later: $acc) -> $acc {
                let plus: fn($acc, $acc) -> $acc = $plus;
                plus(acc, later)
            }
            #[inline(always)]
            fn result(acc: $acc) -> $t {
                let narrow: fn($acc) -> $t = $narrow;
                narrow(acc)
            }
        }
    )*};
}

impl Running for Cumsum<f32> {
    type T = f32;
    type Acc = f64;
    const START: f64 = 0.0;
    #[inline(always)]
    fn step(acc: f64, x: f32) -> f64 {
        acc + f64::from(x)
    }
    #[inline(always)]
    fn join(acc: f64, later: f64) -> f64 {
        acc + later
    }
    #[inline(always)]
    fn result(acc: f64) -> f32 {
        acc as f32
    }
    #[inline(always)]
    fn line(acc: f64, xs: &[f32], out: &mut [MaybeUninit<f32>]) -> f64 {
        prefix::sums(acc, xs, out)
    }
    #[inline(always)]
    fn lines(length: usize, xs: &[f32], out: &mut [MaybeUninit<f32>]) -> bool {
        prefix::lines(length, xs, out)
    }
}

running! { Cumsum:
    f64, f64, 0.0, |a, b| a + b, |x| x, |x| x;
    Complex<f32>, Complex<f64>, Complex::new(0.0, 0.0), |a, b| a + b,
        |z| Complex::new(f64::from(z.re), f64::from(z.im)),
        |z| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>, Complex<f64>, Complex::new(0.0, 0.0), |a, b| a + b, |z| z, |z| z;
    i64, i64, 0, i64::wrapping_add, |x| x, |x| x;
}

running! { Cumprod:
    f32, f64, 1.0, |a, b| a * b, f64::from, |x| x as f32;
    f64, f64, 1.0, |a, b| a * b, |x| x, |x| x;
    Complex<f32>, Complex<f64>, Complex::new(1.0, 0.0), |a, b| a * b,
        |z| Complex::new(f64::from(z.re), f64::from(z.im)),
        |z| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>, Complex<f64>, Complex::new(1.0, 0.0), |a, b| a * b, |z| z, |z| z;
    i64, i64, 1, i64::wrapping_mul, |x| x, |x| x;
}

//! The cumulative log-sum-exp.

use std::marker::PhantomData;

use num_complex::Complex;

use super::running::Running;

/// The cumulative log-sum-exp.
pub(super) struct Logcumsumexp<T>(PhantomData<T>);

/// The maximum so far, and the sum of exponentials of the differences from it.
#[derive(Clone, Copy)]
pub(super) struct RunningExpSum {
    max: f64,
    sum: f64,
}

/// Returns the factor that moves a sum from one origin to another. It is 1 for equal origins, whose
/// difference would be NaN if they are infinite.
#[inline(always)]
fn factor(from: f64, to: f64) -> f64 {
    if from == to { 1.0 } else { (from - to).exp() }
}

macro_rules! logcumsumexp {
    ($($t:ty, $wide:expr, $narrow:expr;)*) => {$(
        impl Running for Logcumsumexp<$t> {
            type T = $t;
            type Acc = RunningExpSum;
            const START: RunningExpSum = RunningExpSum { max: f64::NEG_INFINITY, sum: 0.0 };
            #[inline(always)]
            fn step(acc: RunningExpSum, x: $t) -> RunningExpSum {
                let wide: fn($t) -> f64 = $wide;
                let x = wide(x);
                if x > acc.max {
                    return RunningExpSum { max: x, sum: acc.sum * factor(acc.max, x) + 1.0 };
                }
                RunningExpSum { max: acc.max, sum: acc.sum + exp(x, acc.max) }
            }
            #[inline(always)]
            fn join(acc: RunningExpSum, later: RunningExpSum) -> RunningExpSum {
                let (low, high) = if later.max > acc.max { (acc, later) } else { (later, acc) };
                RunningExpSum { max: high.max, sum: high.sum + low.sum * factor(low.max, high.max) }
            }
            #[inline(always)]
            fn result(acc: RunningExpSum) -> $t {
                let narrow: fn(f64) -> $t = $narrow;
                narrow(value(acc))
            }
        }
    )*};
}

/// Returns `exp(x - origin)`; 1 if an infinite `x` equals the origin, and 0 for minus infinity.
#[inline(always)]
fn exp(x: f64, origin: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        0.0
    } else {
        factor(x, origin)
    }
}

/// Returns the logarithm; that of the empty sum is minus infinity.
#[inline(always)]
fn value(acc: RunningExpSum) -> f64 {
    acc.max + acc.sum.ln()
}

logcumsumexp! {
    f32, f64::from, |x| x as f32;
    f64, |x| x, |x| x;
}

/// Returns the logarithm of the sum of two exponentials. Its imaginary part is not reduced modulo
/// 2π, so that a cumulative result does not jump.
#[inline(always)]
fn add(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let (low, high) = if b.re > a.re || b.re.is_nan() {
        (a, b)
    } else {
        (b, a)
    };
    if low.re == f64::NEG_INFINITY {
        return high;
    }
    if low.re == f64::INFINITY {
        return (low.exp() + high.exp()).ln();
    }
    ((low - high).exp() + 1.0).ln() + high
}

macro_rules! complex {
    ($($t:ty, $wide:expr, $narrow:expr;)*) => {$(
        impl Running for Logcumsumexp<$t> {
            type T = $t;
            type Acc = Complex<f64>;
            const START: Complex<f64> = Complex { re: f64::NEG_INFINITY, im: 0.0 };
            #[inline(always)]
            fn step(acc: Complex<f64>, x: $t) -> Complex<f64> {
                let wide: fn($t) -> Complex<f64> = $wide;
                add(acc, wide(x))
            }
            #[inline(always)]
            fn join(acc: Complex<f64>, later: Complex<f64>) -> Complex<f64> {
                add(acc, later)
            }
            #[inline(always)]
            fn result(acc: Complex<f64>) -> $t {
                let narrow: fn(Complex<f64>) -> $t = $narrow;
                narrow(acc)
            }
        }
    )*};
}

complex! {
    Complex<f32>, |z| Complex::new(f64::from(z.re), f64::from(z.im)),
        |z| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>, |z| z, |z| z;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(xs: &[f64]) -> Vec<f64> {
        let mut acc = Logcumsumexp::<f64>::START;
        let step = |&x: &f64| {
            acc = Logcumsumexp::<f64>::step(acc, x);
            Logcumsumexp::<f64>::result(acc)
        };
        xs.iter().map(step).collect()
    }

    #[test]
    fn infinities_and_nan() {
        let (inf, low) = (f64::INFINITY, f64::NEG_INFINITY);
        assert_eq!(running(&[low, low, 0.0]), [low, low, 0.0]);
        assert_eq!(running(&[0.0, inf, inf, 1.0]), [0.0, inf, inf, inf]);
        let nan = running(&[0.0, f64::NAN, 1.0]);
        assert!(nan[0] == 0.0 && nan[1].is_nan() && nan[2].is_nan());
        assert_eq!(running(&[1000.0, 1000.0])[1], 1000.0 + 2_f64.ln());
    }

    #[test]
    fn chunks_join() {
        let part = |xs: &[f64]| {
            let step = |acc, &x: &f64| Logcumsumexp::<f64>::step(acc, x);
            xs.iter().fold(Logcumsumexp::<f64>::START, step)
        };
        let xs = [0.5, -3.0, 700.0, f64::NEG_INFINITY, 2.0, 701.0];
        for at in 0..xs.len() {
            let joined = Logcumsumexp::<f64>::join(part(&xs[..at]), part(&xs[at..]));
            let (got, want) = (value(joined), value(part(&xs)));
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
    }
}

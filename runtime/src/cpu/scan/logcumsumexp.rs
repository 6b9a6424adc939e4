//! The logarithm of a running sum of exponentials.

use std::marker::PhantomData;

use num_complex::Complex;

use super::Running;

/// The running logarithm of a sum of exponentials.
pub(super) struct Logcumsumexp<T>(PhantomData<T>);

/// The greatest real part so far, and the sum of exponentials of the distances from it.
#[derive(Clone, Copy)]
pub(super) struct State<S> {
    max: f64,
    sum: S,
}

/// Moves a sum from one origin to another. Of no elements there is no sum to move, and from an
/// infinite origin to itself there is no distance.
#[inline(always)]
fn factor(from: f64, to: f64) -> f64 {
    if from == to { 1.0 } else { (from - to).exp() }
}

macro_rules! logcumsumexp {
    ($($t:ty, $sum:ty, $zero:expr, $wide:expr, $real:expr, $exp:expr, $value:expr;)*) => {$(
        impl Running for Logcumsumexp<$t> {
            type T = $t;
            type Acc = State<$sum>;
            const START: Self::Acc = State { max: f64::NEG_INFINITY, sum: $zero };
            #[inline(always)]
            fn step(acc: Self::Acc, x: $t) -> Self::Acc {
                let wide: fn($t) -> $sum = $wide;
                let real: fn($sum) -> f64 = $real;
                let exp: fn($sum, f64) -> $sum = $exp;
                let x = wide(x);
                let top = real(x);
                if top > acc.max {
                    return State { max: top, sum: acc.sum * factor(acc.max, top) + exp(x, top) };
                }
                State { max: acc.max, sum: acc.sum + exp(x, acc.max) }
            }
            #[inline(always)]
            fn join(acc: Self::Acc, later: Self::Acc) -> Self::Acc {
                let (low, high) = if later.max > acc.max { (acc, later) } else { (later, acc) };
                State { max: high.max, sum: high.sum + low.sum * factor(low.max, high.max) }
            }
            #[inline(always)]
            fn result(acc: Self::Acc) -> $t {
                let value: fn(Self::Acc) -> $t = $value;
                value(acc)
            }
        }
    )*};
}

/// `exp(x - origin)`; an infinity is no distance from itself, and minus infinity adds nothing.
#[inline(always)]
fn exp(x: f64, origin: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        0.0
    } else {
        factor(x, origin)
    }
}

/// The same of a complex number, whose real part the origin is taken from.
#[inline(always)]
fn complex_exp(z: Complex<f64>, origin: f64) -> Complex<f64> {
    if z.im == 0.0 {
        return Complex::new(exp(z.re, origin), 0.0);
    }
    Complex::from_polar(exp(z.re, origin), z.im)
}

/// The logarithm of nothing is minus infinity.
#[inline(always)]
fn value(acc: State<f64>) -> f64 {
    acc.max + acc.sum.ln()
}

#[inline(always)]
fn complex_value(acc: State<Complex<f64>>) -> Complex<f64> {
    acc.sum.ln() + acc.max
}

const NONE: Complex<f64> = Complex { re: 0.0, im: 0.0 };

logcumsumexp! {
    f32, f64, 0.0, f64::from, |x| x, exp, |acc| value(acc) as f32;
    f64, f64, 0.0, |x| x, |x| x, exp, value;
    Complex<f32>, Complex<f64>, NONE, |z| Complex::new(f64::from(z.re), f64::from(z.im)),
        |z| z.re, complex_exp,
        |acc| { let z = complex_value(acc); Complex::new(z.re as f32, z.im as f32) };
    Complex<f64>, Complex<f64>, NONE, |z| z, |z| z.re, complex_exp, complex_value;
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

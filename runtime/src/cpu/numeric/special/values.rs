//! Tests special values and integers against the results of PyTorch 2.11.

use num_complex::Complex;

use super::by_name::*;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// Compares bitwise; all NaNs are equal.
fn same(got: &[f64], want: &[f64]) {
    let bits = |x: &f64| {
        if x.is_nan() {
            NAN.to_bits()
        } else {
            x.to_bits()
        }
    };
    let (a, b): (Vec<_>, Vec<_>) = (
        got.iter().map(bits).collect(),
        want.iter().map(bits).collect(),
    );
    assert_eq!(a, b, "{got:?}, not {want:?}");
}

#[test]
fn rounding() {
    let x = [2.5, -2.5, 3.5, -0.2, INF, NAN];
    same(&x.map(round), &[2.0, -2.0, 4.0, -0.0, INF, NAN]);
    same(&x.map(ceil), &[3.0, -2.0, 4.0, -0.0, INF, NAN]);
    same(&x.map(floor), &[2.0, -3.0, 3.0, -1.0, INF, NAN]);
    same(&x.map(trunc), &[2.0, -2.0, 3.0, -0.0, INF, NAN]);
    same(&[-1.5, INF, -2.0].map(frac), &[-0.5, NAN, 0.0]);
    same(
        &[12.345, -2.5].map(|x| round_decimals(x, 1.0)),
        &[12.3, -2.5],
    );
    same(
        &[1250.0, 1350.0, NAN, INF].map(|x| round_decimals(x, -2.0)),
        &[1200.0, 1400.0, NAN, INF],
    );
    assert_eq!(
        [round(7_i32), ceil(-3), floor(-3), trunc(5)],
        [7, -3, -3, 5]
    );
}

#[test]
fn division_of_floats() {
    let pairs = [
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, 0.0),
        (NAN, 1.0),
        (INF, 2.0),
        (-7.0, 2.0),
        (7.0, INF),
        (-0.0, 3.0),
        (5.0, -INF),
    ];
    let want = [INF, -INF, NAN, NAN, NAN, -4.0, 0.0, -0.0, -1.0];
    same(&pairs.map(|(x, y)| floor_divide(x, y)), &want);
    let pairs = [
        (1.0, 0.0),
        (-7.0, 2.0),
        (7.0, -2.0),
        (5.0, INF),
        (-5.0, INF),
        (-0.0, 3.0),
        (4.0, -2.0),
    ];
    same(
        &pairs.map(|(x, y)| remainder(x, y)),
        &[NAN, 1.0, -1.0, 5.0, INF, -0.0, 0.0],
    );
    same(
        &pairs.map(|(x, y)| fmod(x, y)),
        &[NAN, -1.0, 1.0, 5.0, -5.0, -0.0, 0.0],
    );
    same(
        &[trunc_divide(-7.0, 2.0), trunc_divide(1.0, 0.0)],
        &[-3.0, INF],
    );
}

#[test]
fn division_of_integers() {
    let pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3)];
    assert_eq!(pairs.map(|(x, y)| floor_divide(x, y)), [3, -4, -4, 3, -2]);
    assert_eq!(pairs.map(|(x, y)| trunc_divide(x, y)), [3, -3, -3, 3, -2]);
    assert_eq!(pairs.map(|(x, y)| remainder(x, y)), [1, 1, -1, -1, 0]);
    assert_eq!(pairs.map(|(x, y)| fmod(x, y)), [1, -1, 1, -1, 0]);
    assert_eq!(floor_divide(200_u8, 7), 28);
    // The smallest number has no opposite; division by zero is rejected elsewhere.
    assert_eq!((fmod(i8::MIN, -1), floor_divide(i8::MIN, -1)), (0, i8::MIN));
    assert_eq!(
        (fmod(1_i64, 0), remainder(1_i64, 0), floor_divide(1_u8, 0)),
        (0, 0, 0)
    );
}

#[test]
fn signs() {
    same(
        &[NAN, 0.0, -0.0, -2.0, INF].map(sgn),
        &[0.0, 0.0, 0.0, -1.0, 1.0],
    );
    assert_eq!([sgn(-5_i8), sgn(0), sgn(3)], [-1, 0, 1]);
    assert!(sgn(200_u8) == 1 && sgn(true) && !sgn(false));
    assert_eq!(sgn(Complex::new(3.0_f32, -4.0)), Complex::new(0.6, -0.8));
    assert_eq!(sgn(Complex::new(0.0_f64, -0.0)), Complex::new(0.0, 0.0));
    assert!(signbit(-0.0_f32) && !signbit(0.0_f32) && signbit(-1_i32) && !signbit(255_u8));
    same(&[copysign(1.0, -0.0), copysign(-2.0, 1.0)], &[-1.0, 2.0]);
    let at_zero = [(NAN, 5.0), (-0.0, 6.0), (0.0, 7.0), (2.0, 8.0), (-2.0, 9.0)];
    same(
        &at_zero.map(|(x, y)| heaviside(x, y)),
        &[0.0, 6.0, 7.0, 1.0, 0.0],
    );
    assert!(heaviside(false, true) && heaviside(true, false) && !heaviside(false, false));
}

#[test]
fn nan_and_infinity() {
    assert!(isnan(NAN) && !isnan(INF) && !isnan(7_i32));
    assert!(isinf(-INF) && !isinf(NAN) && !isinf(7_u8));
    assert!(isfinite(1.0) && !isfinite(NAN) && !isfinite(INF) && isfinite(true));
    let (nan, inf) = (Complex::new(0.0, NAN), Complex::new(INF, 0.0));
    assert!(isnan(nan) && isinf(inf) && !isfinite(nan) && !isfinite(inf));
    same(
        &[NAN, INF, -INF, 1.0].map(|x| nan_to_num(x, 0.5, f64::MAX, f64::MIN)),
        &[0.5, f64::MAX, f64::MIN, 1.0],
    );
    assert_eq!(nan_to_num(f32::INFINITY, 0.0, 9.0, 0.0), 9.0);
    same(
        &[
            fmax(NAN, 1.0),
            fmax(1.0, NAN),
            fmin(NAN, 1.0),
            fmin(1.0, 2.0),
        ],
        &[1.0; 4],
    );
    assert!(fmax(NAN, NAN).is_nan() && fmax(3_i16, -4) == 3);
}

#[test]
fn limits() {
    same(
        &[-1.0, 0.0, -0.0, INF, -INF, NAN].map(digamma),
        &[NAN, -INF, INF, INF, NAN, NAN],
    );
    same(
        &[-1.0, 0.0, -0.0, INF, -INF, NAN].map(lgamma),
        &[INF, INF, INF, INF, INF, NAN],
    );
    same(&[1.0, -1.0, 2.0, -0.0].map(erfinv), &[INF, -INF, NAN, -0.0]);
    same(&[INF, -INF, -0.0].map(erf), &[1.0, -1.0, -0.0]);
    same(&[0.0, 1.0, -1.0, 2.0].map(logit), &[-INF, INF, NAN, NAN]);
    same(&[INF, 0.0, NAN].map(sinc), &[NAN, 1.0, NAN]);
    same(&[0.0, -0.0].map(reciprocal), &[INF, -INF]);
    same(
        &[-8606383.0, 0.5, 1.0, INF, -INF].map(acosh),
        &[NAN, NAN, 0.0, INF, NAN],
    );
    same(&[0.0, -1.0, INF].map(rsqrt), &[INF, NAN, 0.0]);
    let pairs = [(INF, INF), (-INF, -INF), (-INF, INF), (NAN, INF)];
    same(&pairs.map(|(x, y)| logaddexp(x, y)), &[INF, -INF, INF, NAN]);
    same(
        &pairs.map(|(x, y)| logaddexp2(x, y)),
        &[INF, -INF, INF, NAN],
    );
    let pairs = [(0.0, NAN), (0.0, 0.0), (NAN, 0.0), (1.0, 0.0)];
    same(&pairs.map(|(x, y)| xlogy(x, y)), &[NAN, 0.0, NAN, -INF]);
    same(&[xlog1py(0.0, NAN), xlog1py(0.0, -1.0)], &[NAN, 0.0]);
    let zeros = [(0.0, 0.0), (-0.0, 0.0), (0.0, -0.0), (-0.0, -0.0)];
    let pi = std::f64::consts::PI;
    same(&zeros.map(|(y, x)| atan2(y, x)), &[0.0, -0.0, pi, -pi]);
    same(&[hypot(INF, NAN)], &[INF]);
    same(
        &[nextafter(1.0, 2.0), nextafter(0.0, -1.0)],
        &[1.0 + f64::EPSILON, -5e-324],
    );
    same(
        &[
            nextafter(5e-324, 0.0),
            nextafter(f64::MAX, INF),
            nextafter(1.0, NAN),
        ],
        &[0.0, INF, NAN],
    );
}

#[test]
fn activations_at_the_ends() {
    same(&[INF, -INF, NAN, -50.0].map(gelu), &[INF, -0.0, NAN, -0.0]);
    same(
        &[INF, -INF, NAN, -50.0].map(gelu_tanh),
        &[INF, -0.0, NAN, -0.0],
    );
    same(&[INF, -INF, NAN, 0.0].map(silu), &[INF, -0.0, NAN, 0.0]);
    same(&[INF, -INF, NAN, 0.0].map(mish), &[INF, -0.0, NAN, 0.0]);
    same(&[INF, -INF, NAN].map(hardswish), &[INF, -0.0, NAN]);
    same(
        &[INF, -INF, NAN, 0.0].map(hardsigmoid),
        &[1.0, 0.0, NAN, 0.5],
    );
    same(&[INF, -INF, 1.0].map(softsign), &[1.0, -1.0, 0.5]);
    same(
        &[30.0, -INF, INF, NAN].map(|x| softplus(x, 1.0, 20.0)),
        &[30.0, 0.0, INF, NAN],
    );
    same(&[-INF, NAN, 2.0].map(|x| elu(x, 1.0)), &[-1.0, NAN, 2.0]);
    same(
        &[-2.0, 3.0, NAN].map(|x| leaky_relu(x, 0.25)),
        &[-0.5, 3.0, NAN],
    );
    same(&[-1.0, 3.0, 7.0, NAN].map(relu6), &[0.0, 3.0, 6.0, NAN]);
    assert_eq!([relu6(-1_i32), relu6(9)], [0, 6]);
}

#[test]
fn logic_and_bits() {
    assert!(logical_not(0.0) && !logical_not(NAN) && logical_not(Complex::new(0.0_f32, -0.0)));
    assert!(logical_or(0_u8, 3) && !logical_or(false, false));
    assert!(logical_xor(0.0, -2.0) && !logical_xor(1_i64, 2));
    assert_eq!(
        (
            bitwise_and(12_u8, 10),
            bitwise_or(12, 10),
            bitwise_xor(12, 10)
        ),
        (8, 14, 6)
    );
    assert!(bitwise_xor(true, false) && !bitwise_and(true, false));
    let left = [(1_i64, 64), (-1, -1), (5, 63), (3, 2)];
    assert_eq!(
        left.map(|(x, by)| bitwise_left_shift(x, by)),
        [0, 0, i64::MIN, 12]
    );
    let right = [(-8_i64, 64), (8, -1), (-8, 1), (8, 2)];
    assert_eq!(
        right.map(|(x, by)| bitwise_right_shift(x, by)),
        [-1, 0, -4, 2]
    );
    assert_eq!(
        (bitwise_left_shift(3_u8, 7), bitwise_right_shift(200_u8, 9)),
        (128, 0)
    );
    assert_eq!([gcd(-12_i64, 18), gcd(0, 0), gcd(8, -12)], [6, 0, 4]);
    assert_eq!([lcm(-12_i64, 18), lcm(0, 5), lcm(4, 6)], [36, 0, 12]);
    assert_eq!(gcd(i8::MIN, 96), 32);
}

#[test]
fn interpolation_meets_both_ends() {
    same(
        &[0.0, 0.25, 1.0].map(|w| lerp(0.1, 0.7, w)),
        &[0.1, 0.1 + 0.25 * (0.7 - 0.1), 0.7],
    );
    let (a, b) = (Complex::new(1.0, 2.0), Complex::new(-3.0, 0.5));
    assert_eq!(
        [
            lerp(a, b, Complex::ZERO),
            lerp(a, b, Complex::new(1.0, 0.0))
        ],
        [a, b]
    );
    same(&[square(-3.0)], &[9.0]);
}

#[test]
fn branch_cuts() {
    let side = |re: f64| move |im: f64| Complex::new(re, im);
    // The sign of zero selects the side of the branch cut.
    assert!(asin(side(2.0)(0.0)).im > 0.0 && asin(side(2.0)(-0.0)).im < 0.0);
    assert!(acos(side(2.0)(0.0)).im < 0.0 && acos(side(2.0)(-0.0)).im > 0.0);
    assert!(acosh(side(-2.0)(0.0)).im > 0.0 && acosh(side(-2.0)(-0.0)).im < 0.0);
    assert!(atanh(side(2.0)(0.0)).im > 0.0 && atanh(side(2.0)(-0.0)).im < 0.0);
    assert!(log1p(side(-3.0)(0.0)).im > 0.0 && log1p(side(-3.0)(-0.0)).im < 0.0);
    // Large numbers do not overflow in intermediate results.
    let far = asin(Complex::new(1e300_f64, 1e300));
    assert!((far.im - (2.0_f64.sqrt() * 2e300_f64).ln()).abs() < 1e-12);
    assert_eq!(tan(Complex::new(1.0_f64, 1e3)), Complex::new(0.0, 1.0));
    assert!(cosh(Complex::new(710.0_f64, 1.0)).re.is_finite());
}

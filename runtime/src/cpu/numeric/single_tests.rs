//! Tests each function over the whole range of `f32`, with and without fused multiply-add.
//!
//! The exact results are those of `f64` functions, whose own errors are 2⁻²⁹ of the measured unit.

use super::*;

/// Returns the distance of `got` from `want` in units in the last place of an `f32`.
fn ulps(got: f32, want: f64) -> f64 {
    let nearest = want as f32;
    if got == nearest || got.is_nan() && want.is_nan() {
        return 0.0;
    }
    let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
    let distance = (f64::from(got) - want).abs() / unit;
    if distance.is_nan() {
        f64::INFINITY
    } else {
        distance
    }
}

/// Checks that both forms of a function are within 2 units, for all numbers up to `reach`.
fn hold(name: &str, forms: [fn(f32) -> f32; 2], want: fn(f64) -> f64, reach: f32) {
    let step = if cfg!(miri) { 1 << 24 } else { 20_011 };
    let (mut worst, mut at, mut count) = (0.0, 0.0, 0);
    for bits in (0..=u32::MAX).step_by(step) {
        let x = f32::from_bits(bits);
        if x.abs() > reach {
            continue;
        }
        count += 1;
        for form in forms {
            let error = ulps(form(x), want(f64::from(x)));
            if error > worst {
                (worst, at) = (error, x);
            }
        }
    }
    println!("{name}: {worst:.3} ulp at {at:e}, of {count}");
    assert!(worst < 2.0, "{name} of {at:e}: {worst} ulp");
    // Zeros, infinities and NaN.
    for x in [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
        let exact = want(f64::from(x)) as f32;
        for got in forms.map(|form| form(x)) {
            let same = got.to_bits() == exact.to_bits() || got.is_nan() && exact.is_nan();
            assert!(
                same || x.is_infinite() && reach < x.abs(),
                "{name} of {x}: {got}, not {exact}"
            );
        }
    }
}

macro_rules! hold {
    ($name:ident, $want:expr, $reach:expr) => {
        hold(
            stringify!($name),
            [$name::<false>, $name::<true>],
            $want,
            $reach,
        )
    };
}

#[test]
fn exponentials() {
    hold!(exp, f64::exp, f32::INFINITY);
    hold!(log, f64::ln, f32::INFINITY);
    hold!(tanh, f64::tanh, f32::INFINITY);
    // The simple formula overflows only where the result is zero, and is accurate elsewhere.
    hold!(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), f32::INFINITY);
    hold!(erf, libm::erf, f32::INFINITY);
}

#[test]
fn exponentials_of_other_bases() {
    hold!(exp2, f64::exp2, f32::INFINITY);
    hold!(expm1, f64::exp_m1, f32::INFINITY);
    hold!(log2, f64::log2, f32::INFINITY);
    hold!(log10, f64::log10, f32::INFINITY);
    hold!(log1p, f64::ln_1p, f32::INFINITY);
    hold!(sinh, f64::sinh, f32::INFINITY);
    hold!(cosh, f64::cosh, f32::INFINITY);
}

/// Returns the normal distribution function.
fn distribution(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Returns a value of a gate, or its limit at minus infinity.
fn gated(x: f64, value: f64) -> f64 {
    if x == f64::NEG_INFINITY { -0.0 } else { value }
}

#[test]
fn activations() {
    hold!(erfc, libm::erfc, f32::INFINITY);
    hold!(ndtr, distribution, f32::INFINITY);
    hold!(gelu, |x| gated(x, x * distribution(x)), f32::INFINITY);
    hold!(silu, |x| gated(x, x / (1.0 + (-x).exp())), f32::INFINITY);
    hold!(
        gelu_tanh,
        |x| {
            let inner = 1.595_769_121_605_730_8 * x * (1.0 + 0.044_715 * x * x);
            gated(x, x / (1.0 + (-inner).exp()))
        },
        f32::INFINITY
    );
    hold!(
        logsigmoid,
        |x| x.min(0.0) - (-x.abs()).exp().ln_1p(),
        f32::INFINITY
    );
    hold!(
        mish,
        |x| {
            let e = x.min(50.0).exp();
            gated(x, x * (e * (e + 2.0) / (e * (e + 2.0) + 2.0)))
        },
        f32::INFINITY
    );
    fn elu_of<const FMA: bool>(x: f32) -> f32 {
        elu::<FMA>(x, 1.0)
    }
    hold!(
        elu_of,
        |x| if x > 0.0 { x } else { x.exp_m1() },
        f32::INFINITY
    );
    fn softplus_of<const FMA: bool>(x: f32) -> f32 {
        softplus::<FMA>(x, 1.0, 20.0)
    }
    hold!(
        softplus_of,
        |x| if x > 20.0 { x } else { x.exp().ln_1p() },
        f32::INFINITY
    );
    assert_eq!(softplus::<false>(3.0, 2.0, 5.0), 3.0);
    let want = (-0.5 * 4.0_f64.exp().ln_1p()) as f32;
    assert_eq!(softplus::<false>(-2.0, -2.0, 5.0), want);
}

#[test]
fn bessel_functions() {
    use crate::cpu::numeric::double;
    hold!(i0, double::i0::<false>, f32::INFINITY);
    hold!(i0e, double::i0e::<false>, f32::INFINITY);
    hold!(i1, double::i1::<false>, f32::INFINITY);
    hold!(i1e, double::i1e::<false>, f32::INFINITY);
}

#[test]
fn waves() {
    hold!(sin, f64::sin, REACH);
    hold!(cos, f64::cos, REACH);
    hold!(tan, f64::tan, REACH);
}

#[test]
fn logarithms_next_to_one() {
    for i in -1000..1000_i16 {
        let x = 1.0 + f32::from(i) * f32::EPSILON;
        for got in [log::<false>(x), log::<true>(x)] {
            assert!(ulps(got, f64::from(x).ln()) < 2.0, "{x:e}: {got:e}");
        }
    }
}

fn power_holds(x: f32, y: f32) {
    let want = f64::from(x).powf(f64::from(y));
    for got in [pow::<false>(x, y), pow::<true>(x, y)] {
        assert!(
            ulps(got, want) < 1.0,
            "{x:e} to {y:e}: {got:e}, not {want:e}"
        );
        let signs = got.is_sign_negative() == want.is_sign_negative();
        assert!(
            signs || got.is_nan(),
            "{x:e} to {y:e}: {got:e}, not {want:e}"
        );
    }
}

#[test]
fn powers() {
    let values = [
        0.0,
        0.5,
        0.999_999_94,
        1.0,
        1.000_000_1,
        2.0,
        2.5,
        3.0,
        7.0,
        1e-40,
        1e30,
        8_388_607.0,
        8_388_608.0,
        8_388_609.0,
        16_777_215.0,
        16_777_216.0,
        f32::MAX,
        f32::INFINITY,
        f32::NAN,
    ];
    for x in values.into_iter().flat_map(|x| [x, -x]) {
        for y in values.into_iter().flat_map(|y| [y, -y]) {
            power_holds(x, y);
        }
    }
    // The whole range between the smallest result and the greatest.
    let step = if cfg!(miri) { 1 << 24 } else { 60_013 };
    for (i, bits) in (0..f32::INFINITY.to_bits()).step_by(step).enumerate() {
        let x = f32::from_bits(bits);
        let reach = (150.0 / f64::from(x).log2().abs()) as f32;
        for part in -7..=7_i8 {
            power_holds(x, reach * (f32::from(part) + (i % 16) as f32 / 16.0) / 8.0);
        }
    }
}

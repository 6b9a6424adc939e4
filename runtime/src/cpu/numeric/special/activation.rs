//! Activation functions of one real number.

use std::f64::consts::LN_2;

use super::dd::Dd;

/// Computes x / (1 + exp(-x)).
#[must_use]
pub(super) fn silu(x: f64) -> f64 {
    if x < FAR {
        times_exp(x)
    } else {
        x / (1.0 + (-x).exp())
    }
}

/// Below this, logistic functions are exponentials up to rounding.
const FAR: f64 = -40.0;

/// Computes x exp(x) in two steps: the exponential alone would lose digits, or overflow as exp(-x).
fn times_exp(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return -0.0;
    }
    let root = (0.5 * x).exp();
    x * root * root
}

/// Computes x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) by the logistic function, so that nothing
/// cancels.
#[must_use]
pub(super) fn gelu_tanh(x: f64) -> f64 {
    const SQRT_8_OVER_PI: Dd = Dd {
        hi: 1.595_769_121_605_730_8,
        lo: -9.969_308_809_110_92e-17,
    };
    if x.abs() > 1e3 || x.is_nan() {
        return if x < 0.0 { -0.0 } else { x };
    }
    // Exponentials turn absolute errors of their arguments into relative errors.
    let cube = Dd::product(x, x).mul(Dd::new(0.044_715));
    let inner = Dd::new(1.0).add(cube).mul(Dd::new(x)).mul(SQRT_8_OVER_PI);
    if inner.hi < FAR {
        let root = (0.5 * inner.hi).exp();
        return x * root * (root + root * inner.lo);
    }
    let e = (-inner.hi).exp();
    x / (1.0 + (e - e * inner.lo))
}

/// Computes ln(1 + exp(beta x)) / beta, or the number itself if beta x exceeds `threshold`.
#[must_use]
pub(super) fn softplus(x: f64, beta: f64, threshold: f64) -> f64 {
    let scaled = x * beta;
    if scaled > threshold {
        x
    } else {
        log1pexp(scaled) / beta
    }
}

/// Computes ln(1 + exp(x)).
fn log1pexp(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Computes -ln(1 + exp(-x)).
#[must_use]
pub(super) fn logsigmoid(x: f64) -> f64 {
    x.min(0.0) - (-x.abs()).exp().ln_1p()
}

/// Computes x tanh ln(1 + exp(x)), by tanh ln(1 + e) = (e² + 2e) / (e² + 2e + 2).
#[must_use]
pub(super) fn mish(x: f64) -> f64 {
    if x > 20.0 {
        return x;
    }
    if x < FAR {
        return times_exp(x);
    }
    let e = x.exp();
    let n = e * (e + 2.0);
    x * (n / (n + 2.0))
}

/// Computes log₂(2^a + 2^b).
#[must_use]
pub(super) fn logaddexp2(a: f64, b: f64) -> f64 {
    if a == b && a.is_infinite() {
        return a;
    }
    let greater = if a < b { b } else { a };
    greater + (-(a - b).abs()).exp2().ln_1p() * (1.0 / LN_2)
}

/// Computes ln(x / (1 - x)).
#[must_use]
pub(super) fn logit(x: f64) -> f64 {
    if x < 0.25 {
        x.ln() - (-x).ln_1p()
    } else {
        ((2.0 * x - 1.0) / (1.0 - x)).ln_1p()
    }
}

/// Computes sin πx / πx, which is one at zero.
#[must_use]
pub(super) fn sinc(x: f64) -> f64 {
    let x = x.abs();
    if x < 1e-9 {
        return 1.0;
    }
    if x.is_infinite() {
        return f64::NAN;
    }
    // Both steps are exact; sin π(n + r) = ± sin πr.
    let whole = x.round();
    let sin = (std::f64::consts::PI * (x - whole)).sin();
    let odd = whole % 2.0 != 0.0;
    (if odd { -sin } else { sin }) / (std::f64::consts::PI * x)
}

/// Computes x - tanh(x).
#[must_use]
pub(super) fn tanhshrink(x: f64) -> f64 {
    if x.abs() > 2.0 || x.is_nan() {
        return x - x.tanh();
    }
    // Near zero the difference loses digits. tanh is the continued fraction x / (1 + t / (3 + t /
    // (5 + ...))) with t = x², from which x can be subtracted as a product.
    let t = x * x;
    let tail = (1..=11)
        .rev()
        .fold(25.0, |rest, k| f64::from(2 * k + 1) + t / rest);
    x * (t / (tail + t))
}

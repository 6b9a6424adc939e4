//! The logarithm of the gamma function, and its derivative.

use super::dd::{Dd, PI_DD, sin_cos_pi};

/// The root of ψ among positive numbers.
const ROOT: Dd = Dd {
    hi: 1.461_632_144_968_362_2,
    lo: 9.549_995_429_965_697e-17,
};

/// ψ(x) / (x - root) in powers of x - 1.5, for x between 1 and 2: interpolated at 24 Chebyshev
/// nodes with 60 digits (`scripts/special_tables.py --digamma`); off by at most 5e-17.
#[allow(clippy::excessive_precision, reason = "as the script prints them")]
const NEAR_ROOT: [f64; 24] = [
    0.9510558760318328,
    -0.42362742128146047,
    0.24054248424078736,
    -0.14840492305391761,
    0.09498872445283,
    -0.06192213327165706,
    0.04076083394462657,
    -0.02697579684427536,
    0.017907248195969127,
    -0.011908215172584002,
    0.007927024067961237,
    -0.00528001782089874,
    0.0035180800751066694,
    -0.002344650082351321,
    0.0015635679757533885,
    -0.001042261556504223,
    0.0006899717801166841,
    -0.0004599625144612576,
    0.0003268068044141764,
    -0.0002178682145501451,
    9.173383289174792e-05,
    -6.11554261750751e-05,
    0.00012230983055406747,
    -8.153978973309418e-05,
];

/// B₂ₖ / 2k, of ψ's asymptotic series.
const PSI_SERIES: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3_617.0 / 8_160.0,
];

/// B₂ₖ / 2k(2k - 1), of Stirling's series.
const STIRLING: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1_260.0,
    -1.0 / 1_680.0,
    1.0 / 1_188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3_617.0 / 122_400.0,
];

/// From here on, eight terms of either series are enough.
const FAR: f64 = 16.0;

/// ln √(2π)
const HALF_LN_TAU: Dd = Dd {
    hi: 0.918_938_533_204_672_8,
    lo: -3.878_294_158_067_241_4e-17,
};

/// The logarithmic derivative of the gamma function; NaN at the negative integers, infinite at
/// zero, against its sign.
#[must_use]
pub(super) fn digamma(x: f64) -> f64 {
    if x > 0.0 {
        positive_digamma(x)
    } else if x == 0.0 {
        f64::INFINITY.copysign(-x)
    } else if x > -0.01 {
        positive_digamma(1.0 + x) - 1.0 / x
    } else if x == x.floor() || x.is_nan() {
        f64::NAN
    } else {
        reflected_digamma(x)
    }
}

fn positive_digamma(x: f64) -> f64 {
    if x < 1.0 {
        return near_root(x + 1.0) - 1.0 / x;
    }
    if x >= FAR {
        if x.is_infinite() {
            return x;
        }
        return x.ln() - (0.5 / x + far(x));
    }
    let (mut x, mut steps) = (x, 0.0);
    while x > 2.0 {
        x -= 1.0;
        steps += 1.0 / x;
    }
    near_root(x) + steps
}

/// ψ between 1 and 2.
fn near_root(x: f64) -> f64 {
    let t = x - 1.5;
    let slope = NEAR_ROOT.iter().rev().fold(0.0, |sum, c| sum * t + c);
    ((x - ROOT.hi) - ROOT.lo) * slope
}

/// What ψ lacks of ln x - 1/2x.
fn far(x: f64) -> f64 {
    let square = 1.0 / (x * x);
    PSI_SERIES
        .iter()
        .rev()
        .fold(0.0, |sum, c| (sum + c) * square)
}

/// ψ(x) = ψ(1 - x) - π cot πx, whose parts nearly cancel around each root.
fn reflected_digamma(x: f64) -> f64 {
    let one = Dd::new(1.0);
    let mut z = Dd::sum(1.0, -x);
    let mut steps = Dd::new(0.0);
    while z.hi < FAR {
        steps = steps.add(one.div(z));
        z = z.add(one);
    }
    let half = Dd::new(0.5).div(z);
    let psi = z.ln().sub(half).sub(Dd::new(far(z.hi))).sub(steps);
    let r = x - x.round();
    let cot = if r.abs() <= 0.25 {
        let (sin, cos) = sin_cos_pi(r);
        cos.div(sin)
    } else {
        let (sin, cos) = sin_cos_pi(0.5_f64.copysign(r) - r);
        sin.div(cos)
    };
    psi.sub(PI_DD.mul(cot)).value()
}

/// The logarithm of the gamma function's magnitude; infinite at zero and the negative integers.
#[must_use]
pub(super) fn lgamma(x: f64) -> f64 {
    if x < 0.0 {
        negative_lgamma(x)
    } else {
        libm::lgamma(x)
    }
}

/// lgamma(x) = ln |π / (x sin πx)| - lgamma(-x).
fn negative_lgamma(x: f64) -> f64 {
    if x == x.floor() {
        return f64::INFINITY;
    }
    let z = -x;
    if z < 1e-5 {
        // The first terms of the series at zero.
        const EULER: f64 = 0.577_215_664_901_532_9;
        const QUARTER: f64 = 0.822_467_033_424_113_2;
        return z.ln().mul_add(-1.0, z * (EULER + QUARTER * z));
    }
    let r = (x - x.round()).abs();
    let sin = if r <= 0.25 {
        sin_cos_pi(r).0
    } else {
        sin_cos_pi(0.5 - r).1
    };
    let reflection = PI_DD.div(sin.mul(Dd::new(z))).ln();
    // Roots stand this side of -20 only: further on, the number next to an integer is too far away.
    if z > 20.0 {
        reflection.hi - libm::lgamma(z)
    } else {
        reflection.sub(stirling(z)).value()
    }
}

/// ln Γ(z) from Stirling's series, after steps upwards.
fn stirling(z: f64) -> Dd {
    let one = Dd::new(1.0);
    let (mut z, mut steps) = (Dd::new(z), one);
    while z.hi < FAR {
        steps = steps.mul(z);
        z = z.add(one);
    }
    let inverse = 1.0 / z.hi;
    let square = inverse * inverse;
    let series = STIRLING.iter().rev().fold(0.0, |sum, c| sum * square + c) * inverse;
    let ln = z.ln();
    z.sub(Dd::new(0.5))
        .mul(ln)
        .sub(z)
        .add(HALF_LN_TAU)
        .add(Dd::new(series))
        .sub(steps.ln())
}

/// The Hurwitz zeta function, Σ (x + k)^-s over k from 0 on, for s above 1: by steps upwards and
/// the Euler-Maclaurin formula.
#[must_use]
pub(super) fn zeta(s: f64, x: f64) -> f64 {
    if s == 1.0 {
        return f64::INFINITY;
    }
    if s < 1.0 || s.is_nan() || x.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        if x == x.floor() {
            return f64::INFINITY;
        }
        // Only whole powers of negative numbers are real.
        if s != s.floor() {
            return f64::NAN;
        }
    }
    if x.is_infinite() {
        return 0.0;
    }
    if x < -1_000.0 {
        // The steps below zero are those of two series above it, one of which is cut off.
        let from = x - x.floor();
        let sign = if s % 2.0 == 0.0 { 1.0 } else { -1.0 };
        return zeta(s, from) + sign * (zeta(s, 1.0 - from) - zeta(s, 1.0 - x));
    }
    let (mut x, mut sum) = (x, 0.0);
    // Higher orders need a further start.
    while x < FAR + s {
        let term = x.powf(-s);
        sum += term;
        x += 1.0;
        // Above one, terms only shrink: what vanishes beside the sum, all that follows does. Infinities of both signs
        // have no sum.
        if x > 1.0 && (term.abs() <= sum.abs() * 1e-18 || sum.is_nan()) {
            return sum;
        }
    }
    // B₂ₖ / (2k)! · s (s + 1) … (s + 2k - 2) / x^(s + 2k - 1)
    const BERNOULLI: [f64; 8] = [
        1.0 / 6.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        5.0 / 66.0,
        -691.0 / 2_730.0,
        7.0 / 6.0,
        -3_617.0 / 510.0,
    ];
    let power = x.powf(-s);
    let mut rest = x * power / (s - 1.0) + 0.5 * power;
    let mut factor = s * power / (2.0 * x);
    for (k, b) in BERNOULLI.iter().enumerate() {
        rest += b * factor;
        let m = 2.0 * k as f64 + 2.0;
        factor *= (s + m - 1.0) * (s + m) / ((m + 1.0) * (m + 2.0) * x * x);
    }
    sum + rest
}

/// ψ'(x) of a positive number: Stirling's series from 10 on (F. W. J. Olver and others, NIST Handbook of
/// Mathematical Functions, 5.15.8), and ψ'(x) = ψ'(x + 1) + 1/x² below.
fn trigamma(x: f64) -> f64 {
    // Bernoulli's numbers, from the tenth of those that are not zero.
    const SERIES: [f64; 9] = [
        43_867.0 / 798.0,
        -3_617.0 / 510.0,
        7.0 / 6.0,
        -691.0 / 2_730.0,
        5.0 / 66.0,
        -1.0 / 30.0,
        1.0 / 42.0,
        -1.0 / 30.0,
        1.0 / 6.0,
    ];
    let steps = (10.0 - x).ceil().max(0.0);
    let far = x + steps;
    let inverse = 1.0 / far;
    let square = inverse * inverse;
    let series = SERIES.iter().fold(0.0, |sum, c| sum * square + c);
    let mut sum = inverse + (0.5 * square + series * square * inverse);
    // The least first.
    let mut k = steps - 1.0;
    while k >= 0.0 {
        let at = x + k;
        sum += 1.0 / (at * at);
        k -= 1.0;
    }
    sum
}

/// The derivative of order `n` of the logarithmic derivative of the gamma function.
#[must_use]
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    let sign = if n % 2.0 == 0.0 { -1.0 } else { 1.0 };
    if x > 0.0 && n == 1.0 {
        return trigamma(x);
    }
    if x <= 0.0 && x != x.floor() && n == 1.0 {
        // ψ'(x) = π² / sin² πx - ψ'(1 - x)
        let r = x - x.round();
        let (sin, _) = if r.abs() <= 0.25 {
            sin_cos_pi(r)
        } else {
            let (sin, cos) = sin_cos_pi(0.5_f64.copysign(r) - r);
            (cos, sin)
        };
        let ratio = PI_DD.hi / sin.value();
        return ratio * ratio - trigamma(1.0 - x);
    }
    // The factorial of more than 170 is no finite number.
    let factorial: f64 = (1..=n.min(171.0) as u64).map(|k| k as f64).product();
    sign * factorial * zeta(n + 1.0, x)
}

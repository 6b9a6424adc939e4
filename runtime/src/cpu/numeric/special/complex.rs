//! [`Analytic`] for complex numbers. Numbers with `f32` parts are computed with `f64` parts.
//!
//! The inverse functions are Kahan's, from products of the square roots of 1 ± z, in which nothing
//! cancels ("Branch cuts for complex elementary functions", 1987).

use std::f64::consts::{LN_2, LOG2_E, LOG10_E};

use num_complex::Complex;

use super::Analytic;
use super::dd::Dd;
use crate::cpu::numeric::{Inexact, Signed, double};
use crate::cpu::simd::FMA;

type C = Complex<f64>;

/// Beyond this number, 1 is lost in a sum with the square.
const HUGE: f64 = 1e150;

/// Computes exp(x) times a factor, for exponentials that may overflow alone.
fn exp_times(x: f64, factor: f64) -> f64 {
    if factor == 0.0 {
        return factor;
    }
    if x.abs() < 700.0 || x.is_infinite() {
        return x.exp() * factor;
    }
    let half = (0.5 * x).exp();
    half * factor * half
}

/// Returns whether cosh and the magnitude of sinh equal half the exponential.
fn far(x: f64) -> bool {
    x.abs() > 700.0
}

/// Returns the product, but zero if a factor is zero, even if the other is infinite.
fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        (0.0_f64).copysign(a) * 1.0_f64.copysign(b)
    } else {
        a * b
    }
}

fn sinh(z: C) -> C {
    let (sin, cos) = if z.im == 0.0 {
        (z.im, 1.0)
    } else {
        z.im.sin_cos()
    };
    if far(z.re) {
        let x = z.re.abs();
        return C::new(
            exp_times(x, 0.5 * cos).copysign(cos * z.re.signum()),
            exp_times(x, 0.5 * sin),
        );
    }
    C::new(times(z.re.sinh(), cos), times(z.re.cosh(), sin))
}

fn cosh(z: C) -> C {
    let (sin, cos) = if z.im == 0.0 {
        (z.im, 1.0)
    } else {
        z.im.sin_cos()
    };
    if far(z.re) {
        let x = z.re.abs();
        return C::new(
            exp_times(x, 0.5 * cos),
            exp_times(x, 0.5 * sin * z.re.signum()),
        );
    }
    C::new(times(z.re.cosh(), cos), times(z.re.sinh(), sin))
}

/// Computes tanh by Kahan's algorithm, from tan of the imaginary and sinh of the real part.
fn tanh(z: C) -> C {
    if z.re.abs() > 20.0 {
        // Here tanh of the real part is 1 up to rounding; only a tiny imaginary part is left.
        let (sin, cos) = if z.im.is_infinite() {
            (0.0, 1.0)
        } else {
            z.im.sin_cos()
        };
        let tail = exp_times(-z.re.abs(), 2.0);
        return C::new(1.0_f64.copysign(z.re), tail * tail * sin * cos);
    }
    let tan = z.im.tan();
    let slope = 1.0 + tan * tan;
    let (sinh, cosh) = (z.re.sinh(), z.re.cosh());
    let scale = 1.0 + slope * sinh * sinh;
    C::new(slope * cosh * sinh / scale, tan / scale)
}

/// Returns i z.
fn turn(z: C) -> C {
    C::new(-z.im, z.re)
}

/// Returns -i z.
fn turn_back(z: C) -> C {
    C::new(z.im, -z.re)
}

/// Returns the principal square root, scaled so that squares do not overflow; branchless.
#[inline(always)]
pub(in crate::cpu::numeric) fn sqrt(z: C) -> C {
    /// 2⁻⁴ and 2¹⁰⁸, and the inverses of their square roots.
    const SCALES: [[f64; 2]; 2] = [
        [0.0625, 4.0],
        [
            324_518_553_658_426_726_783_156_020_576_256.0,
            5.551_115_123_125_783e-17,
        ],
    ];
    let (a, b) = (z.re.abs(), z.im.abs());
    let size = if a < b { b } else { a };
    let [scale, back] = if size > 1e300 { SCALES[0] } else { [1.0; 2] };
    let [scale, back] = if size < 1e-290 {
        SCALES[1]
    } else {
        [scale, back]
    };
    let (re, im) = (a * scale, b * scale);
    let root = (0.5 * (double::hypot::<FMA>(re, im) + re)).sqrt();
    let root = if b > f64::MAX { b } else { root };
    let other = im / (root + root);
    let other = if size == 0.0 { 0.0 } else { other };
    let other = if b > f64::MAX { b } else { other };
    let (x, y) = if z.re >= 0.0 {
        (root, other)
    } else {
        (other, root)
    };
    C::new(x * back, (y * back).copysign(z.im))
}

/// Returns the imaginary part of conj(a) b, for parts whose products have the same sign.
fn cross(a: C, b: C) -> f64 {
    times(a.re, b.im) - times(a.im, b.re)
}

/// Returns ln 2|z| with the angle of z: the limit of the inverse functions for large numbers.
fn far_log(z: C) -> C {
    C::new(
        (0.5 * z.re).hypot(0.5 * z.im).ln() + 2.0 * LN_2,
        z.im.atan2(z.re),
    )
}

fn is_far(z: C) -> bool {
    z.re.abs() > HUGE || z.im.abs() > HUGE
}

fn asin(z: C) -> C {
    if is_far(z) {
        let log = far_log(C::new(z.re.abs(), z.im.abs()));
        let angle = std::f64::consts::FRAC_PI_2 - log.im;
        return C::new(angle.copysign(z.re), log.re.copysign(z.im));
    }
    let (less, more) = (
        sqrt(C::new(1.0 - z.re, -z.im)),
        sqrt(C::new(1.0 + z.re, z.im)),
    );
    let re = z.re.atan2(less.re * more.re - less.im * more.im);
    C::new(re, libm::asinh(cross(less, more)).copysign(z.im))
}

fn acos(z: C) -> C {
    if is_far(z) {
        let log = far_log(z);
        return C::new(log.im.abs(), -log.re.copysign(z.im));
    }
    let (less, more) = (
        sqrt(C::new(1.0 - z.re, -z.im)),
        sqrt(C::new(1.0 + z.re, z.im)),
    );
    C::new(2.0 * less.re.atan2(more.re), libm::asinh(cross(more, less)))
}

fn acosh(z: C) -> C {
    if is_far(z) {
        return far_log(z);
    }
    let (less, more) = (
        sqrt(C::new(z.re - 1.0, z.im)),
        sqrt(C::new(z.re + 1.0, z.im)),
    );
    let re = libm::asinh(less.re * more.re + less.im * more.im);
    C::new(re, 2.0 * less.im.atan2(more.re))
}

fn atanh(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    if x.is_nan() || y.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    if x > HUGE || y > HUGE {
        // 1/z; adding 1 to the square of z would have no effect.
        let re = if x.is_infinite() || y.is_infinite() {
            0.0
        } else {
            let length = x.hypot(y);
            x / length / length
        };
        return C::new(
            re.copysign(z.re),
            std::f64::consts::FRAC_PI_2.copysign(z.im),
        );
    }
    let (less, more) = (1.0 - x, 1.0 + x);
    let distance = less * less + y * y;
    let re = if distance == 0.0 && y == 0.0 {
        f64::INFINITY
    } else if distance < f64::MIN_POSITIVE {
        0.5 * (LN_2 - y.ln())
    } else {
        0.25 * (4.0 * x / distance).ln_1p()
    };
    let cos = Dd::product(less, more).sub(Dd::product(y, y)).value();
    let im = if y == 0.0 {
        // On the branch cut, the sign of zero selects the side.
        if x > 1.0 {
            std::f64::consts::FRAC_PI_2
        } else {
            0.0
        }
    } else {
        0.5 * (2.0 * y).atan2(cos)
    };
    C::new(re.copysign(z.re), im.copysign(z.im))
}

/// Computes ln |1 + z|, accurately if 1 + z is close to the unit circle.
fn log1p_magnitude(z: C) -> f64 {
    if is_far(z) || z.re < -3.0 || z.re > 3.0 || z.im.abs() > 3.0 {
        return (1.0 + z.re).hypot(z.im).ln();
    }
    // |1 + z|² - 1
    let square = Dd::product(z.re, z.re).add(Dd::product(z.im, z.im));
    let excess = Dd::new(2.0 * z.re).add(square).value();
    if excess < -0.5 {
        let more = Dd::sum(1.0, z.re);
        return (more.hi + more.lo).hypot(z.im).ln();
    }
    0.5 * excess.ln_1p()
}

fn log1p(z: C) -> C {
    C::new(log1p_magnitude(z), z.im.atan2(1.0 + z.re))
}

/// Returns the natural logarithm, accurate close to the unit circle.
pub(crate) fn log(z: C) -> C {
    let (x, y) = (z.re.abs(), z.im.abs());
    let (greater, less) = if x < y { (y, x) } else { (x, y) };
    let re = if greater > 0.5 && greater < 1.5 {
        // |z|² - 1 = (greater - 1)(greater + 1) + less², with an exact difference
        let square = Dd::product(less, less);
        let excess = Dd::new(greater - 1.0)
            .mul(Dd::sum(greater, 1.0))
            .add(square)
            .value();
        if excess < -0.5 {
            greater.hypot(less).ln()
        } else {
            0.5 * excess.ln_1p()
        }
    } else if greater > 1e300 {
        (0.5 * x).hypot(0.5 * y).ln() + LN_2
    } else if greater < 1e-300 {
        // A subnormal magnitude has lost digits.
        (x * 2.0_f64.powi(108)).hypot(y * 2.0_f64.powi(108)).ln() - 108.0 * LN_2
    } else {
        x.hypot(y).ln()
    };
    C::new(re, z.im.atan2(z.re))
}

fn expm1(z: C) -> C {
    if z.im == 0.0 {
        return C::new(z.re.exp_m1(), z.im);
    }
    let (sin, cos) = z.im.sin_cos();
    if far(z.re) {
        return C::new(exp_times(z.re, cos) - 1.0, exp_times(z.re, sin));
    }
    // cos - 1, without cancellation
    let half = (0.5 * z.im).sin();
    let grown = z.re.exp_m1();
    let (a, b) = (Dd::product(grown, cos), Dd::product(2.0 * half, half));
    C::new(a.sub(b).value(), z.re.exp() * sin)
}

/// Returns the conjugate divided by the squared magnitude, scaled; branchless.
#[inline(always)]
fn reciprocal(z: C) -> C {
    /// 2⁻⁶⁰⁰ and 2⁶⁰⁰
    const SCALES: [f64; 2] = [2.409_919_865_102_884e-181, 4.149_515_568_880_993e180];
    let (a, b) = (z.re.abs(), z.im.abs());
    let size = if a < b { b } else { a };
    let scale = if size > 1e150 { SCALES[0] } else { 1.0 };
    let scale = if size < 1e-150 { SCALES[1] } else { scale };
    // If one part is infinite, the other does not matter.
    let one = (size > f64::MAX) & ((a <= f64::MAX) | (b <= f64::MAX));
    let (re, im) = (z.re * scale, z.im * scale);
    let (re, im) = if one {
        (0.0_f64.copysign(re), 0.0_f64.copysign(im))
    } else {
        (re, im)
    };
    let inverse = if one {
        1.0
    } else {
        scale / (re * re + im * im)
    };
    if (a == 0.0) & (b == 0.0) {
        C::new(1.0 / z.re, f64::NAN)
    } else {
        C::new(re * inverse, -im * inverse)
    }
}

/// Like [`reciprocal`], for parts in the range of `f32`, whose squares neither overflow nor underflow.
#[inline(always)]
fn narrow_reciprocal(z: C) -> C {
    let inverse = 1.0 / (z.re * z.re + z.im * z.im);
    // If one part is infinite, the other does not matter. Both are then multiplied by zero, as long as they are finite.
    let finite = |x: f64| x.abs() <= f64::MAX;
    let one = finite(z.re) | finite(z.im);
    let part = |x: f64| {
        if one & (x.abs() > f64::MAX) {
            0.0_f64.copysign(x)
        } else {
            x
        }
    };
    if inverse > f64::MAX {
        C::new(inverse.copysign(z.re), f64::NAN)
    } else {
        C::new(part(z.re) * inverse, -part(z.im) * inverse)
    }
}

macro_rules! complex {
    ($t:ty: $($f:ident($z:ident) = $value:expr;)*) => {
        impl Analytic for Complex<$t> {
            $(
                #[inline(always)]
                fn $f(self) -> Self {
                    let $z = C::new(self.re.into(), self.im.into());
                    let value: C = $value;
                    Self::new(value.re as $t, value.im as $t)
                }
            )*
            #[inline]
            fn logaddexp(self, other: Self) -> Self {
                if self == other && self.re.is_infinite() {
                    return self;
                }
                let wide = |z: Self| C::new(z.re.into(), z.im.into());
                let (greater, less) = if self.re < other.re { (other, self) } else { (self, other) };
                let (greater, less) = (wide(greater), wide(less));
                let value = greater + log1p(Inexact::exp(less - greater));
                Self::new(value.re as $t, value.im as $t)
            }
            #[inline]
            fn lerp(self, end: Self, weight: Self) -> Self {
                let span = end - self;
                if Signed::abs(weight) < 0.5 {
                    self + weight * span
                } else {
                    end - span * (Self::new(1.0, 0.0) - weight)
                }
            }
        }
    };
}

macro_rules! both {
    ($($body:tt)*) => {
        complex!(f32: $($body)* reciprocal(z) = narrow_reciprocal(z););
        complex!(f64: $($body)* reciprocal(z) = reciprocal(z););
    };
}

both! {
    sin(z) = turn_back(sinh(turn(z)));
    cos(z) = cosh(turn(z));
    tan(z) = turn_back(tanh(turn(z)));
    asin(z) = asin(z);
    acos(z) = acos(z);
    atan(z) = turn_back(atanh(turn(z)));
    sinh(z) = sinh(z);
    cosh(z) = cosh(z);
    asinh(z) = turn_back(asin(turn(z)));
    acosh(z) = acosh(z);
    atanh(z) = atanh(z);
    expm1(z) = expm1(z);
    exp2(z) = {
        let (sin, cos) = if z.im == 0.0 { (z.im, 1.0) } else { (z.im * LN_2).sin_cos() };
        let magnitude = z.re.exp2();
        C::new(magnitude * cos, magnitude * sin)
    };
    log1p(z) = log1p(z);
    log2(z) = log(z) * LOG2_E;
    log10(z) = log(z) * LOG10_E;
    rsqrt(z) = reciprocal(sqrt(z));
    silu(z) = z * Inexact::sigmoid(z);
    sinc(z) = {
        let w = z * std::f64::consts::PI;
        if z == C::default() { C::new(1.0, 0.0) } else { Inexact::div(turn_back(sinh(turn(w))), w) }
    };
}

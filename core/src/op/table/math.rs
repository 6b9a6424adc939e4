//! Elementwise functions of analysis.

use super::pointwise::{binary, float};
use crate::op::DTypeRule::{Float, Same};
use crate::op::{DTypes, Forms, Row, Samples};

/// A float function that complex numbers do not have.
const fn real(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    float(name, expr, doc).dtype(Float, DTypes::REAL)
}

pub(super) const ROWS: &[Row] = &[
    float("sin", "sin(x)", "The sine of each element, in radians.").grad(&["grad * cos(x)"]),
    float("cos", "cos(x)", "The cosine of each element, in radians.").grad(&["-grad * sin(x)"]),
    float("tan", "tan(x)", "The tangent of each element, in radians.")
        .grad(&["grad * (1 + result * result)"]),
    float("asin", "asin(x)", "The inverse sine, between -π/2 and π/2.")
        .aliases(&["arcsin"])
        .samples(Samples::Unit)
        .grad(&["grad * rsqrt(1 - x * x)"]),
    float("acos", "acos(x)", "The inverse cosine, between 0 and π.")
        .aliases(&["arccos"])
        .samples(Samples::Unit)
        .grad(&["-grad * rsqrt(1 - x * x)"]),
    float(
        "atan",
        "atan(x)",
        "The inverse tangent, between -π/2 and π/2.",
    )
    .aliases(&["arctan"])
    .grad(&["grad / (1 + x * x)"]),
    float("sinh", "sinh(x)", "The hyperbolic sine.").grad(&["grad * cosh(x)"]),
    float("cosh", "cosh(x)", "The hyperbolic cosine.").grad(&["grad * sinh(x)"]),
    float("asinh", "asinh(x)", "The inverse hyperbolic sine.")
        .aliases(&["arcsinh"])
        .grad(&["grad * rsqrt(x * x + 1)"]),
    float(
        "acosh",
        "acosh(x)",
        "The inverse hyperbolic cosine, of numbers from 1 on.",
    )
    .aliases(&["arccosh"])
    .samples(Samples::Positive)
    .grad(&["grad * rsqrt(x * x - 1)"]),
    float(
        "atanh",
        "atanh(x)",
        "The inverse hyperbolic tangent, of numbers between -1 and 1.",
    )
    .aliases(&["arctanh"])
    .samples(Samples::Unit)
    .grad(&["grad / (1 - x * x)"]),
    float(
        "expm1",
        "expm1(x)",
        "*e* to the power of each element, less one; exact close to zero.",
    )
    .grad(&["grad * (result + 1)"]),
    float("exp2", "exp2(x)", "`2^x`.")
        .grad(&["grad * result * 0.6931471805599453"]),
    float(
        "log1p",
        "log1p(x)",
        "The natural logarithm of `1 + x`, exact close to zero.",
    )
    .samples(Samples::Positive)
    .grad(&["grad / (x + 1)"]),
    float("log2", "log2(x)", "The logarithm to base 2.")
        .samples(Samples::Positive)
        .grad(&["grad / (x * 0.6931471805599453)"]),
    float("log10", "log10(x)", "The logarithm to base 10.")
        .samples(Samples::Positive)
        .grad(&["grad / (x * 2.302585092994046)"]),
    float(
        "reciprocal",
        "reciprocal(x)",
        "The reciprocal.",
    )
    .samples(Samples::Positive)
    .grad(&["-grad * result * result"]),
    float("rsqrt", "rsqrt(x)", "The reciprocal of the square root.")
        .samples(Samples::Positive)
        .grad(&["-0.5 * grad * result * result * result"]),
    float("sinc", "sinc(x)", "sin(πx) / πx, and 1 at zero."),
    real("deg2rad", "deg2rad(x)", "Degrees to radians.").grad(&["deg2rad(grad)"]),
    real("rad2deg", "rad2deg(x)", "Radians to degrees.").grad(&["rad2deg(grad)"]),
    real("erf", "erf(x)", "The error function.").grad(&["grad * 1.1283791670955126 * exp(-x * x)"]),
    real(
        "erfc",
        "erfc(x)",
        "The complementary error function, `1 - erf(x)`, exact where `erf` is close to one.",
    )
    .grad(&["-grad * 1.1283791670955126 * exp(-x * x)"]),
    real(
        "erfinv",
        "erfinv(x)",
        "The inverse of the error function, of numbers between -1 and 1.",
    )
    .samples(Samples::Unit)
    .grad(&["grad * 0.8862269254527580 * exp(result * result)"]),
    real(
        "lgamma",
        "lgamma(x)",
        "The logarithm of the gamma function's absolute value.",
    )
    .aliases(&["gammaln"])
    .samples(Samples::Positive)
    .grad(&["grad * digamma(x)"]),
    real(
        "digamma",
        "digamma(x)",
        "The logarithmic derivative of the gamma function.",
    )
    .aliases(&["psi"])
    .samples(Samples::Positive),
    binary(
        "atan2",
        "atan2(x, y)",
        "The angle of the point (x = `other`, y = self), between -π and π.",
    )
    .dtype(Float, DTypes::REAL)
    .aliases(&["arctan2"])
    .grad(&["grad * y / (x * x + y * y)", "-grad * x / (x * x + y * y)"]),
    binary(
        "hypot",
        "hypot(x, y)",
        "The hypotenuse, `sqrt(x² + other²)`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(&["grad * x / result", "grad * y / result"]),
    binary(
        "logaddexp",
        "logaddexp(x, y)",
        "The logarithm of the sum of two exponentials.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::WITH_OUT)
    .grad(&["grad * exp(x - result)", "grad * exp(y - result)"]),
    binary(
        "xlogy",
        "xlogy(x, y)",
        "`self * log(other)`; zero where self is.",
    )
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Positive)
    .grad(&["grad * log(y)", "grad * x / y"]),
    float(
        "silu",
        "silu(x)",
        "SiLU, `x * sigmoid(x)`.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(&["grad * sigmoid(x) * (1 + x * (1 - sigmoid(x)))"]),
    float(
        "gelu",
        "gelu(x)",
        "GELU, `x * Φ(x)` with the standard normal distribution function Φ, exactly or by the tanh approximation.",
    )
    .signature("self, *, approximate: Word = none")
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(&["grad * (ndtr(x) + x * 0.3989422804014327 * exp(-0.5 * x * x))"]),
];

//! Elementwise functions of analysis.

use super::pointwise::{binary, float};
use crate::op::DTypeRule::{Float, Same};
use crate::op::Grad::Lines;
use crate::op::{DTypes, Edges, Forms, Row, Samples, Spread};

/// A float function that complex numbers do not have.
const fn real(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    float(name, expr, doc).dtype(Float, DTypes::REAL)
}

pub(super) const ROWS: &[Row] = &[
    float("sin", "sin(x)", "The sine of each element, in radians.").grad(Lines(&[("self", "grad * conj(cos(self))")])).spread(Spread::Elementwise),
    float("cos", "cos(x)", "The cosine of each element, in radians.").grad(Lines(&[("self", "-grad * conj(sin(self))")])).spread(Spread::Elementwise),
    float("tan", "tan(x)", "The tangent of each element, in radians.").grad(Lines(&[("self", "grad * conj(1 + result * result)")])).spread(Spread::Elementwise),
    float("asin", "asin(x)", "The inverse sine, between -π/2 and π/2.")
        .aliases(&["arcsin"])
        .samples(Samples::Unit).grad(Lines(&[("self", "if_real(grad * asin_slope(self), grad * conj(rsqrt(1 - self * self)))")])).spread(Spread::Elementwise),
    float("acos", "acos(x)", "The inverse cosine, between 0 and π.")
        .aliases(&["arccos"])
        .samples(Samples::Unit).grad(Lines(&[("self", "if_real(-grad * asin_slope(self), -grad * conj(rsqrt(1 - self * self)))")])).spread(Spread::Elementwise),
    float(
        "atan",
        "atan(x)",
        "The inverse tangent, between -π/2 and π/2.",
    )
    .aliases(&["arctan"]).grad(Lines(&[("self", "if_real(grad * atan_slope(self), grad / conj(1 + self * self))")])).spread(Spread::Elementwise),
    float("sinh", "sinh(x)", "The hyperbolic sine.").grad(Lines(&[("self", "grad * conj(cosh(self))")])).spread(Spread::Elementwise),
    float("cosh", "cosh(x)", "The hyperbolic cosine.").grad(Lines(&[("self", "grad * conj(sinh(self))")])).spread(Spread::Elementwise),
    float("asinh", "asinh(x)", "The inverse hyperbolic sine.")
        .aliases(&["arcsinh"]).grad(Lines(&[("self", "if_real(grad * asinh_slope(self), grad * conj(rsqrt(self * self + 1)))")])).spread(Spread::Elementwise),
    float(
        "acosh",
        "acosh(x)",
        "The inverse hyperbolic cosine, of numbers from 1 on.",
    )
    .aliases(&["arccosh"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * conj(rsqrt(self + 1) * rsqrt(self - 1))")])).spread(Spread::Elementwise),
    float(
        "atanh",
        "atanh(x)",
        "The inverse hyperbolic tangent, of numbers between -1 and 1.",
    )
    .aliases(&["arctanh"])
    .samples(Samples::Unit).grad(Lines(&[("self", "if_real(grad * atanh_slope(self), grad / conj(1 - self * self))")])).spread(Spread::Elementwise),
    float(
        "expm1",
        "expm1(x)",
        "*e* to the power of each element, less one; exact close to zero.",
    ).grad(Lines(&[("self", "grad * conj(exp(self))")])).spread(Spread::Elementwise),
    float("exp2", "exp2(x)", "`2^x`.").grad(Lines(&[("self", "grad * conj(result) * 0.693_147_180_559_945_3")])).spread(Spread::Elementwise),
    float(
        "log1p",
        "log1p(x)",
        "The natural logarithm of `1 + x`, exact close to zero.",
    )
    .samples(Samples::Positive).grad(Lines(&[("self", "grad / conj(self + 1)")])).spread(Spread::Elementwise),
    float("log2", "log2(x)", "The logarithm to base 2.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * 1.442_695_040_888_963_4 / conj(self)")])).spread(Spread::Elementwise),
    float("log10", "log10(x)", "The logarithm to base 10.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * 0.434_294_481_903_251_8 / conj(self)")])).spread(Spread::Elementwise),
    float(
        "reciprocal",
        "reciprocal(x)",
        "The reciprocal.",
    )
    .samples(Samples::Positive).grad(Lines(&[("self", "-grad * conj(result * result)")])).spread(Spread::Elementwise),
    float("rsqrt", "rsqrt(x)", "The reciprocal of the square root.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * conj(-0.5 * result * (result * result))")])).spread(Spread::Elementwise),
    float("sinc", "sinc(x)", "sin(πx) / πx, and 1 at zero.").grad(Lines(&[("self", "if_real(grad * sinc_nth(self, 1), where_cond(eq(self, 0), 0, grad * conj((cos(3.141_592_653_589_793 * self) - result) / where_cond(eq(self, 0), 1, self))))")])).edges(Edges::Except(1, "a slope below the normal numbers may be 0")).spread(Spread::Elementwise),
    real("deg2rad", "deg2rad(x)", "Degrees to radians.").grad(Lines(&[("self", "deg2rad(grad)")])).spread(Spread::Linear),
    real("rad2deg", "rad2deg(x)", "Radians to degrees.").grad(Lines(&[("self", "rad2deg(grad)")])).spread(Spread::Linear),
    real("erf", "erf(x)", "The error function.").grad(Lines(&[("self", "grad * 1.128_379_167_095_512_6 * bell(self, 1)")])).spread(Spread::Elementwise),
    real(
        "erfc",
        "erfc(x)",
        "The complementary error function, `1 - erf(x)`, exact where `erf` is close to one.",
    ).grad(Lines(&[("self", "-grad * 1.128_379_167_095_512_6 * bell(self, 1)")])).spread(Spread::Elementwise),
    real(
        "erfinv",
        "erfinv(x)",
        "The inverse of the error function, of numbers between -1 and 1.",
    )
    .samples(Samples::Unit).grad(Lines(&[("self", "grad * 0.886_226_925_452_758 * exp(result * result)")])).spread(Spread::Elementwise),
    real(
        "lgamma",
        "lgamma(x)",
        "The logarithm of the gamma function's absolute value.",
    )
    .aliases(&["gammaln"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * digamma(self)")])).edges(Edges::Except(0, "beside a zero, within the rounding of numbers near one")).spread(Spread::Elementwise),
    real(
        "digamma",
        "digamma(x)",
        "The logarithmic derivative of the gamma function.",
    )
    .aliases(&["psi"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * polygamma(1, self)")])).spread(Spread::Elementwise),
    binary(
        "atan2",
        "atan2(x, y)",
        "The angle of the point (x = `other`, y = self), between -π and π.",
    )
    .dtype(Float, DTypes::REAL)
    .aliases(&["arctan2"]).grad(Lines(&[("self", "where_cond(logical_and(eq(self, 0), eq(other, 0)), 0, grad * (other / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other)) / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other))"), ("other", "where_cond(logical_and(eq(self, 0), eq(other, 0)), 0, -grad * (self / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other)) / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other))")])).edges(Edges::Except(2, "second derivatives divide by squares of the distance, which may vanish")).spread(Spread::Pointwise),
    binary(
        "hypot",
        "hypot(x, y)",
        "The hypotenuse, `sqrt(x² + other²)`.",
    )
    .dtype(Same, DTypes::FLOATS).grad(Lines(&[("self", "grad * (self / result)"), ("other", "grad * (other / result)")])).edges(Edges::Terms("beside a zero of a derivative its terms cancel")).spread(Spread::Pointwise),
    binary(
        "logaddexp",
        "logaddexp(x, y)",
        "The logarithm of the sum of two exponentials.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "grad * conj(sigmoid(where_cond(logical_and(isinf(self), eq(self, other)), 0, self - other)))"), ("other", "grad * conj(sigmoid(where_cond(logical_and(isinf(self), eq(self, other)), 0, other - self)))")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes")).spread(Spread::Pointwise),
    binary(
        "xlogy",
        "xlogy(x, y)",
        "`self * log(other)`; zero where self is.",
    )
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Positive).grad(Lines(&[("self", "where_cond(logical_and(eq(self, 0), le(other, 0)), 0, grad * log(where_cond(logical_and(eq(self, 0), le(other, 0)), 1, other)))"), ("other", "grad * self / where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, other)")])).spread(Spread::Pointwise),
    float(
        "silu",
        "silu(x)",
        "SiLU, `x * sigmoid(x)`.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Lines(&[("self", "if_real(grad * (sigmoid(self) + vanishing(self, sigmoid(self) * (1 - sigmoid(self)))), grad * conj(sigmoid(self) * (1 + self * (1 - sigmoid(self)))))")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes; subnormal numbers on the way")).spread(Spread::Elementwise),
    float(
        "gelu",
        "gelu(x)",
        "GELU, `x * Φ(x)` with the standard normal distribution function Φ, exactly or by the tanh approximation.",
    )
    .signature("self, *, approximate: Word = none")
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Lines(&[("self", "grad * (ndtr(self) + 0.398_942_280_401_432_7 * vanishing(self, bell(self, 0.5)))")])).edges(Edges::Terms("beside a zero of a derivative its terms cancel")).spread(Spread::Elementwise),
];

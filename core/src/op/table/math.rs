//! Elementwise mathematical functions.

use super::pointwise::{binary, float};
use crate::op::DTypeRule::{Float, Same};
use crate::op::Grad::Lines;
use crate::op::{DTypes, Edges, Forms, Row, Samples, Spread};

/// A float function without a complex form.
const fn real(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    float(name, expr, doc).dtype(Float, DTypes::REAL)
}

pub(super) const ROWS: &[Row] = &[
    float("sin", "sin(x)", "Computes the sine of each element, in radians.").grad(Lines(&[("self", "grad * conj(cos(self))")])).spread(Spread::Elementwise),
    float("cos", "cos(x)", "Computes the cosine of each element, in radians.").grad(Lines(&[("self", "-grad * conj(sin(self))")])).spread(Spread::Elementwise),
    float("tan", "tan(x)", "Computes the tangent of each element, in radians.").grad(Lines(&[("self", "grad * conj(1 + result * result)")])).spread(Spread::Elementwise),
    float("asin", "asin(x)", "Computes the inverse sine, between -π/2 and π/2.")
        .aliases(&["arcsin"])
        .samples(Samples::Unit).grad(Lines(&[("self", "if_real(grad * asin_slope(self), grad * conj(rsqrt(1 - self * self)))")])).spread(Spread::Elementwise),
    float("acos", "acos(x)", "Computes the inverse cosine, between 0 and π.")
        .aliases(&["arccos"])
        .samples(Samples::Unit).grad(Lines(&[("self", "if_real(-grad * asin_slope(self), -grad * conj(rsqrt(1 - self * self)))")])).spread(Spread::Elementwise),
    float(
        "atan",
        "atan(x)",
        "Computes the inverse tangent, between -π/2 and π/2.",
    )
    .aliases(&["arctan"]).grad(Lines(&[("self", "if_real(grad * atan_slope(self), grad / conj(1 + self * self))")])).spread(Spread::Elementwise),
    float("sinh", "sinh(x)", "Computes the hyperbolic sine.").grad(Lines(&[("self", "grad * conj(cosh(self))")])).spread(Spread::Elementwise),
    float("cosh", "cosh(x)", "Computes the hyperbolic cosine.").grad(Lines(&[("self", "grad * conj(sinh(self))")])).spread(Spread::Elementwise),
    float("asinh", "asinh(x)", "Computes the inverse hyperbolic sine.")
        .aliases(&["arcsinh"]).grad(Lines(&[("self", "if_real(grad * asinh_slope(self), grad * conj(rsqrt(self * self + 1)))")])).spread(Spread::Elementwise),
    float(
        "acosh",
        "acosh(x)",
        "Computes the inverse hyperbolic cosine of numbers of at least 1.",
    )
    .aliases(&["arccosh"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * conj(rsqrt(self + 1) * rsqrt(self - 1))")])).spread(Spread::Elementwise),
    float(
        "atanh",
        "atanh(x)",
        "Computes the inverse hyperbolic tangent of numbers between -1 and 1.",
    )
    .aliases(&["arctanh"])
    .samples(Samples::Unit).grad(Lines(&[("self", "if_real(grad * atanh_slope(self), grad / conj(1 - self * self))")])).spread(Spread::Elementwise),
    float(
        "expm1",
        "expm1(x)",
        "Computes `exp(x) - 1`, accurate near zero.",
    ).grad(Lines(&[("self", "grad * conj(exp(self))")])).spread(Spread::Elementwise),
    float("exp2", "exp2(x)", "Computes `2^x`.").grad(Lines(&[("self", "grad * conj(result) * 0.693_147_180_559_945_3")])).spread(Spread::Elementwise),
    float(
        "log1p",
        "log1p(x)",
        "Computes the natural logarithm of `1 + x`, accurate near zero.",
    )
    .samples(Samples::Positive).grad(Lines(&[("self", "grad / conj(self + 1)")])).spread(Spread::Elementwise),
    float("log2", "log2(x)", "Computes the logarithm to base 2.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * 1.442_695_040_888_963_4 / conj(self)")])).spread(Spread::Elementwise),
    float("log10", "log10(x)", "Computes the logarithm to base 10.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * 0.434_294_481_903_251_8 / conj(self)")])).spread(Spread::Elementwise),
    float(
        "reciprocal",
        "reciprocal(x)",
        "Computes the reciprocal.",
    )
    .samples(Samples::Positive).grad(Lines(&[("self", "-grad * conj(result * result)")])).spread(Spread::Elementwise),
    float("rsqrt", "rsqrt(x)", "Computes the reciprocal of the square root.")
        .samples(Samples::Positive).grad(Lines(&[("self", "grad * conj(-0.5 * result * (result * result))")])).spread(Spread::Elementwise),
    float("sinc", "sinc(x)", "Computes `sin(πx) / (πx)`, and 1 at zero.").grad(Lines(&[("self", "if_real(grad * sinc_nth(self, 1), where_cond(eq(self, 0), 0, grad * conj((cos(3.141_592_653_589_793 * self) - result) / where_cond(eq(self, 0), 1, self))))")])).edges(Edges::Except(1, "a derivative below the normal numbers may be 0")).spread(Spread::Elementwise),
    real("deg2rad", "deg2rad(x)", "Converts degrees to radians.").grad(Lines(&[("self", "deg2rad(grad)")])).spread(Spread::Linear),
    real("rad2deg", "rad2deg(x)", "Converts radians to degrees.").grad(Lines(&[("self", "rad2deg(grad)")])).spread(Spread::Linear),
    real("erf", "erf(x)", "Computes the error function.").grad(Lines(&[("self", "grad * 1.128_379_167_095_512_6 * bell(self, 1)")])).spread(Spread::Elementwise),
    real(
        "erfc",
        "erfc(x)",
        "Computes the complementary error function, `1 - erf(x)`, accurate where `erf` is close to 1.",
    ).grad(Lines(&[("self", "-grad * 1.128_379_167_095_512_6 * bell(self, 1)")])).spread(Spread::Elementwise),
    real(
        "erfinv",
        "erfinv(x)",
        "Computes the inverse of the error function for numbers between -1 and 1.",
    )
    .samples(Samples::Unit).grad(Lines(&[("self", "grad * 0.886_226_925_452_758 * exp(result * result)")])).spread(Spread::Elementwise),
    real(
        "lgamma",
        "lgamma(x)",
        "Computes the logarithm of the absolute value of the gamma function.",
    )
    .aliases(&["gammaln"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * digamma(self)")])).edges(Edges::Except(0, "near a zero, the error is that of numbers near one")).spread(Spread::Elementwise),
    real(
        "digamma",
        "digamma(x)",
        "Computes the logarithmic derivative of the gamma function.",
    )
    .aliases(&["psi"])
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * polygamma(1, self)")])).spread(Spread::Elementwise),
    binary(
        "atan2",
        "atan2(x, y)",
        "Computes the angle of the point (x = `other`, y = `self`), between -π and π.",
    )
    .dtype(Float, DTypes::REAL)
    .aliases(&["arctan2"]).grad(Lines(&[("self", "where_cond(logical_and(eq(self, 0), eq(other, 0)), 0, grad * (other / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other)) / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other))"), ("other", "where_cond(logical_and(eq(self, 0), eq(other, 0)), 0, -grad * (self / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other)) / hypot(where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, self), other))")])).edges(Edges::Except(2, "second derivatives divide by squares of the distance, which may vanish")).spread(Spread::Pointwise),
    binary(
        "hypot",
        "hypot(x, y)",
        "Computes the hypotenuse, `sqrt(self² + other²)`.",
    )
    .dtype(Same, DTypes::FLOATS).grad(Lines(&[("self", "grad * (self / result)"), ("other", "grad * (other / result)")])).edges(Edges::Terms("the terms of a derivative cancel near its zero")).spread(Spread::Pointwise),
    binary(
        "logaddexp",
        "logaddexp(x, y)",
        "Computes the logarithm of the sum of two exponentials.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "grad * conj(sigmoid(where_cond(logical_and(isinf(self), eq(self, other)), 0, self - other)))"), ("other", "grad * conj(sigmoid(where_cond(logical_and(isinf(self), eq(self, other)), 0, other - self)))")])).edges(Edges::Terms("a derivative is computed from the rounded result and, where it vanishes, has the error of a derivative near one")).spread(Spread::Pointwise),
    binary(
        "xlogy",
        "xlogy(x, y)",
        "Computes `self * log(other)`, zero where `self` is zero.",
    )
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Positive).grad(Lines(&[("self", "where_cond(logical_and(eq(self, 0), le(other, 0)), 0, grad * log(where_cond(logical_and(eq(self, 0), le(other, 0)), 1, other)))"), ("other", "grad * self / where_cond(logical_and(eq(self, 0), eq(other, 0)), 1, other)")])).spread(Spread::Pointwise),
    float(
        "silu",
        "silu(x)",
        "Applies SiLU, `x * sigmoid(x)`.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Lines(&[("self", "if_real(grad * (sigmoid(self) + vanishing(self, sigmoid(self) * (1 - sigmoid(self)))), grad * conj(sigmoid(self) * (1 + self * (1 - sigmoid(self)))))")])).edges(Edges::Terms("a derivative is computed from the rounded result and, where it vanishes, has the error of a derivative near one; intermediate results are subnormal")).spread(Spread::Elementwise),
    float(
        "gelu",
        "gelu(x)",
        "Applies GELU, `x * Φ(x)`, where Φ is the standard normal distribution function.",
    )
    .signature("self, *, approximate: Word = none")
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Lines(&[("self", "grad * (ndtr(self) + 0.398_942_280_401_432_7 * vanishing(self, bell(self, 0.5)))")])).edges(Edges::Terms("the terms of a derivative cancel near its zero")).spread(Spread::Elementwise),
];

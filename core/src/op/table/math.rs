//! Elementwise mathematical functions.

use super::pointwise::{binary, float};
use crate::op::DTypeRule::{Float, Same};
use crate::op::{DTypes, Edges, Forms, Row, Samples, Spread};

/// A float function without a complex form.
const fn real(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    float(name, expr, doc).dtype(Float, DTypes::REAL)
}

pub(super) const ROWS: &[Row] = &[
    float(
        "sin",
        "sin(x)",
        "Computes the sine of each element, in radians.",
    ),
    float(
        "cos",
        "cos(x)",
        "Computes the cosine of each element, in radians.",
    ),
    float(
        "tan",
        "tan(x)",
        "Computes the tangent of each element, in radians.",
    ),
    float(
        "asin",
        "asin(x)",
        "Computes the inverse sine, between -π/2 and π/2.",
    )
    .aliases(&["arcsin"])
    .samples(Samples::Unit),
    float(
        "acos",
        "acos(x)",
        "Computes the inverse cosine, between 0 and π.",
    )
    .aliases(&["arccos"])
    .samples(Samples::Unit),
    float(
        "atan",
        "atan(x)",
        "Computes the inverse tangent, between -π/2 and π/2.",
    )
    .aliases(&["arctan"]),
    float("sinh", "sinh(x)", "Computes the hyperbolic sine."),
    float("cosh", "cosh(x)", "Computes the hyperbolic cosine."),
    float("asinh", "asinh(x)", "Computes the inverse hyperbolic sine.").aliases(&["arcsinh"]),
    float(
        "acosh",
        "acosh(x)",
        "Computes the inverse hyperbolic cosine of numbers of at least 1.",
    )
    .aliases(&["arccosh"])
    .samples(Samples::Positive),
    float(
        "atanh",
        "atanh(x)",
        "Computes the inverse hyperbolic tangent of numbers between -1 and 1.",
    )
    .aliases(&["arctanh"])
    .samples(Samples::Unit),
    float(
        "expm1",
        "expm1(x)",
        "Computes `exp(x) - 1`, accurate near zero.",
    ),
    float("exp2", "exp2(x)", "Computes `2^x`."),
    float(
        "log1p",
        "log1p(x)",
        "Computes the natural logarithm of `1 + x`, accurate near zero.",
    )
    .samples(Samples::Positive),
    float("log2", "log2(x)", "Computes the logarithm to base 2.").samples(Samples::Positive),
    float("log10", "log10(x)", "Computes the logarithm to base 10.").samples(Samples::Positive),
    float("reciprocal", "reciprocal(x)", "Computes the reciprocal.").samples(Samples::Positive),
    float(
        "rsqrt",
        "rsqrt(x)",
        "Computes the reciprocal of the square root.",
    )
    .samples(Samples::Positive),
    float(
        "sinc",
        "sinc(x)",
        "Computes `sin(πx) / (πx)`, and 1 at zero.",
    )
    .edges(Edges::Except(
        1,
        "a derivative below the normal numbers may be 0",
    )),
    real("deg2rad", "deg2rad(x)", "Converts degrees to radians.").spread(Spread::Linear),
    real("rad2deg", "rad2deg(x)", "Converts radians to degrees.").spread(Spread::Linear),
    real("erf", "erf(x)", "Computes the error function."),
    real(
        "erfc",
        "erfc(x)",
        "Computes the complementary error function, `1 - erf(x)`, accurate where `erf` \
         is close to 1.",
    ),
    real(
        "erfinv",
        "erfinv(x)",
        "Computes the inverse of the error function for numbers between -1 and 1.",
    )
    .samples(Samples::Unit),
    real(
        "lgamma",
        "lgamma(x)",
        "Computes the logarithm of the absolute value of the gamma function.",
    )
    .aliases(&["gammaln"])
    .samples(Samples::Positive)
    .edges(Edges::Except(
        0,
        "near a zero, the error is that of numbers near one",
    )),
    real(
        "digamma",
        "digamma(x)",
        "Computes the logarithmic derivative of the gamma function.",
    )
    .aliases(&["psi"])
    .samples(Samples::Positive),
    binary(
        "atan2",
        "atan2(x, y)",
        "Computes the angle of the point (x = `other`, y = `self`), between -π and π.",
    )
    .dtype(Float, DTypes::REAL)
    .aliases(&["arctan2"])
    .edges(Edges::Except(
        2,
        "second derivatives divide by squares of the distance, which may vanish",
    )),
    binary(
        "hypot",
        "hypot(x, y)",
        "Computes the hypotenuse, `sqrt(self² + other²)`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .edges(Edges::Terms(
        "the terms of a derivative cancel near its zero",
    )),
    binary(
        "logaddexp",
        "logaddexp(x, y)",
        "Computes the logarithm of the sum of two exponentials.",
    )
    .dtype(Same, DTypes::INEXACT)
    .forms(Forms::WITH_OUT)
    .edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    binary(
        "xlogy",
        "xlogy(x, y)",
        "Computes `self * log(other)`, zero where `self` is zero.",
    )
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Positive),
    float("silu", "silu(x)", "Applies SiLU, `x * sigmoid(x)`.")
        .dtype(Same, DTypes::INEXACT)
        .forms(Forms::PURE.and(Forms::IN_PLACE))
        .edges(Edges::Terms(
            "a derivative is computed from the rounded result and, where it vanishes, has \
             the error of a derivative near one; intermediate results are subnormal",
        )),
    float(
        "gelu",
        "gelu(x)",
        "Applies GELU, `x * Φ(x)`, where Φ is the standard normal distribution \
         function.",
    )
    .signature("self, *, approximate: Word = none")
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .edges(Edges::Terms(
        "the terms of a derivative cancel near its zero",
    )),
];

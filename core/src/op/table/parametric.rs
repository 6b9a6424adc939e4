//! Elementwise functions: with parameters, of special functions, and of two or three operands.

use super::pointwise::{binary, float, unary};
use crate::op::Class::{Binary, Compose, Ternary, Unary};
use crate::op::DTypeRule::{Bool, Double, Float, FloatBool, RealFloat, Same};
use crate::op::NameRule::{Keeps, Unifies};
use crate::op::{DTypes, Forms, Row, Samples};

/// A function of one real number.
const fn special(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    float(name, expr, doc)
        .dtype(Float, DTypes::REAL)
        .forms(Forms::WITH_OUT)
}

const fn test(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Bool, DTypes::REAL)
        .forms(Forms::WITH_OUT)
}

pub(super) const ROWS: &[Row] = &[
    test(
        "signbit",
        "signbit(x)",
        "Whether the sign bit is set; that of -0.0 is.",
    )
    .dtype(Bool, DTypes::ORDERED),
    test(
        "isposinf",
        "isposinf(x)",
        "Whether an element is infinite and positive.",
    ),
    test(
        "isneginf",
        "isneginf(x)",
        "Whether an element is infinite and negative.",
    ),
    test("isreal", "isreal(x)", "Whether the imaginary part is zero.")
        .dtype(Bool, DTypes::ALL)
        .forms(Forms::PURE),
    Row::new("positive", "self", Compose, Keeps, "The tensor itself.")
        .dtype(Same, DTypes::NUMBERS)
        .grad(&["grad"]),
    float(
        "angle",
        "angle(x)",
        "The angle from the positive real axis: 0 or π for real numbers.",
    )
    .dtype(RealFloat, DTypes::ALL)
    .forms(Forms::WITH_OUT),
    special(
        "erfcx",
        "erfcx(x)",
        "`erfc`, times exp(x²): large where that is too small.",
    )
    .grad(&["grad * (2 * x * result - 1.1283791670955126)"]),
    special("ndtr", "ndtr(x)", "The normal distribution function.")
        .grad(&["grad * 0.3989422804014327 * exp(-0.5 * x * x)"]),
    special(
        "ndtri",
        "ndtri(x)",
        "The inverse of the normal distribution function.",
    )
    .samples(Samples::Unit)
    .grad(&["grad * 2.5066282746310002 * exp(0.5 * result * result)"]),
    special(
        "log_ndtr",
        "log_ndtr(x)",
        "The logarithm of the normal distribution function.",
    )
    .grad(&["grad * 0.7978845608028654 / erfcx(x * -0.7071067811865476)"]),
    special(
        "entr",
        "entr(x)",
        "-x ln x; zero at zero, minus infinity below.",
    )
    .samples(Samples::Positive)
    .grad(&["grad * (-log(x) - 1)"]),
    special("i0", "i0(x)", "The modified Bessel function of order 0.")
        .forms(Forms::ALL)
        .grad(&["grad * i1(x)"]),
    special("i0e", "i0e(x)", "`i0`, times exp(-|x|).").grad(&["grad * (i1e(x) - sgn(x) * result)"]),
    special("i1", "i1(x)", "The modified Bessel function of order 1.")
        .grad(&["grad * (i0(x) - result / x)"]),
    special("i1e", "i1e(x)", "`i1`, times exp(-|x|).")
        .grad(&["grad * (i0e(x) - result * (sgn(x) + 1 / x))"]),
    float(
        "logit",
        "logit(x)",
        "The inverse of the logistic function; `eps` keeps from 0 and 1.",
    )
    .signature("self, eps: Scalar = None")
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Unit)
    .grad(&["grad / (x * (1 - x))"]),
    Row::new(
        "nan_to_num",
        "self, nan: Scalar = 0.0, posinf: Scalar = None, neginf: Scalar = None",
        Unary("nan_to_num(x, nan, posinf, neginf)"),
        Keeps,
        "Replaces NaN by zero, and infinities by the greatest and least number of the dtype.",
    )
    .forms(Forms::ALL)
    .grad(&["where(isfinite(x), grad, 0)"]),
    binary(
        "zeta",
        "zeta(x, y)",
        "The Hurwitz zeta function of order self at `other`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive),
    Row::new(
        "polygamma",
        "n: Scalar, self",
        Unary("polygamma(x, n)"),
        Keeps,
        "The derivative of order `n` of `digamma`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .samples(Samples::Positive)
    .grad(&["grad * polygamma(n + 1, x)"]),
    Row::new(
        "mvlgamma",
        "self, p: Int",
        Compose,
        Keeps,
        "The logarithm of the gamma function of `p` dimensions.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .aliases(&["multigammaln"]),
    binary(
        "logaddexp2",
        "logaddexp2(x, y)",
        "The logarithm to base 2 of the sum of two powers of 2.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .grad(&["grad * exp2(x - result)", "grad * exp2(y - result)"]),
    binary(
        "xlog1py",
        "xlog1py(x, y)",
        "`self * log(1 + other)`; zero where self is.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive)
    .grad(&["grad * log1p(y)", "grad * x / (y + 1)"]),
    binary(
        "copysign",
        "copysign(x, y)",
        "The magnitude of self with the sign of `other`.",
    )
    .dtype(Float, DTypes::REAL)
    .grad(&["grad * sgn(x) * sgn(y)", "0 * grad"]),
    binary(
        "nextafter",
        "nextafter(x, y)",
        "The next representable number towards `other`.",
    )
    .dtype(Same, DTypes::SINGLES),
    binary(
        "fmax",
        "fmax(x, y)",
        "The greater of two elements; of a number and NaN, the number.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(&[
        "where(x >= y | isnan(y), grad, 0)",
        "where(x >= y | isnan(y), 0, grad)",
    ]),
    binary(
        "fmin",
        "fmin(x, y)",
        "The smaller of two elements; of a number and NaN, the number.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(&[
        "where(x <= y | isnan(y), grad, 0)",
        "where(x <= y | isnan(y), 0, grad)",
    ]),
    binary(
        "heaviside",
        "heaviside(x, y)",
        "0 where negative, 1 where positive, `values` at zero.",
    )
    .signature("self, values: Operand")
    .dtype(Same, DTypes::REAL)
    .differs("dtypes promote"),
    binary("gcd", "gcd(x, y)", "The greatest common divisor.").dtype(Same, DTypes::INTEGERS),
    binary("lcm", "lcm(x, y)", "The least common multiple.").dtype(Same, DTypes::INTEGERS),
    binary("float_power", "pow(x, y)", "A power in double precision.")
        .signature("self, exponent: Operand")
        .dtype(Double, DTypes::ALL)
        .samples(Samples::Positive)
        .grad(&["grad * y * pow(x, y - 1)", "grad * result * log(x)"]),
    binary("ldexp", "mul(x, exp2(y))", "`self * 2^other`.")
        .dtype(Float, DTypes::ALL)
        .grad(&["grad * exp2(y)", "grad * result * 0.6931471805599453"]),
    binary("clamp_min", "maximum(x, y)", "Limits to at least `min`.")
        .signature("self, min: Operand")
        .dtype(Same, DTypes::ORDERED)
        .grad(&["where(x >= y, grad, 0)", "where(x < y, grad, 0)"]),
    binary("clamp_max", "minimum(x, y)", "Limits to at most `max`.")
        .signature("self, max: Operand")
        .dtype(Same, DTypes::ORDERED)
        .grad(&["where(x <= y, grad, 0)", "where(x > y, grad, 0)"]),
    Row::new(
        "isclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = False",
        Binary("isclose(x, y, rtol, atol)"),
        Unifies,
        "Whether elements differ by at most `atol` plus `rtol` times the other's magnitude.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .differs("dtypes promote"),
    Row::new(
        "allclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = False",
        Compose,
        crate::op::NameRule::None,
        "Whether all elements are close; false where names differ.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .differs("dtypes promote"),
    Row::new(
        "addcdiv",
        "self, tensor1, tensor2: Operand, *, value: Scalar = 1",
        Ternary("add(x, div(mul(value, y), z))"),
        Unifies,
        "Adds the quotient of two tensors, times `value`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .samples(Samples::NonZero)
    .grad(&["grad", "grad * value / z", "-grad * value * y / (z * z)"]),
    Row::new(
        "lerp",
        "self, end, weight: Operand",
        Ternary("lerp(x, y, z)"),
        Unifies,
        "Linear interpolation, `self + weight * (end - self)`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .grad(&["grad * (1 - z)", "grad * z", "grad * (y - x)"])
    .differs("dtypes promote"),
];

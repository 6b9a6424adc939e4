//! Elementwise operators with parameters, special functions, and functions of two or three operands.

use super::pointwise::{binary, float, unary};
use crate::op::Class::{Binary, Compose, Ternary, Unary};
use crate::op::DTypeRule::{Bool, Double, Float, FloatBool, RealFloat, Same};
use crate::op::Grad::{Constant, Lines, Never, Parts};
use crate::op::NameRule::{Keeps, Unifies};
use crate::op::{DTypes, Edges, Forms, Row, Samples, Spread};

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
        .grad(Constant)
}

pub(super) const ROWS: &[Row] = &[
    test(
        "signbit",
        "signbit(x)",
        "Returns whether the sign bit is set, as it is for -0.0.",
    )
    .dtype(Bool, DTypes::ORDERED).spread(Spread::Elementwise),
    test(
        "isposinf",
        "isposinf(x)",
        "Returns whether an element is infinite and positive.",
    ).spread(Spread::Elementwise),
    test(
        "isneginf",
        "isneginf(x)",
        "Returns whether an element is infinite and negative.",
    ).spread(Spread::Elementwise),
    test("isreal", "isreal(x)", "Returns whether the imaginary part is zero.")
        .dtype(Bool, DTypes::ALL)
        .forms(Forms::PURE).spread(Spread::Elementwise),
    Row::new("positive", "self", Compose, Keeps, "Returns the tensor itself.")
        .dtype(Same, DTypes::NUMBERS).grad(Lines(&[("self", "grad")])).spread(Spread::Linear),
    float(
        "angle",
        "angle(x)",
        "Computes the angle from the positive real axis: 0 or π for real numbers.",
    )
    .dtype(RealFloat, DTypes::ALL)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "where_cond(gt(abs(self), 0), grad * i * sgn(self) / where_cond(gt(abs(self), 0), abs(self), 1), 0)")])).spread(Spread::Elementwise),
    special(
        "erfcx",
        "erfcx(x)",
        "Computes `erfc(x) * exp(x²)`, which does not underflow where `erfc` does.",
    ).grad(Lines(&[("self", "grad * erfcx_nth(self, 1)")])).edges(Edges::Except(1, "derivatives of f64 are right to 12 digits")).spread(Spread::Elementwise),
    special("ndtr", "ndtr(x)", "Computes the normal distribution function.").grad(Lines(&[("self", "grad * 0.398_942_280_401_432_7 * bell(self, 0.5)")])).spread(Spread::Elementwise),
    special(
        "ndtri",
        "ndtri(x)",
        "Computes the inverse of the normal distribution function.",
    )
    .samples(Samples::Unit).grad(Lines(&[("self", "grad * 2.506_628_274_631_000_2 * exp(0.5 * result * result)")])).spread(Spread::Elementwise),
    special(
        "log_ndtr",
        "log_ndtr(x)",
        "Computes the logarithm of the normal distribution function.",
    ).grad(Lines(&[("self", "where_cond(gt(self, 0), grad * 0.398_942_280_401_432_7 * bell(self, 0.5) / ndtr(where_cond(gt(self, 0), self, 0)), grad * 0.797_884_560_802_865_4 / erfcx(where_cond(gt(self, 0), 0, self) * -0.707_106_781_186_547_6))")])).spread(Spread::Elementwise),
    special(
        "entr",
        "entr(x)",
        "Computes `-x * ln(x)`: zero at zero, minus infinity below.",
    )
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * (-log(self) - 1)")])).spread(Spread::Elementwise),
    special("i0", "i0(x)", "Computes the modified Bessel function of order 0.")
        .forms(Forms::ALL).grad(Lines(&[("self", "grad * i1(self)")])).spread(Spread::Elementwise),
    special("i0e", "i0e(x)", "Computes `i0(x) * exp(-abs(x))`.").grad(Lines(&[("self", "grad * i0e_nth(self, 1)")])).spread(Spread::Elementwise),
    special("i1", "i1(x)", "Computes the modified Bessel function of order 1.").grad(Lines(&[("self", "grad * i0_nth(self, 2)")])).spread(Spread::Elementwise),
    special("i1e", "i1e(x)", "Computes `i1(x) * exp(-abs(x))`.").grad(Lines(&[("self", "grad * i1e_nth(self, 1)")])).spread(Spread::Elementwise),
    float(
        "logit",
        "logit(x)",
        "Computes the inverse of the logistic function.",
    )
    .signature("self, eps: Scalar = None")
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Unit).grad(Lines(&[("self", "where_cond(isnan(result), result, grad / self + grad / (1 - self))")])).spread(Spread::Elementwise),
    Row::new(
        "nan_to_num",
        "self, nan: Scalar = 0.0, posinf: Scalar = None, neginf: Scalar = None",
        Unary("nan_to_num(x, nan, posinf, neginf)"),
        Keeps,
        "Replaces NaN by zero, and infinities by the greatest and least number of the dtype.",
    )
    .forms(Forms::ALL).grad(Lines(&[("self", "where_cond(isfinite(self), grad, 0)")])).spread(Spread::Elementwise),
    binary(
        "zeta",
        "zeta(x, y)",
        "Computes the Hurwitz zeta function of order `self` at `other`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive).grad(Lines(&[("self", "never(\"the order of the zeta function has no derivative in closed form\")"), ("other", "-grad * self * zeta(self + 1, other)")])).spread(Spread::Pointwise),
    Row::new(
        "polygamma",
        "n: Scalar, self",
        Unary("polygamma(x, n)"),
        Keeps,
        "Computes the derivative of order `n` of `digamma`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .samples(Samples::Positive).grad(Lines(&[("self", "grad * polygamma(n + 1, self)")])).spread(Spread::Elementwise),
    Row::new(
        "mvlgamma",
        "self, p: Int",
        Compose,
        Keeps,
        "Computes the logarithm of the gamma function of `p` dimensions.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .aliases(&["multigammaln"]).grad(Parts).spread(Spread::Elementwise),
    binary(
        "logaddexp2",
        "logaddexp2(x, y)",
        "Computes the logarithm to base 2 of the sum of two powers of 2.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "grad * sigmoid(0.693_147_180_559_945_3 * where_cond(logical_and(isinf(self), eq(self, other)), 0, self - other))"), ("other", "grad * sigmoid(0.693_147_180_559_945_3 * where_cond(logical_and(isinf(self), eq(self, other)), 0, other - self))")])).edges(Edges::Terms("a derivative is computed from the rounded result and, where it vanishes, has the error of a derivative near one")).spread(Spread::Pointwise),
    binary(
        "xlog1py",
        "xlog1py(x, y)",
        "Computes `self * log(1 + other)`, zero where `self` is zero.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive).grad(Lines(&[("self", "where_cond(logical_and(eq(self, 0), le(other, -1)), 0, grad * log1p(where_cond(logical_and(eq(self, 0), le(other, -1)), 0, other)))"), ("other", "grad * self / where_cond(logical_and(eq(self, 0), eq(other, -1)), 1, other + 1)")])).spread(Spread::Pointwise),
    binary(
        "copysign",
        "copysign(x, y)",
        "Returns the magnitude of `self` with the sign of `other`.",
    )
    .dtype(Float, DTypes::REAL).grad(Lines(&[("self", "grad * sgn(self) * sgn(result)"), ("other", "zero")])).spread(Spread::Pointwise),
    binary(
        "nextafter",
        "nextafter(x, y)",
        "Returns the next representable number towards `other`.",
    )
    .dtype(Same, DTypes::SINGLES).grad(Never("rounding steps have no gradient")).spread(Spread::Pointwise),
    binary(
        "fmax",
        "fmax(x, y)",
        "Returns the greater of two elements; if one is NaN, the other.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "where_cond(logical_or(ge(self, other), isnan(other)), grad, 0)"), ("other", "where_cond(logical_or(ge(self, other), isnan(other)), 0, grad)")])).spread(Spread::Pointwise),
    binary(
        "fmin",
        "fmin(x, y)",
        "Returns the smaller of two elements; if one is NaN, the other.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT).grad(Lines(&[("self", "where_cond(logical_or(le(self, other), isnan(other)), grad, 0)"), ("other", "where_cond(logical_or(le(self, other), isnan(other)), 0, grad)")])).spread(Spread::Pointwise),
    binary(
        "heaviside",
        "heaviside(x, y)",
        "Returns 0 for negative elements, 1 for positive ones and `values` at zero.",
    )
    .signature("self, values: Operand")
    .dtype(Same, DTypes::REAL)
    .grad(Lines(&[("self", "zero"), ("values", "where_cond(eq(self, 0), grad, 0)")])).differs("dtypes promote").spread(Spread::Pointwise),
    binary("gcd", "gcd(x, y)", "Computes the greatest common divisor.").dtype(Same, DTypes::INTEGERS).grad(Constant).spread(Spread::Pointwise),
    binary("lcm", "lcm(x, y)", "Computes the least common multiple.").dtype(Same, DTypes::INTEGERS).grad(Constant).spread(Spread::Pointwise),
    binary("float_power", "pow(x, y)", "Raises to the power of `exponent` in double precision.")
        .signature("self, exponent: Operand")
        .dtype(Double, DTypes::ALL)
        .samples(Samples::Positive).grad(Lines(&[("self", "where_cond(eq(exponent, 0), 0, grad * conj(exponent * pow(self, where_cond(eq(exponent, 0), 1, exponent) - 1)))"), ("exponent", "where_cond(logical_or(eq(result, 0), logical_and(eq(self, 0), eq(exponent, 0))), 0, grad * conj(result * log(where_cond(logical_or(eq(result, 0), logical_and(eq(self, 0), eq(exponent, 0))), 1, self))))")])).spread(Spread::Pointwise),
    binary("ldexp", "mul(x, exp2(y))", "Computes `self * 2^other`.")
        .dtype(Float, DTypes::ALL).grad(Lines(&[("self", "grad * conj(exp2(other))"), ("other", "grad * conj(result) * 0.693_147_180_559_945_3")])).edges(Edges::Except(0, "it multiplies by the power, which may be out of the range of the product")).spread(Spread::Pointwise),
    binary("clamp_min", "maximum(x, y)", "Clamps elements to at least `min`.")
        .signature("self, min: Operand")
        .dtype(Same, DTypes::ORDERED).grad(Lines(&[("self", "where_cond(ge(self, min), grad, 0)"), ("min", "where_cond(lt(self, min), grad, 0)")])).spread(Spread::Pointwise),
    binary("clamp_max", "minimum(x, y)", "Clamps elements to at most `max`.")
        .signature("self, max: Operand")
        .dtype(Same, DTypes::ORDERED).grad(Lines(&[("self", "where_cond(le(self, max), grad, 0)"), ("max", "where_cond(gt(self, max), grad, 0)")])).spread(Spread::Pointwise),
    Row::new(
        "isclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = False",
        Binary("isclose(x, y, rtol, atol)"),
        Unifies,
        "Returns whether elements differ by at most `atol` plus `rtol` times the other's magnitude.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .grad(Constant).differs("dtypes promote").spread(Spread::Pointwise),
    Row::new(
        "allclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = False",
        Compose,
        crate::op::NameRule::None,
        "Returns whether all elements are close; false if names differ.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .grad(Constant).differs("dtypes promote").spread(Spread::Whole),
    Row::new(
        "addcdiv",
        "self, tensor1, tensor2: Operand, *, value: Scalar = 1",
        Ternary("add(x, div(mul(value, y), z))"),
        Unifies,
        "Adds `value` times the quotient of two tensors.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .samples(Samples::NonZero).grad(Lines(&[("self", "grad"), ("tensor1", "grad * conj(value / tensor2)"), ("tensor2", "-grad * conj(value * tensor1 / tensor2 / tensor2)")])).spread(Spread::Pointwise),
    Row::new(
        "lerp",
        "self, end, weight: Operand",
        Ternary("lerp(x, y, z)"),
        Unifies,
        "Interpolates linearly: `self + weight * (end - self)`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .grad(Lines(&[("self", "grad * conj(1 - weight)"), ("end", "grad * conj(weight)"), ("weight", "grad * conj(end - self)")])).differs("dtypes promote").spread(Spread::Pointwise),
];

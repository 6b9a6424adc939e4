//! Elementwise operators with parameters, special functions, and functions of two or three operands.

use super::pointwise::{binary, float, unary};
use crate::op::Class::{Binary, Compose, Ternary, Unary};
use crate::op::DTypeRule::{Bool, Double, Float, FloatBool, RealFloat, Same};
use crate::op::Grad::{Constant, Never, Parts};
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
    .dtype(Bool, DTypes::ORDERED),
    test(
        "isposinf",
        "isposinf(x)",
        "Returns whether an element is infinite and positive.",
    ),
    test(
        "isneginf",
        "isneginf(x)",
        "Returns whether an element is infinite and negative.",
    ),
    test(
        "isreal",
        "isreal(x)",
        "Returns whether the imaginary part is zero.",
    )
    .dtype(Bool, DTypes::ALL)
    .forms(Forms::PURE),
    Row::new(
        "positive",
        "self",
        Compose,
        Keeps,
        "Returns the tensor itself.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .spread(Spread::Linear),
    float(
        "angle",
        "angle(x)",
        "Computes the angle from the positive real axis: 0 or π for real numbers.",
    )
    .dtype(RealFloat, DTypes::ALL)
    .forms(Forms::WITH_OUT),
    special(
        "erfcx",
        "erfcx(x)",
        "Computes `erfc(x) * exp(x²)`, which does not underflow where `erfc` does.",
    )
    .edges(Edges::Except(
        1,
        "derivatives of f64 are right to 12 digits",
    )),
    special(
        "ndtr",
        "ndtr(x)",
        "Computes the normal distribution function.",
    ),
    special(
        "ndtri",
        "ndtri(x)",
        "Computes the inverse of the normal distribution function.",
    )
    .samples(Samples::Unit),
    special(
        "log_ndtr",
        "log_ndtr(x)",
        "Computes the logarithm of the normal distribution function.",
    ),
    special(
        "entr",
        "entr(x)",
        "Computes `-x * ln(x)`: zero at zero, minus infinity below.",
    )
    .samples(Samples::Positive),
    special(
        "i0",
        "i0(x)",
        "Computes the modified Bessel function of order 0.",
    )
    .forms(Forms::ALL),
    special("i0e", "i0e(x)", "Computes `i0(x) * exp(-abs(x))`."),
    special(
        "i1",
        "i1(x)",
        "Computes the modified Bessel function of order 1.",
    ),
    special("i1e", "i1e(x)", "Computes `i1(x) * exp(-abs(x))`."),
    float(
        "logit",
        "logit(x)",
        "Computes the inverse of the logistic function.",
    )
    .signature("self, eps: Scalar = None")
    .dtype(Float, DTypes::REAL)
    .samples(Samples::Unit),
    Row::new(
        "nan_to_num",
        "self, nan: Scalar = 0.0, posinf: Scalar = None, neginf: Scalar = None",
        Unary("nan_to_num(x, nan, posinf, neginf)"),
        Keeps,
        "Replaces NaN by zero, and infinities by the greatest and least number of the \
         dtype.",
    )
    .forms(Forms::ALL),
    binary(
        "zeta",
        "zeta(x, y)",
        "Computes the Hurwitz zeta function of order `self` at `other`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive),
    Row::new(
        "polygamma",
        "n: Scalar, self",
        Unary("polygamma(x, n)"),
        Keeps,
        "Computes the derivative of order `n` of `digamma`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .samples(Samples::Positive),
    Row::new(
        "mvlgamma",
        "self, p: Int",
        Compose,
        Keeps,
        "Computes the logarithm of the gamma function of `p` dimensions.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::ALL)
    .aliases(&["multigammaln"])
    .grad(Parts)
    .spread(Spread::Elementwise),
    binary(
        "logaddexp2",
        "logaddexp2(x, y)",
        "Computes the logarithm to base 2 of the sum of two powers of 2.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    binary(
        "xlog1py",
        "xlog1py(x, y)",
        "Computes `self * log(1 + other)`, zero where `self` is zero.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .samples(Samples::Positive),
    binary(
        "copysign",
        "copysign(x, y)",
        "Returns the magnitude of `self` with the sign of `other`.",
    )
    .dtype(Float, DTypes::REAL),
    binary(
        "nextafter",
        "nextafter(x, y)",
        "Returns the next representable number towards `other`.",
    )
    .dtype(Same, DTypes::SINGLES)
    .grad(Never("rounding steps have no gradient")),
    binary(
        "fmax",
        "fmax(x, y)",
        "Returns the greater of two elements; if one is NaN, the other.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    binary(
        "fmin",
        "fmin(x, y)",
        "Returns the smaller of two elements; if one is NaN, the other.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    binary(
        "heaviside",
        "heaviside(x, y)",
        "Returns 0 for negative elements, 1 for positive ones and `values` at zero.",
    )
    .signature("self, values: Operand")
    .dtype(Same, DTypes::REAL)
    .differs("dtypes promote"),
    binary("gcd", "gcd(x, y)", "Computes the greatest common divisor.")
        .dtype(Same, DTypes::INTEGERS)
        .grad(Constant),
    binary("lcm", "lcm(x, y)", "Computes the least common multiple.")
        .dtype(Same, DTypes::INTEGERS)
        .grad(Constant),
    binary(
        "float_power",
        "pow(x, y)",
        "Raises to the power of `exponent` in double precision.",
    )
    .signature("self, exponent: Operand")
    .dtype(Double, DTypes::ALL)
    .samples(Samples::Positive),
    binary("ldexp", "mul(x, exp2(y))", "Computes `self * 2^other`.")
        .dtype(Float, DTypes::ALL)
        .edges(Edges::Except(
            0,
            "it multiplies by the power, which may be out of the range of the product",
        )),
    binary(
        "clamp_min",
        "maximum(x, y)",
        "Clamps elements to at least `min`.",
    )
    .signature("self, min: Operand")
    .dtype(Same, DTypes::ORDERED),
    binary(
        "clamp_max",
        "minimum(x, y)",
        "Clamps elements to at most `max`.",
    )
    .signature("self, max: Operand")
    .dtype(Same, DTypes::ORDERED),
    Row::new(
        "isclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = \
         False",
        Binary("isclose(x, y, rtol, atol)"),
        Unifies,
        "Returns whether elements differ by at most `atol` plus `rtol` times the \
         other's magnitude.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .grad(Constant)
    .differs("dtypes promote"),
    Row::new(
        "allclose",
        "self, other, rtol: Scalar = 1e-05, atol: Scalar = 1e-08, equal_nan: Bool = \
         False",
        Compose,
        crate::op::NameRule::None,
        "Returns whether all elements are close; false if names differ.",
    )
    .dtype(FloatBool, DTypes::ALL)
    .grad(Constant)
    .differs("dtypes promote")
    .spread(Spread::Whole),
    Row::new(
        "addcdiv",
        "self, tensor1, tensor2: Operand, *, value: Scalar = 1",
        Ternary("add(x, div(mul(value, y), z))"),
        Unifies,
        "Adds `value` times the quotient of two tensors.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .samples(Samples::NonZero),
    Row::new(
        "lerp",
        "self, end, weight: Operand",
        Ternary("lerp(x, y, z)"),
        Unifies,
        "Interpolates linearly: `self + weight * (end - self)`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .differs("dtypes promote"),
];

//! Elementwise operators.

use crate::op::Class::{Binary, Ternary, Unary};
use crate::op::DTypeRule::{Bool, Float, Real, Same};
use crate::op::NameRule::{Keeps, Unifies};
use crate::op::{DTypes, Forms, Row, Samples};

pub(super) const fn unary(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    Row::new(name, "self", Unary(expr), Keeps, doc).forms(Forms::ALL)
}

pub(super) const fn float(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc).dtype(Float, DTypes::ALL)
}

pub(super) const fn binary(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    Row::new(name, "self, other: Operand", Binary(expr), Unifies, doc).forms(Forms::ALL)
}

pub(super) const fn compare(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc).dtype(Bool, DTypes::ALL)
}

pub(super) const ROWS: &[Row] = &[
    binary(
        "add",
        "add(x, y)",
        "Adds, with `other` multiplied by `alpha`.",
    )
    .signature("self, other: Operand, *, alpha: Scalar = 1")
    .grad(&["grad", "grad * alpha"]),
    binary(
        "sub",
        "sub(x, y)",
        "Subtracts, with `other` multiplied by `alpha`.",
    )
    .signature("self, other: Operand, *, alpha: Scalar = 1")
    .dtype(Same, DTypes::NUMBERS)
    .aliases(&["subtract"])
    .grad(&["grad", "-grad * alpha"]),
    binary("mul", "mul(x, y)", "Multiplies.")
        .aliases(&["multiply"])
        .grad(&["grad * y", "grad * x"]),
    binary(
        "div",
        "div(x, y)",
        "Divides; integers give a float, unless the quotient is rounded.",
    )
    .signature("self, other: Operand, *, rounding_mode: Word = None")
    .dtype(Float, DTypes::ALL)
    .aliases(&["true_divide", "divide"])
    .samples(Samples::NonZero)
    .grad(&["grad / y", "-grad * result / y"]),
    binary("pow", "pow(x, y)", "Raises to the power of `exponent`.")
        .signature("self, exponent: Operand")
        .dtype(Same, DTypes::NUMBERS)
        .samples(Samples::Positive)
        .grad(&["grad * y * pow(x, y - 1)", "grad * result * log(x)"]),
    unary("neg", "neg(x)", "The negative.")
        .dtype(Same, DTypes::NUMBERS)
        .aliases(&["negative"])
        .grad(&["-grad"]),
    unary(
        "abs",
        "abs(x)",
        "The absolute value; of a complex number, its magnitude.",
    )
    .dtype(Real, DTypes::NUMBERS)
    .aliases(&["absolute"])
    .grad(&["grad * sgn(x)"]),
    float("exp", "exp(x)", "*e* to the power of each element.").grad(&["grad * result"]),
    float("log", "log(x)", "The natural logarithm.")
        .samples(Samples::Positive)
        .grad(&["grad / x"]),
    float("sqrt", "sqrt(x)", "The square root.")
        .samples(Samples::Positive)
        .grad(&["grad / (2 * result)"]),
    float("tanh", "tanh(x)", "The hyperbolic tangent.").grad(&["grad * (1 - result * result)"]),
    float(
        "sigmoid",
        "sigmoid(x)",
        "The logistic function, 1 / (1 + exp(-x)).",
    )
    .aliases(&["expit"])
    .grad(&["grad * result * (1 - result)"]),
    unary("relu", "relu(x)", "Zero where negative.")
        .dtype(Same, DTypes::ORDERED)
        .grad(&["where(result > 0, grad, 0)"]),
    Row::new(
        "clamp",
        "self, min: Operand = None, max: Operand = None",
        Ternary("clamp(x, y, z)"),
        Unifies,
        "Limits to at least `min` and at most `max`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::ORDERED)
    .aliases(&["clip"])
    .grad(&["where(x >= y & x <= z, grad, 0)"]),
    Row::new(
        "addcmul",
        "self, tensor1, tensor2: Operand, *, value: Scalar = 1",
        Ternary("add(x, mul(y, z))"),
        Unifies,
        "Adds the product of two tensors, times `value`.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .forms(Forms::ALL)
    .grad(&["grad", "grad * z * value", "grad * y * value"]),
    compare("eq", "eq(x, y)", "Whether elements are equal."),
    compare("ne", "ne(x, y)", "Whether elements differ.").aliases(&["not_equal"]),
    compare("lt", "lt(x, y)", "Whether elements of self are smaller.")
        .dtype(Bool, DTypes::REAL)
        .aliases(&["less"]),
    compare(
        "le",
        "le(x, y)",
        "Whether elements of self are smaller or equal.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["less_equal"]),
    compare("gt", "gt(x, y)", "Whether elements of self are greater.")
        .dtype(Bool, DTypes::REAL)
        .aliases(&["greater"]),
    compare(
        "ge",
        "ge(x, y)",
        "Whether elements of self are greater or equal.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["greater_equal"]),
    compare(
        "logical_and",
        "logical_and(x, y)",
        "Whether both elements differ from zero.",
    ),
    unary(
        "bitwise_not",
        "bitwise_not(x)",
        "Bitwise NOT; of bool, logical NOT.",
    )
    .dtype(Same, DTypes::INTEGRAL),
    Row::new(
        "where",
        "condition, self: Operand, other: Operand",
        Ternary("select(x, y, z)"),
        Unifies,
        "Elements of self where `condition` holds, of `other` elsewhere.",
    )
    .forms(Forms::WITH_OUT)
    .grad(&["", "where(x, grad, 0)", "where(x, 0, grad)"])
    .differs("names go through; in Rust, a method of the condition: `where_cond`"),
    Row::new(
        "masked_fill",
        "self, mask, value: Operand",
        Ternary("select(y, z, x)"),
        crate::op::NameRule::Special,
        "Writes `value` where `mask` holds.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(&["where(y, 0, grad)", "", "sum(where(y, grad, 0))"]),
];

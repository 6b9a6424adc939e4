//! Elementwise operators.

use crate::op::Class::{Binary, Ternary, Unary};
use crate::op::DTypeRule::{Bool, Float, Real, Same};
use crate::op::Grad::Constant;
use crate::op::NameRule::{Keeps, Unifies};
use crate::op::{DTypes, Edges, Forms, Row, Samples, Spread};

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
    binary(name, expr, doc)
        .dtype(Bool, DTypes::ALL)
        .grad(Constant)
}

pub(super) const ROWS: &[Row] = &[
    binary("add", "add(x, y)", "Adds `other`.")
        .signature("self, other: Operand, *, alpha: Scalar = 1")
        .spread(Spread::SumOfTwo),
    binary("sub", "sub(x, y)", "Subtracts `other`.")
        .signature("self, other: Operand, *, alpha: Scalar = 1")
        .dtype(Same, DTypes::NUMBERS)
        .aliases(&["subtract"])
        .spread(Spread::SumOfTwo),
    binary("mul", "mul(x, y)", "Multiplies by `other`.")
        .aliases(&["multiply"])
        .spread(Spread::ProductOfTwo),
    binary(
        "div",
        "div(x, y)",
        "Divides by `other`; integers give a float.",
    )
    .signature("self, other: Operand, *, rounding_mode: Word = None")
    .dtype(Float, DTypes::ALL)
    .aliases(&["true_divide", "divide"])
    .samples(Samples::NonZero)
    .spread(Spread::QuotientOfTwo),
    binary("pow", "pow(x, y)", "Raises to the power of `exponent`.")
        .signature("self, exponent: Operand")
        .dtype(Same, DTypes::NUMBERS)
        .samples(Samples::Positive)
        .edges(Edges::Except(
            2,
            "the exponent less one is rounded; second derivatives overflow if a power two \
             lower does, and are 0 at exponent 0",
        )),
    unary("neg", "neg(x)", "Negates each element.")
        .dtype(Same, DTypes::NUMBERS)
        .aliases(&["negative"])
        .spread(Spread::Linear),
    unary(
        "abs",
        "abs(x)",
        "Computes the absolute value; for a complex number, its magnitude.",
    )
    .dtype(Real, DTypes::NUMBERS)
    .aliases(&["absolute"]),
    float(
        "exp",
        "exp(x)",
        "Computes *e* to the power of each element.",
    ),
    float("log", "log(x)", "Computes the natural logarithm.").samples(Samples::Positive),
    float("sqrt", "sqrt(x)", "Computes the square root.").samples(Samples::Positive),
    float("tanh", "tanh(x)", "Computes the hyperbolic tangent.").edges(Edges::Except(
        2,
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    float(
        "sigmoid",
        "sigmoid(x)",
        "Computes the logistic function, `1 / (1 + exp(-x))`.",
    )
    .aliases(&["expit"])
    .edges(Edges::Except(
        2,
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    unary("relu", "relu(x)", "Replaces negative elements by zero.").dtype(Same, DTypes::ORDERED),
    Row::new(
        "clamp",
        "self, min: Operand = None, max: Operand = None",
        Ternary("clamp(x, y, z)"),
        Unifies,
        "Clamps elements to between `min` and `max`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::ORDERED)
    .aliases(&["clip"]),
    Row::new(
        "addcmul",
        "self, tensor1, tensor2: Operand, *, value: Scalar = 1",
        Ternary("add(x, mul(y, z))"),
        Unifies,
        "Adds `value` times the product of two tensors.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .forms(Forms::ALL),
    compare("eq", "eq(x, y)", "Returns whether elements are equal."),
    compare("ne", "ne(x, y)", "Returns whether elements differ.").aliases(&["not_equal"]),
    compare(
        "lt",
        "lt(x, y)",
        "Returns whether elements of `self` are less than those of `other`.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["less"]),
    compare(
        "le",
        "le(x, y)",
        "Returns whether elements of `self` are less than or equal to those of `other`.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["less_equal"]),
    compare(
        "gt",
        "gt(x, y)",
        "Returns whether elements of `self` are greater than those of `other`.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["greater"]),
    compare(
        "ge",
        "ge(x, y)",
        "Returns whether elements of `self` are greater than or equal to those of \
         `other`.",
    )
    .dtype(Bool, DTypes::REAL)
    .aliases(&["greater_equal"]),
    compare(
        "logical_and",
        "logical_and(x, y)",
        "Returns whether both elements differ from zero.",
    ),
    unary(
        "bitwise_not",
        "bitwise_not(x)",
        "Computes the bitwise NOT; for bool, the logical NOT.",
    )
    .dtype(Same, DTypes::INTEGRAL)
    .grad(Constant),
    Row::new(
        "where",
        "condition, self: Operand, other: Operand",
        Ternary("select(x, y, z)"),
        Unifies,
        "Selects elements of `self` where `condition` is true, of `other` elsewhere.",
    )
    .forms(Forms::WITH_OUT)
    .differs("names propagate; in Rust, a method of the condition: `where_cond`"),
    Row::new(
        "masked_fill",
        "self, mask, value: Operand",
        Ternary("select(y, z, x)"),
        crate::op::NameRule::Special,
        "Writes `value` where `mask` is true.",
    )
    .forms(Forms::PURE.and(Forms::IN_PLACE)),
];

//! Elementwise rounding, division with a rest, signs, logic and bits.

use super::pointwise::{binary, compare, unary};
use crate::op::DTypeRule::{Bool, Same};
use crate::op::{DTypes, Forms, Row, Samples};

/// Integers pass unchanged.
const fn rounding(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Same, DTypes::ORDERED)
        .grad(&["0 * grad"])
}

/// Zero divisors of integers are refused.
const fn division(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc)
        .dtype(Same, DTypes::ORDERED)
        .samples(Samples::NonZero)
}

const fn test(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Bool, DTypes::ALL)
        .forms(Forms::PURE)
}

const fn bits(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc).dtype(Same, DTypes::INTEGRAL)
}

pub(super) const ROWS: &[Row] = &[
    rounding("ceil", "ceil(x)", "The next whole number above."),
    rounding("floor", "floor(x)", "The next whole number below."),
    rounding(
        "round",
        "round(x)",
        "The nearest whole number, or multiple of 10 to the power of -`decimals`; halves go to the even one.",
    )
    .signature("self, *, decimals: Int = 0"),
    rounding("trunc", "trunc(x)", "The next whole number towards zero.").aliases(&["fix"]),
    unary(
        "frac",
        "frac(x)",
        "The part behind the point, with the element's sign.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(&["grad"]),
    unary("sign", "sgn(x)", "-1, 0 or 1; 0 for NaN.")
        .dtype(Same, DTypes::REAL)
        .grad(&["0 * grad"]),
    unary(
        "sgn",
        "sgn(x)",
        "The sign; of a complex number, the number divided by its magnitude.",
    ),
    unary("square", "mul(x, x)", "Each element times itself.")
        .dtype(Same, DTypes::NUMBERS)
        .grad(&["2 * grad * x"]),
    division(
        "floor_divide",
        "floor_divide(x, y)",
        "The quotient, rounded down.",
    ),
    division(
        "fmod",
        "fmod(x, y)",
        "What division leaves, with the sign of self.",
    )
    .grad(&["grad", "-grad * trunc(x / y)"]),
    division(
        "remainder",
        "remainder(x, y)",
        "What division leaves, with the sign of `other`.",
    )
    .grad(&["grad", "-grad * floor(x / y)"]),
    binary(
        "maximum",
        "maximum(x, y)",
        "The greater of two elements; NaN when either is.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(&["where(x >= y, grad, 0)", "where(y > x, grad, 0)"]),
    binary(
        "minimum",
        "minimum(x, y)",
        "The smaller of two elements; NaN when either is.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(&["where(x <= y, grad, 0)", "where(y < x, grad, 0)"]),
    test(
        "isnan",
        "isnan(x)",
        "Whether an element, or a part of it, is NaN.",
    ),
    test(
        "isinf",
        "isinf(x)",
        "Whether an element, or a part of it, is infinite.",
    ),
    test(
        "isfinite",
        "isfinite(x)",
        "Whether an element is neither infinite nor NaN.",
    ),
    unary(
        "logical_not",
        "logical_not(x)",
        "Whether an element is zero.",
    )
    .dtype(Bool, DTypes::ALL),
    compare(
        "logical_or",
        "logical_or(x, y)",
        "Whether either element differs from zero.",
    ),
    compare(
        "logical_xor",
        "logical_xor(x, y)",
        "Whether one of two elements differs from zero.",
    ),
    bits(
        "bitwise_and",
        "bitwise_and(x, y)",
        "Bits set in both; of bool, whether both hold.",
    ),
    bits(
        "bitwise_or",
        "bitwise_or(x, y)",
        "Bits set in either; of bool, whether either holds.",
    ),
    bits(
        "bitwise_xor",
        "bitwise_xor(x, y)",
        "Bits set in one; of bool, whether one holds.",
    ),
    bits(
        "bitwise_left_shift",
        "bitwise_left_shift(x, y)",
        "Bits moved up by `other`.",
    )
    .dtype(Same, DTypes::INTEGERS),
    bits(
        "bitwise_right_shift",
        "bitwise_right_shift(x, y)",
        "Bits moved down by `other`, the sign staying.",
    )
    .dtype(Same, DTypes::INTEGERS),
];

//! Elementwise rounding, division with a remainder, signs, logic and bits.

use super::pointwise::{binary, compare, unary};
use crate::op::DTypeRule::{Bool, Same};
use crate::op::Grad::Constant;
use crate::op::{DTypes, Forms, Row, Samples};

/// A rounding operator, which leaves integers unchanged.
const fn rounding(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Same, DTypes::ORDERED)
        .grad(Constant)
}

/// A division that refuses integer divisors of zero.
const fn division(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc)
        .dtype(Same, DTypes::ORDERED)
        .samples(Samples::NonZero)
}

const fn test(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Bool, DTypes::ALL)
        .forms(Forms::PURE)
        .grad(Constant)
}

const fn bits(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc)
        .dtype(Same, DTypes::INTEGRAL)
        .grad(Constant)
}

pub(super) const ROWS: &[Row] = &[
    rounding("ceil", "ceil(x)", "Rounds up to a whole number."),
    rounding("floor", "floor(x)", "Rounds down to a whole number."),
    rounding(
        "round",
        "round(x)",
        "Rounds to the nearest whole number, halves to even.",
    )
    .signature("self, *, decimals: Int = 0"),
    rounding(
        "trunc",
        "trunc(x)",
        "Rounds towards zero to a whole number.",
    )
    .aliases(&["fix"]),
    unary(
        "frac",
        "frac(x)",
        "Returns the fractional part, with the sign of the element.",
    )
    .dtype(Same, DTypes::FLOATS),
    unary("sign", "sgn(x)", "Returns the sign: -1, 0 or 1; 0 for NaN.")
        .dtype(Same, DTypes::REAL)
        .grad(Constant),
    unary(
        "sgn",
        "sgn(x)",
        "Returns the sign; for a complex number, the number divided by its magnitude.",
    ),
    unary("square", "mul(x, x)", "Squares each element.").dtype(Same, DTypes::NUMBERS),
    division(
        "floor_divide",
        "floor_divide(x, y)",
        "Divides and rounds down.",
    )
    .grad(Constant),
    division(
        "fmod",
        "fmod(x, y)",
        "Computes the remainder of division, with the sign of `self`, like `fmod` in C.",
    ),
    division(
        "remainder",
        "remainder(x, y)",
        "Computes the remainder of division, with the sign of `other`, like `%` in \
         Python.",
    ),
    binary(
        "maximum",
        "maximum(x, y)",
        "Returns the greater of two elements; NaN if either is NaN.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    binary(
        "minimum",
        "minimum(x, y)",
        "Returns the smaller of two elements; NaN if either is NaN.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    test(
        "isnan",
        "isnan(x)",
        "Returns whether an element, or a part of a complex one, is NaN.",
    ),
    test(
        "isinf",
        "isinf(x)",
        "Returns whether an element, or a part of a complex one, is infinite.",
    ),
    test(
        "isfinite",
        "isfinite(x)",
        "Returns whether an element is neither infinite nor NaN.",
    ),
    unary(
        "logical_not",
        "logical_not(x)",
        "Returns whether an element is zero.",
    )
    .dtype(Bool, DTypes::ALL)
    .grad(Constant),
    compare(
        "logical_or",
        "logical_or(x, y)",
        "Returns whether either element differs from zero.",
    ),
    compare(
        "logical_xor",
        "logical_xor(x, y)",
        "Returns whether exactly one of two elements differs from zero.",
    ),
    bits(
        "bitwise_and",
        "bitwise_and(x, y)",
        "Computes the bitwise AND; for bool, the logical AND.",
    ),
    bits(
        "bitwise_or",
        "bitwise_or(x, y)",
        "Computes the bitwise OR; for bool, the logical OR.",
    ),
    bits(
        "bitwise_xor",
        "bitwise_xor(x, y)",
        "Computes the bitwise XOR; for bool, the logical XOR.",
    ),
    bits(
        "bitwise_left_shift",
        "bitwise_left_shift(x, y)",
        "Shifts left by `other` bits.",
    )
    .dtype(Same, DTypes::INTEGERS),
    bits(
        "bitwise_right_shift",
        "bitwise_right_shift(x, y)",
        "Shifts right by `other` bits, arithmetically.",
    )
    .dtype(Same, DTypes::INTEGERS),
];

//! Elementwise rounding, division with a remainder, signs, logic and bits.

use super::pointwise::{binary, compare, unary};
use crate::op::DTypeRule::{Bool, Same};
use crate::op::Grad::{Constant, Lines};
use crate::op::{DTypes, Forms, Row, Samples, Spread};

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
    rounding("ceil", "ceil(x)", "Rounds up to a whole number.").spread(Spread::Elementwise),
    rounding("floor", "floor(x)", "Rounds down to a whole number.").spread(Spread::Elementwise),
    rounding(
        "round",
        "round(x)",
        "Rounds to the nearest whole number, halves to even.",
    )
    .signature("self, *, decimals: Int = 0")
    .spread(Spread::Elementwise),
    rounding(
        "trunc",
        "trunc(x)",
        "Rounds towards zero to a whole number.",
    )
    .aliases(&["fix"])
    .spread(Spread::Elementwise),
    unary(
        "frac",
        "frac(x)",
        "Returns the fractional part, with the sign of the element.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(Lines(&[("self", "grad")]))
    .spread(Spread::Elementwise),
    unary("sign", "sgn(x)", "Returns the sign: -1, 0 or 1; 0 for NaN.")
        .dtype(Same, DTypes::REAL)
        .grad(Constant)
        .spread(Spread::Elementwise),
    unary(
        "sgn",
        "sgn(x)",
        "Returns the sign; for a complex number, the number divided by its magnitude.",
    )
    .grad(Lines(&[(
        "self",
        "if_real(where_cond(isnan(self), grad, 0), where_cond(eq(self, 0), 0, (grad - real(grad * conj(result)) * result) / abs(where_cond(eq(self, 0), 1, self))))",
    )]))
    .spread(Spread::Elementwise),
    unary("square", "mul(x, x)", "Squares each element.")
        .dtype(Same, DTypes::NUMBERS)
        .grad(Lines(&[("self", "2 * grad * conj(self)")]))
        .spread(Spread::Elementwise),
    division(
        "floor_divide",
        "floor_divide(x, y)",
        "Divides and rounds down.",
    )
    .grad(Constant)
    .spread(Spread::Pointwise),
    division(
        "fmod",
        "fmod(x, y)",
        "Computes the remainder of division, with the sign of `self`, like `fmod` in C.",
    )
    .grad(Lines(&[
        ("self", "grad"),
        ("other", "-grad * div_trunc(self, other)"),
    ]))
    .spread(Spread::Pointwise),
    division(
        "remainder",
        "remainder(x, y)",
        "Computes the remainder of division, with the sign of `other`, like `%` in Python.",
    )
    .grad(Lines(&[
        ("self", "grad"),
        ("other", "-grad * floor_divide(self, other)"),
    ]))
    .spread(Spread::Pointwise),
    binary(
        "maximum",
        "maximum(x, y)",
        "Returns the greater of two elements; NaN if either is NaN.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(Lines(&[
        (
            "self",
            "where_cond(lt(self, other), 0, where_cond(eq(self, other), grad / 2, grad))",
        ),
        (
            "other",
            "where_cond(lt(other, self), 0, where_cond(eq(self, other), grad / 2, grad))",
        ),
    ]))
    .spread(Spread::Pointwise),
    binary(
        "minimum",
        "minimum(x, y)",
        "Returns the smaller of two elements; NaN if either is NaN.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT)
    .grad(Lines(&[
        (
            "self",
            "where_cond(gt(self, other), 0, where_cond(eq(self, other), grad / 2, grad))",
        ),
        (
            "other",
            "where_cond(gt(other, self), 0, where_cond(eq(self, other), grad / 2, grad))",
        ),
    ]))
    .spread(Spread::Pointwise),
    test(
        "isnan",
        "isnan(x)",
        "Returns whether an element, or a part of a complex one, is NaN.",
    )
    .spread(Spread::Elementwise),
    test(
        "isinf",
        "isinf(x)",
        "Returns whether an element, or a part of a complex one, is infinite.",
    )
    .spread(Spread::Elementwise),
    test(
        "isfinite",
        "isfinite(x)",
        "Returns whether an element is neither infinite nor NaN.",
    )
    .spread(Spread::Elementwise),
    unary(
        "logical_not",
        "logical_not(x)",
        "Returns whether an element is zero.",
    )
    .dtype(Bool, DTypes::ALL)
    .grad(Constant)
    .spread(Spread::Elementwise),
    compare(
        "logical_or",
        "logical_or(x, y)",
        "Returns whether either element differs from zero.",
    )
    .spread(Spread::Pointwise),
    compare(
        "logical_xor",
        "logical_xor(x, y)",
        "Returns whether exactly one of two elements differs from zero.",
    )
    .spread(Spread::Pointwise),
    bits(
        "bitwise_and",
        "bitwise_and(x, y)",
        "Computes the bitwise AND; for bool, the logical AND.",
    )
    .spread(Spread::Pointwise),
    bits(
        "bitwise_or",
        "bitwise_or(x, y)",
        "Computes the bitwise OR; for bool, the logical OR.",
    )
    .spread(Spread::Pointwise),
    bits(
        "bitwise_xor",
        "bitwise_xor(x, y)",
        "Computes the bitwise XOR; for bool, the logical XOR.",
    )
    .spread(Spread::Pointwise),
    bits(
        "bitwise_left_shift",
        "bitwise_left_shift(x, y)",
        "Shifts left by `other` bits.",
    )
    .dtype(Same, DTypes::INTEGERS)
    .spread(Spread::Pointwise),
    bits(
        "bitwise_right_shift",
        "bitwise_right_shift(x, y)",
        "Shifts right by `other` bits, arithmetically.",
    )
    .dtype(Same, DTypes::INTEGERS)
    .spread(Spread::Pointwise),
];

//! Kernels that other operators use when an argument changes their expression.

use super::pointwise::{binary, unary};
use crate::op::Class::Ternary;
use crate::op::DTypeRule::{Float, FloatBool, Same};
use crate::op::Grad::Constant;
use crate::op::NameRule::Unifies;
use crate::op::{DTypes, Edges, Row, Samples, Spread};

const fn floats(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc).dtype(Same, DTypes::FLOATS).part()
}

const fn pair(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    binary(name, expr, doc).dtype(Same, DTypes::FLOATS).part()
}

pub(super) const ROWS: &[Row] = &[
    floats(
        "gelu_tanh",
        "gelu_tanh(x)",
        "Computes `gelu` by its approximation with tanh.",
    )
    .edges(Edges::Except(
        0,
        "the terms of a derivative cancel near its zero, and the exponential has the \
         error of its argument",
    ))
    .spread(Spread::Refused),
    pair(
        "vanishing",
        "vanishing(x, y)",
        "Multiplies two elements; zero where `other` is zero and the first element \
         infinite.",
    )
    .spread(Spread::Refused),
    floats(
        "bell",
        "bell(x, weight)",
        "Computes `exp(-weight * x²)` for a weight of at least one half.",
    )
    .signature("self, weight: Scalar")
    .spread(Spread::Refused),
    floats(
        "asin_slope",
        "asin_slope(x)",
        "Computes the derivative of `asin`, `1 / sqrt(1 - x²)`.",
    )
    .samples(Samples::Unit)
    .spread(Spread::Refused),
    floats(
        "asinh_slope",
        "asinh_slope(x)",
        "Computes the derivative of `asinh`, `1 / sqrt(1 + x²)`.",
    )
    .spread(Spread::Refused),
    floats(
        "atan_slope",
        "atan_slope(x)",
        "Computes the derivative of `atan`, `1 / (1 + x²)`.",
    )
    .spread(Spread::Refused),
    floats(
        "atanh_slope",
        "atanh_slope(x)",
        "Computes the derivative of `atanh`, `1 / (1 - x²)`.",
    )
    .samples(Samples::Unit)
    .spread(Spread::Refused),
    floats(
        "sinc_nth",
        "sinc_nth(x, n)",
        "Computes the derivative of order `n` of `sinc`.",
    )
    .signature("self, n: Scalar")
    .spread(Spread::Refused),
    floats(
        "erfcx_nth",
        "erfcx_nth(x, n)",
        "Computes the derivative of order `n` of `erfcx`.",
    )
    .signature("self, n: Scalar")
    .spread(Spread::Refused),
    floats(
        "i0_nth",
        "i0_nth(x, n)",
        "Computes the derivative of order `n` of `i0`.",
    )
    .signature("self, n: Scalar")
    .spread(Spread::Refused),
    floats(
        "i0e_nth",
        "i0e_nth(x, n)",
        "Computes the derivative of order `n` of `i0e`.",
    )
    .signature("self, n: Scalar")
    .spread(Spread::Refused),
    floats(
        "i1e_nth",
        "i1e_nth(x, n)",
        "Computes the derivative of order `n` of `i1e`.",
    )
    .signature("self, n: Scalar")
    .spread(Spread::Refused),
    floats(
        "round_decimals",
        "round_decimals(x, decimals)",
        "Rounds to `decimals` digits after the decimal point.",
    )
    .signature("self, decimals: Scalar")
    .grad(Constant)
    .spread(Spread::Refused),
    floats(
        "logit_eps",
        "logit_eps(x, eps)",
        "Computes `logit` of elements clamped to between `eps` and `1 - eps`.",
    )
    .signature("self, eps: Scalar")
    .dtype(Float, DTypes::REAL)
    .spread(Spread::Refused),
    binary(
        "div_trunc",
        "trunc_divide(x, y)",
        "Divides and rounds towards zero.",
    )
    .dtype(Same, DTypes::ORDERED)
    .samples(Samples::NonZero)
    .part()
    .grad(Constant)
    .spread(Spread::Refused),
    binary(
        "isclose_nan",
        "isclose_nan(x, y, rtol, atol)",
        "Computes `isclose` with NaN close to NaN.",
    )
    .signature("self, other, rtol: Scalar, atol: Scalar")
    .dtype(FloatBool, DTypes::ALL)
    .part()
    .grad(Constant)
    .spread(Spread::Refused),
    Row::new(
        "addcmul_value",
        "self, tensor1, tensor2: Operand, value: Scalar",
        Ternary("add(x, mul(mul(value, y), z))"),
        Unifies,
        "Adds `value` times the product of two tensors.",
    )
    .part()
    .spread(Spread::Refused),
    pair(
        "dropped",
        "dropped(x, y, p)",
        "Computes `dropout` with a number drawn for each element.",
    )
    .signature("self, draw, p: Scalar")
    .spread(Spread::Refused),
    pair(
        "gated",
        "mul(x, sigmoid(y))",
        "Computes `glu` of two halves.",
    )
    .edges(Edges::Except(
        2,
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    ))
    .spread(Spread::Refused),
    pair(
        "squared_error",
        "square(sub(x, y))",
        "Computes the terms of `mse_loss`.",
    )
    .dtype(Same, DTypes::INEXACT)
    .spread(Spread::Refused),
    pair(
        "absolute_error",
        "abs(sub(x, y))",
        "Computes the terms of `l1_loss`.",
    )
    .spread(Spread::Refused),
    pair(
        "smooth_error",
        "smooth_error(x, y, beta)",
        "Computes the terms of `smooth_l1_loss`.",
    )
    .signature("self, other, beta: Scalar")
    .spread(Spread::Refused),
    pair(
        "huber_error",
        "huber_error(x, y, delta)",
        "Computes the terms of `huber_loss`.",
    )
    .signature("self, other, delta: Scalar")
    .spread(Spread::Refused),
    pair(
        "binary_entropy",
        "binary_entropy(x, y)",
        "Computes the terms of `binary_cross_entropy`.",
    )
    .spread(Spread::Refused),
    Row::new(
        "logit_entropy",
        "self, target, pos_weight: Operand",
        Ternary("logit_entropy(x, y, z)"),
        Unifies,
        "Computes the terms of `binary_cross_entropy_with_logits`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .part()
    .spread(Spread::Refused),
    pair(
        "divergence",
        "divergence(x, y)",
        "Computes the terms of `kl_div`.",
    )
    .spread(Spread::Refused),
    pair(
        "log_divergence",
        "vanishing(exp(y), sub(y, x))",
        "Computes the terms of `kl_div` for a target of logarithms.",
    )
    .spread(Spread::Refused),
    pair(
        "soft_margin",
        "soft_margin(x, y)",
        "Computes the terms of `soft_margin_loss`.",
    )
    .edges(Edges::Except(
        2,
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    ))
    .spread(Spread::Refused),
    pair(
        "poisson_error",
        "sub(x, mul(y, log(add(x, eps))))",
        "Computes the terms of `poisson_nll_loss`.",
    )
    .signature("self, other, eps: Scalar")
    .spread(Spread::Refused),
    pair(
        "poisson_log_error",
        "sub(exp(x), mul(y, x))",
        "Computes the terms of `poisson_nll_loss` for predictions that are logarithms.",
    )
    .spread(Spread::Refused),
    floats(
        "stirling",
        "stirling(x)",
        "Computes the part of `poisson_nll_loss` that depends only on the target.",
    )
    .spread(Spread::Refused),
];

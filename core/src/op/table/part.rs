//! Kernels of other operators: what an argument of theirs changes about the expression.

use super::pointwise::{binary, unary};
use crate::op::Class::Ternary;
use crate::op::DTypeRule::{Float, FloatBool, Same};
use crate::op::NameRule::Unifies;
use crate::op::{DTypes, Row, Samples};

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
        "`gelu` by a formula with tanh.",
    ),
    floats(
        "round_decimals",
        "round_decimals(x, decimals)",
        "`round` to some digits behind the point.",
    )
    .signature("self, decimals: Scalar"),
    floats(
        "logit_eps",
        "logit_eps(x, eps)",
        "`logit` of what lies between `eps` and one less it.",
    )
    .signature("self, eps: Scalar")
    .dtype(Float, DTypes::REAL),
    binary(
        "div_trunc",
        "trunc_divide(x, y)",
        "The quotient, rounded towards zero.",
    )
    .dtype(Same, DTypes::ORDERED)
    .samples(Samples::NonZero)
    .part(),
    binary(
        "isclose_nan",
        "isclose_nan(x, y, rtol, atol)",
        "`isclose`, where NaN is close to NaN.",
    )
    .signature("self, other, rtol: Scalar, atol: Scalar")
    .dtype(FloatBool, DTypes::ALL)
    .part(),
    Row::new(
        "addcmul_value",
        "self, tensor1, tensor2: Operand, value: Scalar",
        Ternary("add(x, mul(mul(value, y), z))"),
        Unifies,
        "`addcmul` with a factor.",
    )
    .part(),
    pair(
        "dropped",
        "dropped(x, y, p)",
        "`dropout` by a number drawn for each element.",
    )
    .signature("self, draw, p: Scalar"),
    pair("gated", "mul(x, sigmoid(y))", "`glu` of two halves."),
    pair(
        "squared_error",
        "square(sub(x, y))",
        "The term of `mse_loss`.",
    )
    .dtype(Same, DTypes::INEXACT),
    pair("absolute_error", "abs(sub(x, y))", "The term of `l1_loss`."),
    pair(
        "smooth_error",
        "smooth_error(x, y, beta)",
        "The term of `smooth_l1_loss`.",
    )
    .signature("self, other, beta: Scalar"),
    pair(
        "huber_error",
        "huber_error(x, y, delta)",
        "The term of `huber_loss`.",
    )
    .signature("self, other, delta: Scalar"),
    pair(
        "binary_entropy",
        "binary_entropy(x, y)",
        "The term of `binary_cross_entropy`.",
    ),
    Row::new(
        "logit_entropy",
        "self, target, pos_weight: Operand",
        Ternary("logit_entropy(x, y, z)"),
        Unifies,
        "The term of `binary_cross_entropy_with_logits`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .part(),
    pair("divergence", "divergence(x, y)", "The term of `kl_div`."),
    pair(
        "log_divergence",
        "mul(exp(y), sub(y, x))",
        "The term of `kl_div` with a target of logarithms.",
    ),
    pair(
        "soft_margin",
        "soft_margin(x, y)",
        "The term of `soft_margin_loss`.",
    ),
    pair(
        "poisson_error",
        "sub(x, mul(y, log(add(x, eps))))",
        "The term of `poisson_nll_loss`.",
    )
    .signature("self, other, eps: Scalar"),
    pair(
        "poisson_log_error",
        "sub(exp(x), mul(y, x))",
        "The same of a logarithm.",
    ),
    floats(
        "stirling",
        "stirling(x)",
        "The part of `poisson_nll_loss` that the target alone gives.",
    ),
];

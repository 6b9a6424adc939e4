//! Kernels of other operators: what an argument of theirs changes about the expression.

use super::pointwise::{binary, unary};
use crate::op::Class::Ternary;
use crate::op::DTypeRule::{Float, FloatBool, Same};
use crate::op::Grad::{Constant, Lines};
use crate::op::NameRule::Unifies;
use crate::op::{DTypes, Row, Samples, Spread};

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
    ).grad(Lines(&[("self", "grad * (0.5 * (1 + tanh(0.797_884_560_802_865_4 * (self + 0.044_715 * self * self * self))) + 0.5 * self * (1 - square(tanh(0.797_884_560_802_865_4 * (self + 0.044_715 * self * self * self)))) * 0.797_884_560_802_865_4 * (1 + 0.134_145 * self * self))")])).spread(Spread::Refused),
    floats(
        "round_decimals",
        "round_decimals(x, decimals)",
        "`round` to some digits behind the point.",
    )
    .signature("self, decimals: Scalar").grad(Constant).spread(Spread::Refused),
    floats(
        "logit_eps",
        "logit_eps(x, eps)",
        "`logit` of what lies between `eps` and one less it.",
    )
    .signature("self, eps: Scalar")
    .dtype(Float, DTypes::REAL).grad(Lines(&[("self", "where_cond(logical_and(ge(self, eps), le(self, 1 - eps)), grad / (self * (1 - self)), 0)")])).spread(Spread::Refused),
    binary(
        "div_trunc",
        "trunc_divide(x, y)",
        "The quotient, rounded towards zero.",
    )
    .dtype(Same, DTypes::ORDERED)
    .samples(Samples::NonZero)
    .part().grad(Constant).spread(Spread::Refused),
    binary(
        "isclose_nan",
        "isclose_nan(x, y, rtol, atol)",
        "`isclose`, where NaN is close to NaN.",
    )
    .signature("self, other, rtol: Scalar, atol: Scalar")
    .dtype(FloatBool, DTypes::ALL)
    .part().grad(Constant).spread(Spread::Refused),
    Row::new(
        "addcmul_value",
        "self, tensor1, tensor2: Operand, value: Scalar",
        Ternary("add(x, mul(mul(value, y), z))"),
        Unifies,
        "`addcmul` with a factor.",
    )
    .part().grad(Lines(&[("self", "grad"), ("tensor1", "grad * conj(value * tensor2)"), ("tensor2", "grad * conj(value * tensor1)")])).spread(Spread::Refused),
    pair(
        "dropped",
        "dropped(x, y, p)",
        "`dropout` by a number drawn for each element.",
    )
    .signature("self, draw, p: Scalar").grad(Lines(&[("self", "where_cond(lt(draw, p), 0, grad / (1 - p))"), ("draw", "zero")])).spread(Spread::Refused),
    pair("gated", "mul(x, sigmoid(y))", "`glu` of two halves.").grad(Lines(&[("self", "grad * sigmoid(other)"), ("other", "grad * self * sigmoid(other) * (1 - sigmoid(other))")])).spread(Spread::Refused),
    pair(
        "squared_error",
        "square(sub(x, y))",
        "The term of `mse_loss`.",
    )
    .dtype(Same, DTypes::INEXACT).grad(Lines(&[("self", "2 * grad * conj(self - other)"), ("other", "-2 * grad * conj(self - other)")])).spread(Spread::Refused),
    pair("absolute_error", "abs(sub(x, y))", "The term of `l1_loss`.").grad(Lines(&[("self", "grad * sgn(self - other)"), ("other", "-grad * sgn(self - other)")])).spread(Spread::Refused),
    pair(
        "smooth_error",
        "smooth_error(x, y, beta)",
        "The term of `smooth_l1_loss`.",
    )
    .signature("self, other, beta: Scalar").grad(Lines(&[("self", "where_cond(lt(abs(self - other), beta), grad * (self - other) / beta, grad * sgn(self - other))"), ("other", "where_cond(lt(abs(self - other), beta), -grad * (self - other) / beta, -grad * sgn(self - other))")])).spread(Spread::Refused),
    pair(
        "huber_error",
        "huber_error(x, y, delta)",
        "The term of `huber_loss`.",
    )
    .signature("self, other, delta: Scalar").grad(Lines(&[("self", "grad * clamp(self - other, -delta, delta)"), ("other", "-grad * clamp(self - other, -delta, delta)")])).spread(Spread::Refused),
    pair(
        "binary_entropy",
        "binary_entropy(x, y)",
        "The term of `binary_cross_entropy`.",
    ).grad(Lines(&[("self", "grad * (self - other) / clamp_min(self * (1 - self), 1e-12)"), ("other", "grad * (clamp_min(log1p(-self), -100) - clamp_min(log(self), -100))")])).spread(Spread::Refused),
    Row::new(
        "logit_entropy",
        "self, target, pos_weight: Operand",
        Ternary("logit_entropy(x, y, z)"),
        Unifies,
        "The term of `binary_cross_entropy_with_logits`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .part().grad(Lines(&[("self", "grad * (((pos_weight - 1) * target + 1) * sigmoid(self) - pos_weight * target)"), ("target", "grad * (-self - (pos_weight - 1) * logsigmoid(self))"), ("pos_weight", "-grad * target * logsigmoid(self)")])).spread(Spread::Refused),
    pair("divergence", "divergence(x, y)", "The term of `kl_div`.").grad(Lines(&[("self", "-grad * other"), ("other", "grad * (log(other) + 1 - self)")])).spread(Spread::Refused),
    pair(
        "log_divergence",
        "mul(exp(y), sub(y, x))",
        "The term of `kl_div` with a target of logarithms.",
    ).grad(Lines(&[("self", "-grad * exp(other)"), ("other", "grad * (result + exp(other))")])).spread(Spread::Refused),
    pair(
        "soft_margin",
        "soft_margin(x, y)",
        "The term of `soft_margin_loss`.",
    ).grad(Lines(&[("self", "-grad * other * sigmoid(-self * other)"), ("other", "-grad * self * sigmoid(-self * other)")])).spread(Spread::Refused),
    pair(
        "poisson_error",
        "sub(x, mul(y, log(add(x, eps))))",
        "The term of `poisson_nll_loss`.",
    )
    .signature("self, other, eps: Scalar").grad(Lines(&[("self", "grad * (1 - other / (self + eps))"), ("other", "-grad * log(self + eps)")])).spread(Spread::Refused),
    pair(
        "poisson_log_error",
        "sub(exp(x), mul(y, x))",
        "The same of a logarithm.",
    ).grad(Lines(&[("self", "grad * (exp(self) - other)"), ("other", "-grad * self")])).spread(Spread::Refused),
    floats(
        "stirling",
        "stirling(x)",
        "The part of `poisson_nll_loss` that the target alone gives.",
    ).grad(Lines(&[("self", "where_cond(gt(self, 1), grad * (log(self) + 0.5 / self), 0)")])).spread(Spread::Refused),
];

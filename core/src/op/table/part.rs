//! Kernels that other operators use when an argument changes their expression.

use super::pointwise::{binary, unary};
use crate::op::Class::Ternary;
use crate::op::DTypeRule::{Float, FloatBool, Same};
use crate::op::Grad::{Constant, Lines};
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
    ).grad(Lines(&[("self", "grad * (sigmoid(1.595_769_121_605_730_8 * (clamp(self, -30, 30) + 0.044_715 * clamp(self, -30, 30) * clamp(self, -30, 30) * clamp(self, -30, 30))) + clamp(self, -30, 30) * 1.595_769_121_605_730_8 * (1 + 0.134_145 * clamp(self, -30, 30) * clamp(self, -30, 30)) * sigmoid(1.595_769_121_605_730_8 * (clamp(self, -30, 30) + 0.044_715 * clamp(self, -30, 30) * clamp(self, -30, 30) * clamp(self, -30, 30))) * (1 - sigmoid(1.595_769_121_605_730_8 * (clamp(self, -30, 30) + 0.044_715 * clamp(self, -30, 30) * clamp(self, -30, 30) * clamp(self, -30, 30)))))")])).edges(Edges::Except(0, "the terms of a derivative cancel near its zero, and the exponential has the error of its argument")).spread(Spread::Refused),
    pair(
        "vanishing",
        "vanishing(x, y)",
        "Multiplies two elements; zero where `other` is zero and the first element infinite.",
    ).grad(Lines(&[("self", "vanishing(grad, other)"), ("other", "grad * where_cond(isinf(self), 0, self)")])).spread(Spread::Refused),
    floats(
        "bell",
        "bell(x, weight)",
        "Computes `exp(-weight * x²)` for a weight of at least one half.",
    )
    .signature("self, weight: Scalar").grad(Lines(&[("self", "grad * (-2 * weight) * vanishing(self, result)")])).spread(Spread::Refused),
    floats("asin_slope", "asin_slope(x)", "Computes the derivative of `asin`, `1 / sqrt(1 - x²)`.").samples(Samples::Unit).grad(Lines(&[("self", "grad * self * result * result * result")])).spread(Spread::Refused),
    floats("asinh_slope", "asinh_slope(x)", "Computes the derivative of `asinh`, `1 / sqrt(1 + x²)`.").grad(Lines(&[("self", "-grad * vanishing(self, result) * result * result")])).spread(Spread::Refused),
    floats("atan_slope", "atan_slope(x)", "Computes the derivative of `atan`, `1 / (1 + x²)`.").grad(Lines(&[("self", "-2 * grad * vanishing(self, result) * result")])).spread(Spread::Refused),
    floats("atanh_slope", "atanh_slope(x)", "Computes the derivative of `atanh`, `1 / (1 - x²)`.").samples(Samples::Unit).grad(Lines(&[("self", "2 * grad * self * result * result")])).spread(Spread::Refused),
    floats("sinc_nth", "sinc_nth(x, n)", "Computes the derivative of order `n` of `sinc`.")
        .signature("self, n: Scalar").grad(Lines(&[("self", "grad * sinc_nth(self, n + 1)")])).spread(Spread::Refused),
    floats("erfcx_nth", "erfcx_nth(x, n)", "Computes the derivative of order `n` of `erfcx`.")
        .signature("self, n: Scalar").grad(Lines(&[("self", "grad * erfcx_nth(self, n + 1)")])).spread(Spread::Refused),
    floats("i0_nth", "i0_nth(x, n)", "Computes the derivative of order `n` of `i0`.")
        .signature("self, n: Scalar").grad(Lines(&[("self", "grad * i0_nth(self, n + 1)")])).spread(Spread::Refused),
    floats("i0e_nth", "i0e_nth(x, n)", "Computes the derivative of order `n` of `i0e`.")
        .signature("self, n: Scalar").grad(Lines(&[("self", "grad * i0e_nth(self, n + 1)")])).spread(Spread::Refused),
    floats("i1e_nth", "i1e_nth(x, n)", "Computes the derivative of order `n` of `i1e`.")
        .signature("self, n: Scalar").grad(Lines(&[("self", "grad * i1e_nth(self, n + 1)")])).spread(Spread::Refused),
    floats(
        "round_decimals",
        "round_decimals(x, decimals)",
        "Rounds to `decimals` digits after the decimal point.",
    )
    .signature("self, decimals: Scalar").grad(Constant).spread(Spread::Refused),
    floats(
        "logit_eps",
        "logit_eps(x, eps)",
        "Computes `logit` of elements clamped to between `eps` and `1 - eps`.",
    )
    .signature("self, eps: Scalar")
    .dtype(Float, DTypes::REAL).grad(Lines(&[("self", "where_cond(logical_and(ge(self, eps), le(self, 1 - eps)), grad / where_cond(eq(self, 0), 1, self) + grad / where_cond(eq(self, 1), 1, 1 - self), 0)")])).spread(Spread::Refused),
    binary(
        "div_trunc",
        "trunc_divide(x, y)",
        "Divides and rounds towards zero.",
    )
    .dtype(Same, DTypes::ORDERED)
    .samples(Samples::NonZero)
    .part().grad(Constant).spread(Spread::Refused),
    binary(
        "isclose_nan",
        "isclose_nan(x, y, rtol, atol)",
        "Computes `isclose` with NaN close to NaN.",
    )
    .signature("self, other, rtol: Scalar, atol: Scalar")
    .dtype(FloatBool, DTypes::ALL)
    .part().grad(Constant).spread(Spread::Refused),
    Row::new(
        "addcmul_value",
        "self, tensor1, tensor2: Operand, value: Scalar",
        Ternary("add(x, mul(mul(value, y), z))"),
        Unifies,
        "Adds `value` times the product of two tensors.",
    )
    .part().grad(Lines(&[("self", "grad"), ("tensor1", "grad * conj(value * tensor2)"), ("tensor2", "grad * conj(value * tensor1)")])).spread(Spread::Refused),
    pair(
        "dropped",
        "dropped(x, y, p)",
        "Computes `dropout` with a number drawn for each element.",
    )
    .signature("self, draw, p: Scalar").grad(Lines(&[("self", "where_cond(lt(draw, p), 0, grad / (1 - p))"), ("draw", "zero")])).spread(Spread::Refused),
    pair("gated", "mul(x, sigmoid(y))", "Computes `glu` of two halves.").grad(Lines(&[("self", "grad * sigmoid(other)"), ("other", "grad * self * sigmoid(other) * (1 - sigmoid(other))")])).edges(Edges::Except(2, "a derivative is computed from the rounded result and, where it vanishes, has the error of a derivative near one")).spread(Spread::Refused),
    pair(
        "squared_error",
        "square(sub(x, y))",
        "Computes the terms of `mse_loss`.",
    )
    .dtype(Same, DTypes::INEXACT).grad(Lines(&[("self", "2 * grad * conj(self - other)"), ("other", "-2 * grad * conj(self - other)")])).spread(Spread::Refused),
    pair("absolute_error", "abs(sub(x, y))", "Computes the terms of `l1_loss`.").grad(Lines(&[("self", "grad * sgn(self - other)"), ("other", "-grad * sgn(self - other)")])).spread(Spread::Refused),
    pair(
        "smooth_error",
        "smooth_error(x, y, beta)",
        "Computes the terms of `smooth_l1_loss`.",
    )
    .signature("self, other, beta: Scalar").grad(Lines(&[("self", "where_cond(lt(abs(self - other), beta), grad * (self - other) / where_cond(eq(beta, 0), 1, beta), grad * sgn(self - other))"), ("other", "where_cond(lt(abs(self - other), beta), -grad * (self - other) / where_cond(eq(beta, 0), 1, beta), -grad * sgn(self - other))")])).spread(Spread::Refused),
    pair(
        "huber_error",
        "huber_error(x, y, delta)",
        "Computes the terms of `huber_loss`.",
    )
    .signature("self, other, delta: Scalar").grad(Lines(&[("self", "grad * clamp(self - other, -delta, delta)"), ("other", "-grad * clamp(self - other, -delta, delta)")])).spread(Spread::Refused),
    pair(
        "binary_entropy",
        "binary_entropy(x, y)",
        "Computes the terms of `binary_cross_entropy`.",
    ).grad(Lines(&[("self", "grad * (self - other) / clamp_min(self * (1 - self), 1e-12)"), ("other", "grad * (where_cond(eq(self, 1), -100, clamp_min(log1p(where_cond(eq(self, 1), 0, -self)), -100)) - where_cond(eq(self, 0), -100, clamp_min(log(where_cond(eq(self, 0), 1, self)), -100)))")])).spread(Spread::Refused),
    Row::new(
        "logit_entropy",
        "self, target, pos_weight: Operand",
        Ternary("logit_entropy(x, y, z)"),
        Unifies,
        "Computes the terms of `binary_cross_entropy_with_logits`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .part().grad(Lines(&[("self", "grad * (((pos_weight - 1) * target + 1) * sigmoid(self) - pos_weight * target)"), ("target", "grad * (-self - (pos_weight - 1) * logsigmoid(self))"), ("pos_weight", "-grad * target * logsigmoid(self)")])).spread(Spread::Refused),
    pair("divergence", "divergence(x, y)", "Computes the terms of `kl_div`.").grad(Lines(&[("self", "-grad * other"), ("other", "grad * (log(other) + 1 - self)")])).spread(Spread::Refused),
    pair(
        "log_divergence",
        "vanishing(exp(y), sub(y, x))",
        "Computes the terms of `kl_div` for a target of logarithms.",
    ).grad(Lines(&[("self", "-grad * exp(other)"), ("other", "grad * (result + exp(other))")])).spread(Spread::Refused),
    pair(
        "soft_margin",
        "soft_margin(x, y)",
        "Computes the terms of `soft_margin_loss`.",
    ).grad(Lines(&[("self", "-grad * other * sigmoid(-self * other)"), ("other", "-grad * self * sigmoid(-self * other)")])).edges(Edges::Except(2, "a derivative is computed from the rounded result and, where it vanishes, has the error of a derivative near one")).spread(Spread::Refused),
    pair(
        "poisson_error",
        "sub(x, mul(y, log(add(x, eps))))",
        "Computes the terms of `poisson_nll_loss`.",
    )
    .signature("self, other, eps: Scalar").grad(Lines(&[("self", "grad * (1 - other / (self + eps))"), ("other", "-grad * log(self + eps)")])).spread(Spread::Refused),
    pair(
        "poisson_log_error",
        "sub(exp(x), mul(y, x))",
        "Computes the terms of `poisson_nll_loss` for predictions that are logarithms.",
    ).grad(Lines(&[("self", "grad * (exp(self) - other)"), ("other", "-grad * self")])).spread(Spread::Refused),
    floats(
        "stirling",
        "stirling(x)",
        "Computes the part of `poisson_nll_loss` that depends only on the target.",
    ).grad(Lines(&[("self", "where_cond(gt(self, 1), grad * (log(where_cond(gt(self, 1), self, 1)) + 0.5 / where_cond(gt(self, 1), self, 1)), 0)")])).spread(Spread::Refused),
];

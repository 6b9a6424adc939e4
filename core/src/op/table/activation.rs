//! Activation functions.

use super::pointwise::{float, unary};
use crate::op::Class::{Binary, Compose, Unary};
use crate::op::DTypeRule::{Float, Same};
use crate::op::Grad::{Lines, Parts};
use crate::op::NameRule::{Keeps, Special};
use crate::op::{DTypes, Edges, Forms, Row, Spread};

/// Of floats, in place too.
const fn activation(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Same, DTypes::FLOATS)
        .forms(Forms::PURE.and(Forms::IN_PLACE))
}

pub(super) const ROWS: &[Row] = &[
    activation(
        "selu",
        "selu(x)",
        "An exponential below zero, scaled so that mean and variance stay as they are.",
    ).grad(Lines(&[("self", "where_cond(le(self, 0), grad * 1.758_099_340_847_376_6 * exp(where_cond(le(self, 0), self, 0)), grad * 1.050_700_987_355_480_5)")])).spread(Spread::Elementwise),
    activation(
        "mish",
        "mish(x)",
        "Mish, `x * tanh(softplus(x))`.",
    ).grad(Lines(&[("self", "grad * (tanh(softplus(self)) + vanishing(self, sigmoid(self) * (2 * sigmoid(-self) / (1 + square(sigmoid(-self)))) * (2 * sigmoid(-self) / (1 + square(sigmoid(-self))))))")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes; subnormal numbers on the way")).spread(Spread::Elementwise),
    activation(
        "logsigmoid",
        "logsigmoid(x)",
        "The logarithm of the logistic function.",
    )
    .forms(Forms::PURE).grad(Lines(&[("self", "grad * sigmoid(-self)")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes")).spread(Spread::Elementwise),
    activation(
        "hardsigmoid",
        "hardsigmoid(x)",
        "(x + 3) / 6, between 0 and 1.",
    ).grad(Lines(&[("self", "where_cond(logical_and(gt(self, -3), lt(self, 3)), grad / 6, 0)")])).spread(Spread::Elementwise),
    activation(
        "hardswish",
        "hardswish(x)",
        "Hardswish, `x * hardsigmoid(x)`.",
    ).grad(Lines(&[("self", "where_cond(le(self, -3), 0, where_cond(lt(self, 3), grad * (self / 3 + 0.5), grad))")])).spread(Spread::Elementwise),
    activation("relu6", "relu6(x)", "Limits to 0 to 6.")
        .dtype(Same, DTypes::ORDERED).grad(Lines(&[("self", "where_cond(logical_or(le(self, 0), ge(self, 6)), 0, grad)")])).spread(Spread::Elementwise),
    float(
        "softsign",
        "softsign(x)",
        "Softsign, `x / (1 + abs(x))`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::PURE).grad(Lines(&[("self", "grad / (1 + abs(self)) / (1 + abs(self))")])).spread(Spread::Elementwise),
    float(
        "tanhshrink",
        "tanhshrink(x)",
        "Tanhshrink, `x - tanh(x)`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::PURE).grad(Lines(&[("self", "grad * square(tanh(self))")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes")).spread(Spread::Elementwise),
    activation(
        "elu",
        "elu(x, alpha)",
        "`alpha` (exp(x) - 1) where negative.",
    )
    .signature("self, alpha: Scalar = 1.0").grad(Lines(&[("self", "where_cond(le(self, 0), grad * alpha * exp(where_cond(le(self, 0), self, 0)), grad)")])).spread(Spread::Elementwise),
    activation(
        "celu",
        "celu(x, alpha)",
        "`alpha` (exp(x / `alpha`) - 1) where negative.",
    )
    .signature("self, alpha: Scalar = 1.0").grad(Lines(&[("self", "where_cond(le(self, 0), grad * exp(where_cond(le(self, 0), self, 0) / alpha), grad)")])).spread(Spread::Elementwise),
    activation(
        "leaky_relu",
        "leaky_relu(x, negative_slope)",
        "Leaky ReLU: times `negative_slope` where negative.",
    )
    .signature("self, negative_slope: Scalar = 0.01").grad(Lines(&[("self", "where_cond(gt(self, 0), grad, grad * negative_slope)")])).spread(Spread::Elementwise),
    activation(
        "softplus",
        "softplus(x, beta, threshold)",
        "ln(1 + exp(`beta` x)) / `beta`; the element itself where `beta` x exceeds `threshold`.",
    )
    .signature("self, beta: Scalar = 1.0, threshold: Scalar = 20.0")
    .forms(Forms::PURE).grad(Lines(&[("self", "where_cond(gt(beta * self, threshold), grad, grad * sigmoid(beta * self))")])).edges(Edges::Terms("a slope is computed from the rounded result, and has the error of a slope near one where it vanishes")).spread(Spread::Elementwise),
    activation(
        "hardtanh",
        "clamp(x, min_val, max_val)",
        "Limits to `min_val` to `max_val`.",
    )
    .signature("self, min_val: Scalar = -1.0, max_val: Scalar = 1.0").grad(Lines(&[("self", "where_cond(logical_or(le(self, min_val), ge(self, max_val)), 0, grad)")])).spread(Spread::Elementwise),
    activation(
        "softshrink",
        "softshrink(x, lambd)",
        "Softshrink: `lambd` nearer to zero, and zero within `lambd` of it.",
    )
    .signature("self, lambd: Scalar = 0.5")
    .forms(Forms::PURE).grad(Lines(&[("self", "where_cond(le(abs(self), lambd), 0, grad)")])).spread(Spread::Elementwise),
    activation(
        "hardshrink",
        "hardshrink(x, lambd)",
        "Zero where the magnitude is at most `lambd`.",
    )
    .signature("self, lambd: Scalar = 0.5")
    .forms(Forms::PURE).grad(Lines(&[("self", "where_cond(le(abs(self), lambd), 0, grad)")])).spread(Spread::Elementwise),
    Row::new(
        "threshold",
        "self, threshold: Scalar, value: Scalar",
        Unary("above(x, threshold, value)"),
        Keeps,
        "`value` where an element is at most `threshold`.",
    )
    .dtype(Same, DTypes::ORDERED)
    .forms(Forms::ALL).grad(Lines(&[("self", "where_cond(le(self, threshold), 0, grad)")])).spread(Spread::Elementwise),
    Row::new(
        "prelu",
        "self, weight",
        Binary("leaky_relu(x, y)"),
        Special,
        "PReLU: times `weight` where negative; a weight with a dim has one number for each channel.",
    )
    .dtype(Same, DTypes::FLOATS)
    .grad(Lines(&[("self", "where_cond(gt(self, 0), grad, grad * weight)"), ("weight", "where_cond(gt(self, 0), 0, grad * self)")])).differs("a named weight finds its dim by name, an unnamed one takes PyTorch's: the second").spread(Spread::Pointwise),
    Row::new(
        "glu",
        "self, dim: Dim = -1",
        Compose,
        Keeps,
        "GLU: one half along a dim, times the sigmoid of the other.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .grad(Parts).differs("by name too").spread(Spread::Along),
    Row::new(
        "rrelu",
        "self, lower: Scalar = 0.125, upper: Scalar = 0.3333333333333333, training: Bool = False",
        Compose,
        Keeps,
        "Randomized leaky ReLU: times a number from `lower` to `upper` where negative, random in training, else the mean.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Parts).spread(Spread::Elementwise),
    Row::new(
        "dropout",
        "self, p: Scalar = 0.5, training: Bool = True",
        Compose,
        Keeps,
        "Zeros with probability `p` in training, and the rest scaled up to keep the mean.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Parts).spread(Spread::Elementwise),
    Row::new(
        "alpha_dropout",
        "self, p: Scalar = 0.5, training: Bool = False",
        Compose,
        Keeps,
        "Drops to the value that `selu` saturates at, and keeps mean and variance.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE)).grad(Parts).spread(Spread::Elementwise),
];

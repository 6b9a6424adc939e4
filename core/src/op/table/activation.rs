//! Activation functions.

use super::pointwise::{float, unary};
use crate::op::Class::{Binary, Compose, Unary};
use crate::op::DTypeRule::{Float, Same};
use crate::op::Grad::Parts;
use crate::op::NameRule::{Keeps, Special};
use crate::op::{DTypes, Edges, Forms, Row, Spread};

/// An activation of floats, with an in-place form.
const fn activation(name: &'static str, expr: &'static str, doc: &'static str) -> Row {
    unary(name, expr, doc)
        .dtype(Same, DTypes::FLOATS)
        .forms(Forms::PURE.and(Forms::IN_PLACE))
}

pub(super) const ROWS: &[Row] = &[
    activation(
        "selu",
        "selu(x)",
        "Applies SELU: a scaled exponential below zero, which preserves mean and \
         variance.",
    ),
    activation("mish", "mish(x)", "Applies Mish, `x * tanh(softplus(x))`.").edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one; intermediate results are subnormal",
    )),
    activation(
        "logsigmoid",
        "logsigmoid(x)",
        "Computes the logarithm of the logistic function.",
    )
    .forms(Forms::PURE)
    .edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    activation(
        "hardsigmoid",
        "hardsigmoid(x)",
        "Computes `(x + 3) / 6`, clamped to between 0 and 1.",
    ),
    activation(
        "hardswish",
        "hardswish(x)",
        "Applies Hardswish, `x * hardsigmoid(x)`.",
    ),
    activation("relu6", "relu6(x)", "Clamps elements to between 0 and 6.")
        .dtype(Same, DTypes::ORDERED),
    float(
        "softsign",
        "softsign(x)",
        "Applies Softsign, `x / (1 + abs(x))`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::PURE),
    float(
        "tanhshrink",
        "tanhshrink(x)",
        "Applies Tanhshrink, `x - tanh(x)`.",
    )
    .dtype(Float, DTypes::REAL)
    .forms(Forms::PURE)
    .edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    activation(
        "elu",
        "elu(x, alpha)",
        "Applies ELU: `alpha * (exp(x) - 1)` below zero.",
    )
    .signature("self, alpha: Scalar = 1.0"),
    activation(
        "celu",
        "celu(x, alpha)",
        "Applies CELU: `alpha * (exp(x / alpha) - 1)` below zero.",
    )
    .signature("self, alpha: Scalar = 1.0"),
    activation(
        "leaky_relu",
        "leaky_relu(x, negative_slope)",
        "Applies leaky ReLU: multiplies negative elements by `negative_slope`.",
    )
    .signature("self, negative_slope: Scalar = 0.01"),
    activation(
        "softplus",
        "softplus(x, beta, threshold)",
        "Computes `ln(1 + exp(beta * x)) / beta`, or `x` where `beta * x` exceeds \
         `threshold`.",
    )
    .signature("self, beta: Scalar = 1.0, threshold: Scalar = 20.0")
    .forms(Forms::PURE)
    .edges(Edges::Terms(
        "a derivative is computed from the rounded result and, where it vanishes, has \
         the error of a derivative near one",
    )),
    activation(
        "hardtanh",
        "clamp(x, min_val, max_val)",
        "Clamps elements to between `min_val` and `max_val`.",
    )
    .signature("self, min_val: Scalar = -1.0, max_val: Scalar = 1.0"),
    activation(
        "softshrink",
        "softshrink(x, lambd)",
        "Moves elements towards zero by `lambd`; those within `lambd` of zero become \
         zero.",
    )
    .signature("self, lambd: Scalar = 0.5")
    .forms(Forms::PURE),
    activation(
        "hardshrink",
        "hardshrink(x, lambd)",
        "Sets elements to zero if their magnitude is at most `lambd`.",
    )
    .signature("self, lambd: Scalar = 0.5")
    .forms(Forms::PURE),
    Row::new(
        "threshold",
        "self, threshold: Scalar, value: Scalar",
        Unary("above(x, threshold, value)"),
        Keeps,
        "Replaces elements of at most `threshold` by `value`.",
    )
    .dtype(Same, DTypes::ORDERED)
    .forms(Forms::ALL),
    Row::new(
        "prelu",
        "self, weight",
        Binary("leaky_relu(x, y)"),
        Special,
        "Applies PReLU: multiplies negative elements by `weight`, one number or one \
         per channel.",
    )
    .dtype(Same, DTypes::FLOATS)
    .differs(
        "the dim of a named weight is found by name; an unnamed weight is for the \
         second dim, as in PyTorch",
    ),
    Row::new(
        "glu",
        "self, dim: Dim = -1",
        Compose,
        Keeps,
        "Applies GLU: the first half along a dim, times the sigmoid of the second half.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .grad(Parts)
    .differs("also takes the dim by name")
    .spread(Spread::Along),
    Row::new(
        "rrelu",
        "self, lower: Scalar = 0.125, upper: Scalar = 0.3333333333333333, training: \
         Bool = False",
        Compose,
        Keeps,
        "Applies randomized leaky ReLU: multiplies negative elements by a number \
         between `lower` and `upper`, drawn for each element in training, otherwise \
         their mean.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(Parts)
    .spread(Spread::Elementwise),
    Row::new(
        "dropout",
        "self, p: Scalar = 0.5, training: Bool = True",
        Compose,
        Keeps,
        "Zeroes elements with probability `p` in training, and scales the rest to \
         preserve the mean.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(Parts)
    .spread(Spread::Elementwise),
    Row::new(
        "alpha_dropout",
        "self, p: Scalar = 0.5, training: Bool = False",
        Compose,
        Keeps,
        "Sets elements to the saturation value of `selu` with probability `p` in \
         training, preserving mean and variance.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::PURE.and(Forms::IN_PLACE))
    .grad(Parts)
    .spread(Spread::Elementwise),
];

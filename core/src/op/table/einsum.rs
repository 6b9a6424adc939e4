//! Products by letters, by names and of several operands, and what is made of products.

use crate::op::Class::{Compose, Gemm, Names};
use crate::op::DTypeRule::{NoPromotion, Same, Sum};
use crate::op::Grad::{Lines, Parts};
use crate::op::NameRule::{Contracts, Keeps, Removes, Special, Unifies};
use crate::op::{DTypes, Forms, NameRule, Row, Spread};

const fn row(
    name: &'static str,
    signature: &'static str,
    rule: NameRule,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Compose, rule, doc)
        .forms(Forms::WITH_OUT)
        .grad(Parts)
}

pub(super) const ROWS: &[Row] = &[
    row(
        "outer",
        "self, vec2",
        Contracts,
        "The outer product of two vectors.",
    )
    .aliases(&["ger"])
    .differs("names go through").spread(Spread::Contract),
    row(
        "inner",
        "self, other",
        Contracts,
        "Multiplies and sums over the last dim of both.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names go through").spread(Spread::Contract),
    row(
        "vdot",
        "self, other",
        Contracts,
        "The inner product of two vectors, of which the first is conjugated.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names go through; of bool too").spread(Spread::Contract),
    row(
        "kron",
        "self, other",
        Unifies,
        "The Kronecker product: every element of one times the whole other.",
    )
    .differs("names go through").spread(Spread::Contract),
    row(
        "addr",
        "self, vec1, vec2, *, beta: Scalar = 1, alpha: Scalar = 1",
        NameRule::Compose,
        "`beta` times self, plus `alpha` times the outer product of two vectors.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::ALL)
    .differs("names go through").spread(Spread::Contract),
    row("trace", "self", Removes, "The sum of a matrix' diagonal.")
        .forms(Forms::PURE)
        .dtype(Sum, DTypes::ALL)
        .differs("names go through; of bool too").spread(Spread::LinearAlong),
    row(
        "matrix_power",
        "self, n: Int",
        Keeps,
        "A square matrix multiplied by itself `n` times over; batch dims stay.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .differs("`n` is not negative; names go through").spread(Spread::Along),
    row(
        "multi_dot",
        "tensors: Tensors",
        Contracts,
        "The product of a chain of matrices, in the order that costs least; a vector may stand at \
         either end.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .dtype(NoPromotion, DTypes::ALL)
    .aliases(&["chain_matmul"])
    .differs("of one matrix too; names go through").spread(Spread::Contract),
    row(
        "cross",
        "self, other, dim: Dim = -1",
        Unifies,
        "The cross product of vectors along a dim of size 3.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .differs("along the last dim unless told; ranks may differ; dtypes promote; names go through").spread(Spread::Along),
    row(
        "tensordot",
        "self, other, dims: Pair = 2",
        Contracts,
        "Multiplies and sums over some dims of both: the last of one and the first of the other, \
         or given ones.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names go through; dims by name too").spread(Spread::Contract),
    Row::new(
        "linear",
        "input, weight, bias: Tensor = None, *, activation: Word = None",
        Gemm,
        Contracts,
        "Contracts the weight's input dim and adds the bias: `x wᵀ + b`; with an activation after it, \
         in one pass.",
    )
    .dtype(NoPromotion, DTypes::NUMBERS)
    .forms(Forms::FUNCTION)
    .grad(Lines(&[("input", "rule::linear(grad, input, weight, bias, result, 0)"), ("weight", "rule::linear(grad, input, weight, bias, result, 1)"), ("bias", "rule::linear(grad, input, weight, bias, result, 2)")])).differs(
        "the input dim is found by name, wherever it stands; `activation` is not in PyTorch: relu, \
         gelu, gelu_tanh, silu, sigmoid or tanh",
    ).spread(Spread::Contract),
    Row::new(
        "bilinear",
        "input1, input2, weight, bias: Tensor = None",
        Gemm,
        Contracts,
        "`x₁ᵀ w x₂ + b` for a weight of dims output, first input, second input.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Parts).differs("names go through; batch dims broadcast").spread(Spread::Contract),
    Row::new(
        "einsum",
        "equation: Text, operands: Tensors",
        Gemm,
        Special,
        "Sums of products of several tensors, by letters, by words, or by the names of their dims.",
    )
    .dtype(Same, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Lines(&[("operands", "rule::einsum(grad, operands)")])).differs("names go through; by name too: `[B, T, K] * [B, S, K] -> [B, T, S]`; dtypes promote").spread(Spread::Contract),
    Row::new(
        "scaled_dot_product_attention",
        "query, key, value, attn_mask: Tensor = None, dropout_p: Scalar = 0.0, is_causal: Bool = False, *, scale: Scalar = None, enable_gqa: Bool = False",
        Gemm,
        Contracts,
        "Attention: the softmax of scaled products of queries and keys, times the values.",
    )
    .dtype(NoPromotion, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .grad(Lines(&[("query", "rule::attention(grad, query, key, value, attn_mask, result, 0)"), ("key", "rule::attention(grad, query, key, value, attn_mask, result, 1)"), ("value", "rule::attention(grad, query, key, value, attn_mask, result, 2)"), ("attn_mask", "rule::attention(grad, query, key, value, attn_mask, result, 3)")])).differs("names go through").spread(Spread::Along),
    row(
        "vecdot",
        "self, other, dim: Dim = -1",
        Contracts,
        "The inner products of vectors along a dim, of which the first are conjugated; other dims \
         broadcast.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names go through; of bool too").spread(Spread::Along),
    row(
        "prime",
        "self, dim: Dim",
        Special,
        "Primes a dim's name: `N` becomes `N'`, a second axis of the same meaning.",
    )
    .class(Names)
    .forms(Forms::PURE)
    .differs("not in PyTorch").spread(Spread::Rearrange),
];

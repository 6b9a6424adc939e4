//! Products by letters, by names and of several operands, and operators built on products.

use crate::op::Class::{Compose, Gemm, Names};
use crate::op::DTypeRule::{NoPromotion, Same, Sum};
use crate::op::Grad::Parts;
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
        "Computes the outer product of two vectors.",
    )
    .aliases(&["ger"])
    .differs("names propagate")
    .spread(Spread::Contract),
    row(
        "inner",
        "self, other",
        Contracts,
        "Multiplies and sums over the last dims of both tensors.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate")
    .spread(Spread::Contract),
    row(
        "vdot",
        "self, other",
        Contracts,
        "Computes the inner product of two vectors, conjugating the first.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate; also supports bool")
    .spread(Spread::Contract),
    row(
        "kron",
        "self, other",
        Unifies,
        "Computes the Kronecker product: each element of one tensor times the whole \
         other tensor.",
    )
    .differs("names propagate")
    .spread(Spread::Contract),
    row(
        "addr",
        "self, vec1, vec2, *, beta: Scalar = 1, alpha: Scalar = 1",
        NameRule::Compose,
        "Computes `beta` times `self` plus `alpha` times the outer product of two \
         vectors.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::ALL)
    .differs("names propagate")
    .spread(Spread::Contract),
    row(
        "trace",
        "self",
        Removes,
        "Computes the sum of the diagonal of a matrix.",
    )
    .forms(Forms::PURE)
    .dtype(Sum, DTypes::ALL)
    .differs("names propagate; also supports bool")
    .spread(Spread::LinearAlong),
    row(
        "matrix_power",
        "self, n: Int",
        Keeps,
        "Raises square matrices to the power `n`; batch dims stay.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .differs("`n` must not be negative; names propagate")
    .spread(Spread::Along),
    row(
        "multi_dot",
        "tensors: Tensors",
        Contracts,
        "Multiplies a chain of matrices in the cheapest order; the first and last \
         operand may be vectors.",
    )
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .dtype(NoPromotion, DTypes::ALL)
    .aliases(&["chain_matmul"])
    .differs("also takes a single matrix; names propagate")
    .spread(Spread::Contract),
    row(
        "cross",
        "self, other, dim: Dim = -1",
        Unifies,
        "Computes the cross product of vectors along a dim of size 3.",
    )
    .dtype(Same, DTypes::NUMBERS)
    .differs("the last dim is the default; ranks may differ; dtypes promote; names propagate")
    .spread(Spread::Along),
    row(
        "tensordot",
        "self, other, dims: Pair = 2",
        Contracts,
        "Multiplies and sums over dims of both tensors: the last of one and the first \
         of the other, or given ones.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate; also takes dims by name")
    .spread(Spread::Contract),
    Row::new(
        "linear",
        "input, weight, bias: Tensor = None, *, activation: Word = None",
        Gemm,
        Contracts,
        "Contracts the weight's input dim and adds the bias: `x wᵀ + b`; an activation \
         may follow in the same pass.",
    )
    .dtype(NoPromotion, DTypes::NUMBERS)
    .forms(Forms::FUNCTION)
    .differs(
        "the input dim is found by name, in any position; `activation` is not in \
         PyTorch: relu, gelu, gelu_tanh, silu, sigmoid or tanh",
    ),
    Row::new(
        "bilinear",
        "input1, input2, weight, bias: Tensor = None",
        Gemm,
        Contracts,
        "Computes `x₁ᵀ w x₂ + b` for a weight with the dims output, first input, \
         second input.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .grad(Parts)
    .differs("names propagate; batch dims broadcast"),
    Row::new(
        "einsum",
        "equation: Text, operands: Tensors",
        Gemm,
        Special,
        "Sums products of several tensors, written with letters, words or the names of \
         their dims.",
    )
    .dtype(Same, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .differs(
        "names propagate; also by name: `[B, T, K] * [B, S, K] -> [B, T, S]`; dtypes \
         promote",
    ),
    Row::new(
        "scaled_dot_product_attention",
        "query, key, value, attn_mask: Tensor = None, dropout_p: Scalar = 0.0, \
         is_causal: Bool = False, *, scale: Scalar = None, enable_gqa: Bool = False",
        Gemm,
        Contracts,
        "Computes attention: the softmax of the scaled products of queries and keys, \
         times the values.",
    )
    .dtype(NoPromotion, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .differs("names propagate")
    .spread(Spread::Along),
    row(
        "vecdot",
        "self, other, dim: Dim = -1",
        Contracts,
        "Computes inner products of vectors along a dim, conjugating the first; other \
         dims broadcast.",
    )
    .dtype(NoPromotion, DTypes::ALL)
    .differs("names propagate; also supports bool")
    .spread(Spread::Along),
    row(
        "prime",
        "self, dim: Dim",
        Special,
        "Primes a dim's name: `N` becomes `N'`, a second axis of the same kind.",
    )
    .class(Names)
    .forms(Forms::PURE)
    .differs("not in PyTorch"),
];

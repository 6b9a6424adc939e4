//! Linear layers: a product, a bias and what comes after them in one pass.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result};

use super::gemm::{contract_and_add, refuse, same_kind, unequal};
use super::{Arg, pointwise_owned, result_dtype};
use crate::raw::Raw;

/// What a linear layer's results go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// Zero where negative.
    Relu,
    /// By the normal distribution function.
    Gelu,
    /// `Gelu` by a formula with tanh.
    GeluTanh,
    /// Times the logistic function.
    Silu,
    /// The logistic function.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Relu,
        Self::Gelu,
        Self::GeluTanh,
        Self::Silu,
        Self::Sigmoid,
        Self::Tanh,
    ];

    /// The words for [`Activation::ALL`], in that order.
    pub(crate) const WORDS: [&'static str; 6] =
        ["relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh"];

    /// The operator that does the same by itself.
    fn op(self) -> Op {
        match self {
            Self::Relu => Op::Relu,
            Self::Gelu => Op::Gelu,
            Self::GeluTanh => Op::GeluTanh,
            Self::Silu => Op::Silu,
            Self::Sigmoid => Op::Sigmoid,
            Self::Tanh => Op::Tanh,
        }
    }

    /// The operator, if it takes the dtype of `x` and gives the same one.
    fn of(self, x: &Raw) -> Result<Op> {
        let op = self.op();
        let result = result_dtype(op, &[Arg::Tensor(x)])?.result;
        if result == x.dtype() {
            return Ok(op);
        }
        let what = format!("of {} it gives {result}, which is another dtype", x.dtype());
        Err(Error::new(ErrorKind::DType, op.name(), what)
            .hint(format!("convert the operands to {result} first, with `to`")))
    }
}

/// Sums over dim `input` of `x` and the last one of `weight`, and adds the bias: the weight's first
/// dim becomes the last. The results go through the activation.
///
/// # Errors
/// When sizes or dtypes do not fit, the activation does not take the dtype or gives another one, or
/// memory is missing.
pub fn linear(
    x: &Raw,
    weight: &Raw,
    bias: Option<&Raw>,
    input: usize,
    activation: Option<Activation>,
) -> Result<Raw> {
    let op = Op::Linear;
    if weight.rank() == 0 || weight.rank() > 2 {
        let what = format!("a weight of {} dims", weight.rank());
        return Err(
            refuse(ErrorKind::Rank, op, &[x, weight], what).hint("its dims are output and input")
        );
    }
    let after = activation.map(|activation| activation.of(x)).transpose()?;
    let pairs = [(input, weight.rank() - 1)];
    let fits = |bias: &&Raw| {
        let (dtype, device) = (bias.dtype() == x.dtype(), bias.device() == x.device());
        let size = [1, weight.shape()[0]].contains(&bias.numel());
        dtype && device && weight.rank() == 2 && bias.rank() == 1 && size
    };
    let Some(bias) = bias else {
        return contract_and_add(op, [x, weight], &pairs, &[], None, after);
    };
    if fits(&bias) {
        return contract_and_add(op, [x, weight], &pairs, &[], Some(bias), after);
    }
    let product = contract_and_add(op, [x, weight], &pairs, &[], None, None)?;
    if bias.rank() == 1 && ![1, weight.shape()[0]].contains(&bias.shape()[0]) {
        return Err(unequal(op, &[x, weight, bias], [(1, 0), (2, 0)])
            .hint("a bias has one number for each of the weight's outputs"));
    }
    let sum = add_bias(op, product, bias)?;
    match after {
        None => Ok(sum),
        Some(after) => pointwise_owned(after, sum, &[]).map_err(|e| e.in_op(op.name())),
    }
}

/// A fresh result plus a bias that broadcasts to it.
///
/// # Errors
/// When the dtypes differ, or the bias does not broadcast.
pub fn add_bias(op: Op, product: Raw, bias: &Raw) -> Result<Raw> {
    same_kind(op, &[&product, bias])?;
    if bias.expand(product.shape()).is_err() {
        let what = "the bias does not broadcast to the result";
        return Err(refuse(ErrorKind::Shape, op, &[&product, bias], what)
            .hint("its size is the weight's first"));
    }
    pointwise_owned(Op::Add, product, &[Arg::Tensor(bias)]).map_err(|e| e.in_op(op.name()))
}

#[cfg(test)]
#[path = "linear_tests.rs"]
mod tests;

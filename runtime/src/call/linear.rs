//! Linear layers: a product, a bias and an activation in one pass.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, Scalar};

use super::check::{check_same_kind, refuse, unequal_sizes};
use super::contract::contract_and_add;
use super::{Arg, pointwise_owned, result_dtype};
use crate::call::backend::backend;
use crate::job::{FinalOp, Matrix, Product};

use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::Shape;

/// The activation of a linear layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// Zero for negative numbers.
    Relu,
    /// The number times the normal distribution function.
    Gelu,
    /// `Gelu`, approximated by tanh.
    GeluTanh,
    /// The number times the logistic function.
    Silu,
    /// The logistic function.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// All activations.
    #[cfg(test)]
    const ALL: [Self; 6] = [
        Self::Relu,
        Self::Gelu,
        Self::GeluTanh,
        Self::Silu,
        Self::Sigmoid,
        Self::Tanh,
    ];

    /// Returns the operator that computes the same.
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

    /// Returns the operator if it takes the dtype of `x` and returns the same dtype.
    fn check_dtype(self, x: &Raw) -> Result<Op> {
        let op = self.op();
        let result = result_dtype(op, &[Arg::Tensor(x)])?.result;
        if result == x.dtype() {
            return Ok(op);
        }
        let what = format!("for {} it returns {result}, another dtype", x.dtype());
        Err(Error::new(ErrorKind::DType, op.name(), what)
            .hint(format!("convert the operands to {result} first, with `to`")))
    }
}

impl From<Activation> for FinalOp {
    fn from(activation: Activation) -> Self {
        Self::unary(activation.op())
    }
}

/// Sums over dim `input` of `x` and the last dim of `weight`, and adds the bias: the weight's first dim becomes the
/// last. The activation is applied to the results.
///
/// # Errors
/// If sizes or dtypes do not match, the activation does not take the dtype or returns another one, or memory is
/// missing.
pub fn linear(
    x: &Raw,
    weight: &Raw,
    bias: Option<&Raw>,
    input: usize,
    activation: Option<Activation>,
) -> Result<Raw> {
    let op = Op::Linear;
    if weight.rank() == 0 || weight.rank() > 2 {
        let what = format!("the weight has {} dims", weight.rank());
        return Err(refuse(ErrorKind::Rank, op, &[x, weight], what).hint("expected output, input"));
    }
    let after = activation
        .map(|activation| activation.check_dtype(x))
        .transpose()?;
    let pairs = [(input, weight.rank() - 1)];
    let operands = [Some(x), Some(weight), bias];
    if !is_wanted(operands.into_iter().flatten())
        && let Some(rows) = LayerRows::new(x, weight, bias, input)
    {
        return rows.times(x, weight, bias, after);
    }
    let Some(bias) = bias else {
        return contract_and_add(op, [x, weight], &pairs, &[], None, after);
    };
    if fits(x, weight, bias) {
        return contract_and_add(op, [x, weight], &pairs, &[], Some(bias), after);
    }
    let product = contract_and_add(op, [x, weight], &pairs, &[], None, None)?;
    if bias.rank() == 1 && ![1, weight.shape()[0]].contains(&bias.shape()[0]) {
        return Err(unequal_sizes(op, &[x, weight, bias], [(1, 0), (2, 0)])
            .hint("a bias has one number for each output"));
    }
    let sum = add_bias(op, product, bias)?;
    match after {
        None => Ok(sum),
        Some(after) => pointwise_owned(after, sum, &[]).map_err(|e| e.in_op(op.name())),
    }
}

fn is_same_kind(x: &Raw, other: &Raw) -> bool {
    other.dtype() == x.dtype() && other.device() == x.device()
}

/// Whether a bias is a number for each output of a weight matrix, or one for all.
fn fits(x: &Raw, weight: &Raw, bias: &Raw) -> bool {
    let size = [1, weight.shape()[0]].contains(&bias.numel());
    is_same_kind(x, bias) && weight.rank() == 2 && bias.rank() == 1 && size
}

/// A layer of a matrix of rows, or of dims that can be viewed as one, with the features last.
struct LayerRows {
    count: usize,
    /// The stride between rows.
    apart: isize,
}

impl LayerRows {
    /// Returns `None` for all other operands, including invalid ones.
    fn new(x: &Raw, weight: &Raw, bias: Option<&Raw>, input: usize) -> Option<Self> {
        let rank = x.rank();
        if weight.rank() != 2 || input.checked_add(1) != Some(rank) || !is_same_kind(x, weight) {
            return None;
        }
        let features = weight.shape()[1];
        let taken = Op::Linear.row().check_dtype(x.dtype()).is_ok();
        if x.shape()[input] != features || !bias.is_none_or(|bias| fits(x, weight, bias)) || !taken
        {
            return None;
        }
        match rank {
            1 => Some(Self {
                count: 1,
                apart: features as isize,
            }),
            2 => Some(Self {
                count: x.shape()[0],
                apart: x.strides()[0],
            }),
            _ => x.is_contiguous().then(|| Self {
                count: crate::shape::count(&x.shape()[..input]),
                apart: features as isize,
            }),
        }
    }

    fn times(self, x: &Raw, weight: &Raw, bias: Option<&Raw>, after: Option<Op>) -> Result<Raw> {
        let (op, input) = (Op::Linear, x.rank() - 1);
        let n = weight.shape()[0];
        let mut shape = Shape::from_slice(&x.shape()[..input]);
        shape.push(n);
        let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
        if out.numel() == 0 {
            return Ok(out);
        }
        let matrix = |x: &Raw, rows, cols| Matrix {
            ptr: x.as_ptr().cast_mut(),
            rows,
            cols,
        };
        let addend = bias.map(|bias| {
            let step = if bias.numel() == 1 {
                0
            } else {
                bias.strides()[0]
            };
            matrix(bias, 0, step)
        });
        let product = Product {
            dtype: x.dtype(),
            m: self.count,
            k: x.shape()[input],
            n,
            a: matrix(x, self.apart, x.strides()[input]),
            b: matrix(weight, weight.strides()[1], weight.strides()[0]),
            c: Matrix {
                ptr: out.fresh_ptr(),
                rows: n as isize,
                cols: 1,
            },
            alpha: Scalar::Int(1),
            beta: addend.map(|_| Scalar::Int(1)),
            addend,
            after: after.map(FinalOp::unary),
        };
        let backend = backend(op.name(), x.device())?;
        // SAFETY: the sizes were checked; the result is fresh, and nothing else shares it.
        unsafe { backend.product(product, &[]) }.map_err(|error| error.in_op(op.name()))?;
        Ok(out)
    }
}

/// Adds a bias, which broadcasts, to a fresh result.
///
/// # Errors
/// If the dtypes differ, or the bias does not broadcast.
pub fn add_bias(op: Op, product: Raw, bias: &Raw) -> Result<Raw> {
    check_same_kind(op, &[&product, bias])?;
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

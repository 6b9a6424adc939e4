//! Reductions, scans and softmax.

use crate::mesh::Combine;
use crate::op::Class::{ArgReduce, Reduce, Scan, Softmax};
use crate::op::DTypeRule::{Bool, Float, Index, Real, Same, Sum};
use crate::op::Grad::Constant;
use crate::op::NameRule::{Keeps, Removes};
use crate::op::{DTypes, Forms, Row, Spread};

const SIGNATURE: &str = "self, dim: Dims = None, keepdim: Bool = False";
const TYPED: &str = "self, dim: Dims = None, keepdim: Bool = False, *, dtype: DType = None";
const CORRECTED: &str = "self, dim: Dims = None, correction: Scalar = 1, keepdim: Bool = False";

const fn reduce(name: &'static str, doc: &'static str) -> Row {
    Row::new(name, SIGNATURE, Reduce, Removes, doc).forms(Forms::WITH_OUT)
}

/// A moment that ignores NaN; equal to `var` or `std` if no element is NaN.
const fn nan_moment(name: &'static str, doc: &'static str) -> Row {
    reduce(name, doc)
        .signature(CORRECTED)
        .dtype(Same, DTypes::FLOATS)
        .differs("not in PyTorch")
}

pub(super) const ROWS: &[Row] = &[
    reduce(
        "sum",
        "Computes the sum over dims; integers and bool are added in i64.",
    )
    .signature(TYPED)
    .dtype(Sum, DTypes::ALL)
    .spread(Spread::Reduce(Combine::Add)),
    reduce("mean", "Computes the mean over dims.")
        .signature(TYPED)
        .dtype(Same, DTypes::INEXACT)
        .spread(Spread::Reduce(Combine::Add)),
    reduce(
        "prod",
        "Computes the product over dims; integers and bool are multiplied in i64.",
    )
    .signature("self, dim: Dims = None, keepdim: Bool = False, *, dtype: DType = None")
    .dtype(Sum, DTypes::ALL)
    .differs("also over several dims")
    .spread(Spread::Reduce(Combine::Mul)),
    reduce("amax", "Returns the greatest element over dims.")
        .dtype(Same, DTypes::REAL)
        .spread(Spread::Reduce(Combine::Max)),
    reduce("amin", "Returns the smallest element over dims.")
        .dtype(Same, DTypes::REAL)
        .spread(Spread::Reduce(Combine::Min)),
    reduce(
        "any",
        "Returns whether any element over dims differs from zero.",
    )
    .dtype(Bool, DTypes::ALL)
    .grad(Constant)
    .differs("also returns bool for u8; also takes dims by name")
    .spread(Spread::Reduce(Combine::Any)),
    reduce(
        "all",
        "Returns whether every element over dims differs from zero.",
    )
    .dtype(Bool, DTypes::ALL)
    .grad(Constant)
    .differs("also returns bool for u8; also takes dims by name")
    .spread(Spread::Reduce(Combine::All)),
    reduce(
        "var",
        "Computes the variance over dims; the divisor is the number of elements minus \
         1.",
    )
    .signature(CORRECTED)
    .dtype(Real, DTypes::INEXACT),
    reduce(
        "std",
        "Computes the standard deviation over dims, the square root of `var`.",
    )
    .signature(CORRECTED)
    .dtype(Real, DTypes::INEXACT),
    nan_moment(
        "nanvar",
        "Computes the variance over dims of the elements that are not NaN; the divisor \
         is their number minus 1.",
    )
    .reference("var(x)"),
    nan_moment(
        "nanstd",
        "Computes the standard deviation over dims of the elements that are not NaN, \
         the square root of `nanvar`.",
    )
    .reference("std(x)"),
    reduce(
        "logsumexp",
        "Computes the logarithm of the sum of exponentials over dims, without overflow.",
    )
    .dtype(Float, DTypes::ALL),
    Row::new(
        "max",
        "self, dim: Dim = None, keepdim: Bool = False",
        ArgReduce,
        Removes,
        "Returns the greatest element along a dim and its index; over all dims, the \
         element alone.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    Row::new(
        "min",
        "self, dim: Dim = None, keepdim: Bool = False",
        ArgReduce,
        Removes,
        "Returns the smallest element along a dim and its index; over all dims, the \
         element alone.",
    )
    .dtype(Same, DTypes::REAL)
    .forms(Forms::WITH_OUT),
    Row::new(
        "argmax",
        "self, dim: Dim = None, keepdim: Bool = False",
        ArgReduce,
        Removes,
        "Returns the index of the greatest element along a dim; over all dims, the \
         row-major index.",
    )
    .dtype(Index, DTypes::REAL)
    .grad(Constant)
    .differs("also takes the dim by name"),
    Row::new(
        "argmin",
        "self, dim: Dim = None, keepdim: Bool = False",
        ArgReduce,
        Removes,
        "Returns the index of the smallest element along a dim; over all dims, the \
         row-major index.",
    )
    .dtype(Index, DTypes::REAL)
    .grad(Constant)
    .differs("also takes the dim by name"),
    Row::new(
        "softmax",
        "self, dim: Dim, dtype: DType = None",
        Softmax,
        Keeps,
        "Computes the softmax along a dim: exponentials, divided by their sum.",
    )
    .dtype(Same, DTypes::FLOATS),
    Row::new(
        "cumsum",
        "self, dim: Dim, *, dtype: DType = None",
        Scan,
        Keeps,
        "Computes the running sum along a dim.",
    )
    .dtype(Sum, DTypes::ALL)
    .forms(Forms::ALL)
    .spread(Spread::LinearAlong),
];

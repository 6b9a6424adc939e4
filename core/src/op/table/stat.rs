//! Statistics: norms, moments, running results.

use crate::mesh::Combine;
use crate::op::Class::{Compose, Reduce, Scan, Softmax};
use crate::op::DTypeRule::{Float, Index, Real, Same, Sum};
use crate::op::Grad::{Constant, Parts};
use crate::op::NameRule::{Keeps, Removes, Special};
use crate::op::{DTypes, Edges, Forms, Row, Spread};

const TYPED: &str = "self, dim: Dims = None, keepdim: Bool = False, *, dtype: DType = None";
const CORRECTED: &str = "self, dim: Dims = None, *, correction: Scalar = 1, keepdim: Bool = False";

const fn reduce(name: &'static str, signature: &'static str, doc: &'static str) -> Row {
    Row::new(name, signature, Reduce, Removes, doc).forms(Forms::WITH_OUT)
}

const fn scan(name: &'static str, doc: &'static str) -> Row {
    let signature = "self, dim: Dim, *, dtype: DType = None";
    Row::new(name, signature, Scan, Keeps, doc).forms(Forms::WITH_OUT)
}

const fn softmax(name: &'static str, doc: &'static str) -> Row {
    let signature = "self, dim: Dim, dtype: DType = None";
    Row::new(name, signature, Softmax, Keeps, doc).dtype(Same, DTypes::FLOATS)
}

pub(super) const ROWS: &[Row] = &[
    scan("cumprod", "Computes the running product along a dim.")
        .forms(Forms::ALL)
        .dtype(Sum, DTypes::ALL),
    scan(
        "logcumsumexp",
        "Computes the logarithm of the running sum of exponentials along a dim, \
         without overflow.",
    )
    .dtype(Same, DTypes::INEXACT)
    .differs("also takes a dtype"),
    softmax(
        "log_softmax",
        "Computes the logarithm of `softmax`, accurate where `softmax` is small.",
    ),
    softmax("softmin", "Computes the `softmax` of the negated elements."),
    reduce(
        "nansum",
        TYPED,
        "Computes the sum over dims of the elements that are not NaN.",
    )
    .dtype(Sum, DTypes::REAL)
    .spread(Spread::Reduce(Combine::Add)),
    reduce(
        "nanmean",
        TYPED,
        "Computes the mean over dims of the elements that are not NaN.",
    )
    .dtype(Same, DTypes::FLOATS),
    reduce(
        "count_nonzero",
        "self, dim: Dims = None, keepdim: Bool = False",
        "Counts the elements over dims that differ from zero.",
    )
    .forms(Forms::PURE)
    .dtype(Index, DTypes::ALL)
    .grad(Constant)
    .differs("can keep dims")
    .spread(Spread::Reduce(Combine::Add)),
    reduce(
        "norm",
        "self, p: Scalar = 2, dim: Dims = None, keepdim: Bool = False, *, dtype: DType \
         = None",
        "Computes a norm of the vectors over dims, by default the Euclidean norm.",
    )
    .dtype(Real, DTypes::INEXACT)
    .aliases(&["vector_norm"])
    .differs("only of vectors; several dims are one vector"),
    Row::new(
        "std_mean",
        CORRECTED,
        Compose,
        Removes,
        "Computes the standard deviation and the mean over dims.",
    )
    .dtype(Real, DTypes::INEXACT)
    .grad(Parts)
    .spread(Spread::Along),
    Row::new(
        "var_mean",
        CORRECTED,
        Compose,
        Removes,
        "Computes the variance and the mean over dims.",
    )
    .dtype(Real, DTypes::INEXACT)
    .grad(Parts)
    .spread(Spread::Along),
    Row::new(
        "aminmax",
        "self, *, dim: Dims = None, keepdim: Bool = False",
        Compose,
        Removes,
        "Returns the smallest and the greatest element over dims.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::REAL)
    .grad(Parts)
    .differs("also over several dims")
    .spread(Spread::Along),
    Row::new(
        "dist",
        "self, other, p: Scalar = 2",
        Compose,
        crate::op::NameRule::Special,
        "Computes the norm of the difference of two tensors, as one number.",
    )
    .dtype(Real, DTypes::INEXACT)
    .grad(Parts)
    .differs("the names of both unify, and are removed")
    .spread(Spread::Along),
    Row::new(
        "diff",
        "self, n: Int = 1, dim: Dim = -1, prepend: Tensor = None, append: Tensor = None",
        Compose,
        Keeps,
        "Computes the differences of neighbours along a dim, `n` times; for bool, \
         whether they differ.",
    )
    .forms(Forms::WITH_OUT)
    .grad(Parts)
    .differs("names propagate; in Rust, use `cat` to prepend or append elements")
    .spread(Spread::LinearAlong),
    Row::new(
        "trapezoid",
        "self, x: Tensor = None, *, dx: Scalar = 1, dim: Dim = -1",
        Compose,
        Removes,
        "Computes the integral along a dim by the trapezoidal rule, from samples `dx` \
         apart or at positions `x`.",
    )
    .dtype(Float, DTypes::NUMBERS)
    .aliases(&["trapz"])
    .grad(Parts)
    .spread(Spread::LinearAlong),
    Row::new(
        "cumulative_trapezoid",
        "self, x: Tensor = None, *, dx: Scalar = 1, dim: Dim = -1",
        Compose,
        Keeps,
        "Computes the running integral along a dim by the trapezoidal rule.",
    )
    .dtype(Float, DTypes::NUMBERS)
    .grad(Parts)
    .spread(Spread::LinearAlong),
    Row::new(
        "cov",
        "self, *, correction: Int = 1, fweights: Tensor = None, aweights: Tensor = None",
        Compose,
        Special,
        "Computes the covariance matrix of variables, which are rows, over \
         observations, which are columns. Its second dim has the primed name of the \
         first. One row gives a number, in types a matrix of one element.",
    )
    .dtype(Float, DTypes::REAL)
    .grad(Parts)
    .differs("only for real numbers")
    .spread(Spread::Along),
    Row::new(
        "corrcoef",
        "self",
        Compose,
        Special,
        "Computes the correlation coefficients of variables, which are rows.",
    )
    .dtype(Float, DTypes::REAL)
    .grad(Parts)
    .differs("only for real numbers")
    .spread(Spread::Along),
    Row::new(
        "renorm",
        "self, p: Scalar, dim: Dim, maxnorm: Scalar",
        Compose,
        Keeps,
        "Scales slices along a dim down to a norm of at most `maxnorm`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT)
    .grad(Parts)
    .edges(Edges::Scaled(
        "derivatives of f64 below 1e-300 pass through subnormal numbers",
    ))
    .spread(Spread::Along),
];

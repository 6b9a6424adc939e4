//! Statistics: norms, moments, running results.

use crate::mesh::Combine;
use crate::op::Class::{Compose, Reduce, Scan, Softmax};
use crate::op::DTypeRule::{Float, Index, Real, Same, Sum};
use crate::op::Grad::{Constant, Lines, Parts};
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
    scan("cumprod", "The running product along a dim.")
        .forms(Forms::ALL)
        .dtype(Sum, DTypes::ALL).grad(Lines(&[("self", "rule::cumprod(grad, self, result)")])).spread(Spread::Along),
    scan(
        "logcumsumexp",
        "The logarithm of the running sum of exponentials along a dim, without overflow.",
    )
    .dtype(Same, DTypes::INEXACT)
    .grad(Lines(&[("self", "rule::logcumsumexp(grad, self, result)")])).differs("a dtype may be asked for").spread(Spread::Along),
    softmax(
        "log_softmax",
        "The logarithm of `softmax`, without loss where that is small.",
    ).grad(Lines(&[("self", "grad - exp(result) * sum(grad, dim, true)")])).spread(Spread::Along),
    softmax("softmin", "`softmax` of the negated elements.").grad(Lines(&[("self", "result * (sum(grad * result, dim, true) - grad)")])).spread(Spread::Along),
    reduce("nansum", TYPED, "The sum over dims of the elements that are not NaN.")
        .dtype(Sum, DTypes::REAL).grad(Lines(&[("self", "where_cond(isnan(self), 0, spread(grad))")])).spread(Spread::Reduce(Combine::Add)),
    reduce("nanmean", TYPED, "The mean over dims of the elements that are not NaN.")
        .dtype(Same, DTypes::FLOATS).grad(Lines(&[("self", "where_cond(isnan(self), 0, spread(grad / clamp_min(sum(eq(self, self), dim, keepdim), 1)))")])).spread(Spread::Along),
    reduce(
        "count_nonzero",
        "self, dim: Dims = None, keepdim: Bool = False",
        "The count of elements over dims that differ from zero.",
    )
    .forms(Forms::PURE)
    .dtype(Index, DTypes::ALL)
    .grad(Constant).differs("keeps dims on request").spread(Spread::Reduce(Combine::Add)),
    reduce(
        "norm",
        "self, p: Scalar = 2, dim: Dims = None, keepdim: Bool = False, *, dtype: DType = None",
        "The norm of the vectors over dims: the root, of degree `p`, of the sum of powers; the \
         greatest or smallest magnitude for an infinite `p`, the number of elements that differ \
         from zero for 0.",
    )
    .dtype(Real, DTypes::INEXACT)
    .aliases(&["vector_norm"])
    .grad(Lines(&[("self", "rule::norm(grad, self, result)")])).differs("of vectors alone; several dims are one vector").spread(Spread::Along),
    Row::new(
        "std_mean",
        CORRECTED,
        Compose,
        Removes,
        "The standard deviation over dims, and the mean.",
    )
    .dtype(Real, DTypes::INEXACT).grad(Parts).spread(Spread::Along),
    Row::new(
        "var_mean",
        CORRECTED,
        Compose,
        Removes,
        "The variance over dims, and the mean.",
    )
    .dtype(Real, DTypes::INEXACT).grad(Parts).spread(Spread::Along),
    Row::new(
        "aminmax",
        "self, *, dim: Dims = None, keepdim: Bool = False",
        Compose,
        Removes,
        "The smallest element over dims, and the greatest.",
    )
    .forms(Forms::WITH_OUT)
    .dtype(Same, DTypes::REAL)
    .grad(Parts).differs("over several dims too").spread(Spread::Along),
    Row::new(
        "dist",
        "self, other, p: Scalar = 2",
        Compose,
        crate::op::NameRule::Special,
        "The norm of the difference of two tensors, as one number.",
    )
    .dtype(Real, DTypes::INEXACT)
    .grad(Parts).differs("the names of both unify, and go").spread(Spread::Along),
    Row::new(
        "diff",
        "self, n: Int = 1, dim: Dim = -1, prepend: Tensor = None, append: Tensor = None",
        Compose,
        Keeps,
        "Differences of neighbours along a dim, `n` times over; of bool, whether they differ.",
    )
    .forms(Forms::WITH_OUT)
    .grad(Parts).differs("names go through; in Rust, `cat` joins what is prepended or appended").spread(Spread::LinearAlong),
    Row::new(
        "trapezoid",
        "self, x: Tensor = None, *, dx: Scalar = 1, dim: Dim = -1",
        Compose,
        Removes,
        "The integral along a dim by the trapezoidal rule, of samples `dx` apart or at places `x`.",
    )
    .dtype(Float, DTypes::NUMBERS)
    .aliases(&["trapz"]).grad(Parts).spread(Spread::LinearAlong),
    Row::new(
        "cumulative_trapezoid",
        "self, x: Tensor = None, *, dx: Scalar = 1, dim: Dim = -1",
        Compose,
        Keeps,
        "The running integral along a dim by the trapezoidal rule.",
    )
    .dtype(Float, DTypes::NUMBERS).grad(Parts).spread(Spread::LinearAlong),
    Row::new(
        "cov",
        "self, *, correction: Int = 1, fweights: Tensor = None, aweights: Tensor = None",
        Compose,
        Special,
        "The covariance of variables, which are rows, over observations, which are columns: rows \
         by rows, of which the second dim is the primed first; of one row a number, or with types one \
         by one.",
    )
    .dtype(Float, DTypes::REAL)
    .grad(Parts).differs("of real numbers").spread(Spread::Along),
    Row::new(
        "corrcoef",
        "self",
        Compose,
        Special,
        "Correlation coefficients of variables, which are rows.",
    )
    .dtype(Float, DTypes::REAL)
    .grad(Parts).differs("of real numbers").spread(Spread::Along),
    Row::new(
        "renorm",
        "self, p: Scalar, dim: Dim, maxnorm: Scalar",
        Compose,
        Keeps,
        "Slices along a dim scaled down to a norm of at most `maxnorm`.",
    )
    .forms(Forms::ALL)
    .dtype(Same, DTypes::INEXACT).grad(Parts).edges(Edges::Scaled("slopes of f64 below 1e-300 pass through subnormal numbers")).spread(Spread::Along),
];

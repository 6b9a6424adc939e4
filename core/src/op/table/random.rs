//! Random fills, samples and seeds.

use crate::op::Class::{Query, Random};
use crate::op::DTypeRule::{Argument, Same};
use crate::op::NameRule::{Factory, InPlace, Keeps, None, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

/// An in-place fill; the form with `_from` in its name takes a generator.
const fn fill(
    name: &'static str,
    signature: &'static str,
    dtypes: DTypes,
    doc: &'static str,
) -> Row {
    Row::new(name, signature, Random, InPlace, doc)
        .dtype(Same, dtypes)
        .forms(Forms::IN_PLACE_ONLY)
}

pub(super) const ROWS: &[Row] = &[
    Row::new(
        "bernoulli",
        "self, p: Operand = None",
        Random,
        Keeps,
        "Draws ones with the elements of `self` as probabilities, and zeros otherwise. \
         The in-place form takes any dtype but complex, and the probability `p`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::ALL)
    .differs("the names of a tensor of probabilities unify with those of `self`"),
    fill(
        "uniform",
        "self, from: Scalar = 0, to: Scalar = 1",
        DTypes::FLOATS,
        "Fills the tensor with uniform random numbers from `from` to `to`, excluding \
         `to`.",
    ),
    fill(
        "normal_",
        "self, mean: Scalar = 0, std: Scalar = 1",
        DTypes::INEXACT,
        "Fills the tensor with normally distributed random numbers.",
    ),
    fill(
        "log_normal",
        "self, mean: Scalar = 1, std: Scalar = 2",
        DTypes::FLOATS,
        "Fills the tensor with random numbers whose logarithms are normally \
         distributed.",
    ),
    fill(
        "exponential",
        "self, lambd: Scalar = 1",
        DTypes::FLOATS,
        "Fills the tensor with exponentially distributed random numbers, above zero.",
    ),
    fill(
        "cauchy",
        "self, median: Scalar = 0, sigma: Scalar = 1",
        DTypes::FLOATS,
        "Fills the tensor with Cauchy-distributed random numbers.",
    ),
    fill(
        "geometric",
        "self, p: Scalar",
        DTypes::ORDERED,
        "Fills the tensor with geometrically distributed random numbers: trials up to \
         the first success of probability `p`.",
    ),
    fill(
        "random",
        "self, from: Int = 0, to: Int = None",
        DTypes::REAL,
        "Fills the tensor with random whole numbers from `from` to `to`, excluding \
         `to`, by default up to the greatest that the dtype holds exactly.",
    )
    .differs("in Rust, a range: `x.random_(0..5)`; no bias towards low numbers"),
    Row::new(
        "normal",
        "mean: Operand, std: Operand = 1, size: Sizes = None, *, names: Names = None, \
         dtype: DType = None, device: Device = None",
        Random,
        Unifies,
        "Draws normally distributed random numbers, each with its own mean, which may \
         be complex, and standard deviation.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::FUNCTION.and(Forms::OUT)),
    Row::new(
        "poisson",
        "self",
        Random,
        Keeps,
        "Draws Poisson-distributed random numbers with the elements of `self` as rates.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .differs("also a method"),
    Row::new(
        "multinomial",
        "self, num_samples: Int, replacement: Bool = False, *, dim: Dim = -1",
        Random,
        Keeps,
        "Draws indices along a dim with the elements of `self` as weights.",
    )
    .dtype(DTypeRule::Index, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .differs("along any dim of a tensor of any rank; the dim keeps its name")
    .spread(Spread::Along),
    Row::new(
        "randint",
        "low: Int = 0, high: Int, size: Sizes, *, names: Names = None, dtype: DType = \
         None, device: Device = None",
        Random,
        Factory,
        "Draws random whole numbers from `low` to `high`, excluding `high`; i64 by \
         default.",
    )
    .dtype(Argument, DTypes::REAL)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .differs("in Rust, a range: `randint(0..5, …)`; no bias towards low numbers"),
    Row::new(
        "randint_like",
        "self, low: Int = 0, high: Int, *, dtype: DType = None, device: Device = None",
        Random,
        Keeps,
        "Draws random whole numbers with the shape, names and dtype of another tensor.",
    )
    .dtype(Argument, DTypes::REAL)
    .forms(Forms::FUNCTION)
    .differs("in Rust, a range"),
    Row::new(
        "randperm",
        "n: Int, *, names: Names = None, dtype: DType = None, device: Device = None",
        Random,
        Factory,
        "Returns the numbers from 0 to `n`, excluding `n`, in random order; i64 by \
         default.",
    )
    .dtype(Argument, DTypes::ORDERED)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .spread(Spread::Whole),
    Row::new(
        "manual_seed",
        "seed: Int",
        Query,
        None,
        "Seeds the default generator, which all threads share.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .differs("the same for all devices; returns nothing"),
    Row::new(
        "seed",
        "",
        Query,
        None,
        "Seeds the default generator from the operating system and returns the seed.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION),
    Row::new(
        "initial_seed",
        "",
        Query,
        None,
        "Returns the seed of the default generator.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION),
];

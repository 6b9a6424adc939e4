//! Random fills, samples and seeds.

use crate::op::Class::{Query, Random};
use crate::op::DTypeRule::{Argument, Same};
use crate::op::NameRule::{Factory, InPlace, Keeps, None, Unifies};
use crate::op::{DTypeRule, DTypes, Forms, Row, Spread};

/// What is filled, in place; a twin with `_from` in its name takes a generator.
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
        "Ones with self's elements as probabilities, else zeros; in place, of any dtype but complex, with probability `p`.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::ALL)
    .differs("names of a tensor of probabilities unify with self's").spread(Spread::Create),
    fill(
        "uniform",
        "self, from: Scalar = 0, to: Scalar = 1",
        DTypes::FLOATS,
        "Random numbers, uniform from `from` to before `to`.",
    ).spread(Spread::Create),
    fill(
        "normal_",
        "self, mean: Scalar = 0, std: Scalar = 1",
        DTypes::INEXACT,
        "Random numbers of a normal distribution.",
    ).spread(Spread::Create),
    fill(
        "log_normal",
        "self, mean: Scalar = 1, std: Scalar = 2",
        DTypes::FLOATS,
        "Random numbers whose logarithms are normal.",
    ).spread(Spread::Create),
    fill(
        "exponential",
        "self, lambd: Scalar = 1",
        DTypes::FLOATS,
        "Random waiting times of the exponential distribution, above zero.",
    ).spread(Spread::Create),
    fill(
        "cauchy",
        "self, median: Scalar = 0, sigma: Scalar = 1",
        DTypes::FLOATS,
        "Random numbers of a Cauchy distribution.",
    ).spread(Spread::Create),
    fill(
        "geometric",
        "self, p: Scalar",
        DTypes::ORDERED,
        "Geometric random numbers: trials up to the first success of probability `p`.",
    ).spread(Spread::Create),
    fill(
        "random",
        "self, from: Int = 0, to: Int = None",
        DTypes::REAL,
        "Random whole numbers from `from` to before `to`, or up to what the dtype holds exactly.",
    )
    .differs("in Rust, a range: `x.random_(0..5)`; no bias towards low numbers").spread(Spread::Create),
    Row::new(
        "normal",
        "mean: Operand, std: Operand = 1, size: Sizes = None, *, names: Names = None, dtype: DType = None, device: Device = None",
        Random,
        Unifies,
        "Random numbers of normal distributions, each with its mean, which may be complex, and standard deviation.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::FUNCTION.and(Forms::OUT)).spread(Spread::Create),
    Row::new(
        "poisson",
        "self",
        Random,
        Keeps,
        "Poisson random numbers, with self's elements as rates.",
    )
    .dtype(Same, DTypes::FLOATS)
    .forms(Forms::FUNCTION)
    .differs("a method too").spread(Spread::Create),
    Row::new(
        "multinomial",
        "self, num_samples: Int, replacement: Bool = False, *, dim: Dim = -1",
        Random,
        Keeps,
        "Indices along a dim, drawn with self's elements as weights.",
    )
    .dtype(DTypeRule::Index, DTypes::FLOATS)
    .forms(Forms::WITH_OUT)
    .differs("along any dim of any number of dims; the dim keeps its name").spread(Spread::Along),
    Row::new(
        "randint",
        "low: Int = 0, high: Int, size: Sizes, *, names: Names = None, dtype: DType = None, device: Device = None",
        Random,
        Factory,
        "Random whole numbers from `low` to before `high`; i64 unless asked.",
    )
    .dtype(Argument, DTypes::REAL)
    .forms(Forms::FUNCTION.and(Forms::OUT))
    .differs("in Rust, a range: `randint(0..5, …)`; no bias towards low numbers").spread(Spread::Create),
    Row::new(
        "randint_like",
        "self, low: Int = 0, high: Int, *, dtype: DType = None, device: Device = None",
        Random,
        Keeps,
        "Random whole numbers in the shape, names and dtype of another tensor.",
    )
    .dtype(Argument, DTypes::REAL)
    .forms(Forms::FUNCTION)
    .differs("in Rust, a range").spread(Spread::Create),
    Row::new(
        "randperm",
        "n: Int, *, names: Names = None, dtype: DType = None, device: Device = None",
        Random,
        Factory,
        "The numbers from 0 to before `n` in random order; i64 unless asked.",
    )
    .dtype(Argument, DTypes::ORDERED)
    .forms(Forms::FUNCTION.and(Forms::OUT)).spread(Spread::Whole),
    Row::new(
        "manual_seed",
        "seed: Int",
        Query,
        None,
        "Seeds the default generator, which all threads share.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION)
    .differs("the same for all devices; gives nothing back").spread(Spread::Local),
    Row::new(
        "seed",
        "",
        Query,
        None,
        "Seeds the default generator from the operating system, and says with what.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION).spread(Spread::Local),
    Row::new(
        "initial_seed",
        "",
        Query,
        None,
        "What the default generator was seeded with.",
    )
    .dtype(DTypeRule::None, DTypes::ALL)
    .forms(Forms::FUNCTION).spread(Spread::Local),
];

//! Random draws that depend on a tensor.

use nomina_core::{Error, ErrorKind};

use super::Place;
use crate::random::Stream;

/// A distribution with a parameter for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// One with the given probability, else zero.
    Bernoulli,
    /// The number of events at the given rate.
    Poisson,
}

impl Drawn {
    /// Returns the error of an element with an invalid parameter.
    pub(crate) fn refused(self, element: usize) -> Error {
        let (op, what, hint) = match self {
            Self::Bernoulli => ("bernoulli", "probability", "give probabilities from 0 to 1"),
            Self::Poisson => ("poisson", "rate", "give rates of 0 or more"),
        };
        let what = format!("element {element} is no {what}");
        Error::new(ErrorKind::Argument, op, what).hint(hint)
    }
}

/// Positions drawn by weight, for a backend: weights are a row-major matrix of floats, the result a
/// matrix of `i64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multinomial {
    pub(crate) rows: usize,
    pub(crate) categories: usize,
    pub(crate) samples: usize,
    pub(crate) replacement: bool,
    pub(crate) weights: Place,
    pub(crate) dest: Place,
    pub(crate) words: Stream,
}

impl Multinomial {
    /// Returns the error of a row with unusable weights.
    pub(crate) fn refused(row: usize, samples: usize) -> Error {
        let what = format!("row {row} has no weights to draw {samples} from");
        Error::new(ErrorKind::Argument, "multinomial", what)
            .hint("give finite weights of 0 or more; without replacement, enough above 0")
    }
}

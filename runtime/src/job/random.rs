//! Random draws that depend on a tensor.

use nomina_core::{Error, ErrorKind};

use super::Place;
use crate::random::Stream;

/// What is drawn with a parameter for each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drawn {
    /// One with the probability given.
    Bernoulli,
    /// Events at the rate given.
    Poisson,
}

impl Drawn {
    /// What happens when the parameter of an element says no distribution.
    pub(crate) fn refused(self, element: usize) -> Error {
        let (op, what, hint) = match self {
            Self::Bernoulli => ("bernoulli", "probability", "give probabilities from 0 to 1"),
            Self::Poisson => ("poisson", "rate", "give rates of 0 or more"),
        };
        let what = format!("element {element} is no {what}");
        Error::new(ErrorKind::Argument, op, what).hint(hint)
    }
}

/// Places drawn by weight, as a backend sees it: weights are a row-major matrix of floats, the
/// result one of `i64`.
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
    /// What happens when the weights of a row cannot be drawn by.
    pub(crate) fn refused(row: usize, samples: usize) -> Error {
        let what = format!("row {row} has no weights to draw {samples} from");
        Error::new(ErrorKind::Argument, "multinomial", what).hint(
            "give finite weights of 0 or more; without replacement, as many above 0 as are drawn",
        )
    }
}

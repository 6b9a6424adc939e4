//! Rows that are normalised: softmax, norms, cross entropy.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::Place;
use crate::shape::Shape;

/// A normalisation as a backend sees it. The shape has at least one dim and no size 0.
pub(crate) struct SoftmaxJob<'a> {
    pub op: Op,
    /// Whether the result is its logarithm.
    pub logarithm: bool,
    /// What elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: *const u8,
    pub dtype: DType,
    pub dim: usize,
    pub out: *mut u8,
    pub out_strides: &'a [isize],
    pub out_dtype: DType,
}

/// A normalisation as a backend sees it. There is at least one element.
pub(crate) struct NormJob<'a> {
    /// Whose name an error bears.
    pub op: &'static str,
    /// Whether the mean stays, and the mean square becomes one.
    pub rms: bool,
    /// What is added to the variance.
    pub eps: f64,
    /// What elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    /// The dims along a row, in any order.
    pub dims: &'a [usize],
    pub x: Place,
    pub strides: &'a [isize],
    pub out: Place,
    pub out_strides: &'a [isize],
    /// Strides of the shape, zero where all indices have the same number.
    pub weight: Option<(Place, &'a [isize])>,
    pub bias: Option<(Place, &'a [isize])>,
    /// Mean and standard deviation of each row; null when nobody asks.
    pub stats: *mut f64,
}

/// Cross entropy as a backend sees it.
pub(crate) struct EntropyJob<'a> {
    /// Whose name an error bears.
    pub op: &'static str,
    /// Whether elements are logits, whose logarithm of the sum of exponentials is taken off, or
    /// logarithms of probabilities.
    pub logits: bool,
    pub compute: DType,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: Place,
    /// The dim of classes.
    pub dim: usize,
    /// The true class of each row, or `ignore_index`, adjacent.
    pub targets: *const i64,
    /// A weight for each class, adjacent; null where all are 1.
    pub weight: *const f64,
    /// The sum of the weights; null where all are 1, or nothing is smoothed.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub weights: *const f64,
    /// What a target out of range is told by. The host's were checked before.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub outside: &'a Outside,
    pub ignore_index: i64,
    pub smoothing: f64,
    /// The loss and the weight of each row.
    pub out: *mut f64,
}

/// A call of cross entropy, for the error of a target that is no class.
#[derive(Clone)]
pub(crate) struct Outside {
    pub op: Op,
    /// Of the operand and of the targets.
    pub shapes: [Shape; 2],
    pub dim: usize,
}

impl Outside {
    /// How many rows there are.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device asks"))]
    pub(crate) fn rows(&self) -> usize {
        crate::shape::count(&self.shapes[1])
    }

    /// Refuses targets that are none of the classes, but for the one that does not count.
    pub(crate) fn check(&self, targets: &[i64], ignored: i64) -> Result<()> {
        let classes = self.shapes[0][self.dim];
        let is_class = |target: i64| usize::try_from(target).is_ok_and(|target| target < classes);
        let bad = targets.iter().find(|&&t| t != ignored && !is_class(t));
        bad.map_or(Ok(()), |&bad| Err(self.error(bad)))
    }

    #[cold]
    pub(crate) fn error(&self, target: i64) -> Error {
        let classes = self.shapes[0][self.dim];
        let what = format!("target {target} is out of range for {classes} classes");
        let error = Error::new(ErrorKind::Index, self.op.name(), what);
        (self.shapes.iter())
            .fold(error, |error, shape| {
                error.operand(&Names::default(), shape)
            })
            .at(0, self.dim)
            .hint("classes count from 0")
    }
}

/// Which gradient of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowGradient {
    /// Of a softmax, whose result was saved.
    Softmax,
    /// Of its logarithm.
    LogSoftmax,
    /// Of a normalisation, whose operand was saved; `eps` was added to the variance.
    Norm { rms: bool, eps: f64 },
    /// Of the cross entropy of logits, which were saved, without that of the true classes. What comes for it is in the numbers.
    Entropy,
}

/// Gradients of rows, which the host alone computes in one pass. There is at least one element.
pub(crate) struct RowGradientJob<'a> {
    pub by: RowGradient,
    /// What elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    /// The dims along a row, in order.
    pub dims: &'a [usize],
    pub saved: (Place, &'a [isize]),
    pub grad: (Place, &'a [isize]),
    pub out: (Place, &'a [isize]),
    /// What rows were multiplied by.
    pub weight: Option<(Place, &'a [isize])>,
    /// Two of each row, or null: mean and standard deviation of a norm, the logarithm of the sum of exponentials and a factor of an entropy.
    pub numbers: *const f64,
}

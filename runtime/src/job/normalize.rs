//! Normalisation of rows: softmax, norms, cross entropy.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::Place;
use crate::shape::Shape;

/// A softmax's description for a backend. The shape has at least one dim and no size 0.
pub(crate) struct SoftmaxJob<'a> {
    pub op: Op,
    /// Whether the result is the logarithm of the softmax.
    pub logarithm: bool,
    /// The dtype that elements are converted to.
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

/// A normalisation's description for a backend. There is at least one element.
pub(crate) struct NormJob<'a> {
    /// The operator that errors name.
    pub op: &'static str,
    /// Whether the mean is not subtracted, and the mean square becomes one (RMS norm).
    pub rms: bool,
    /// The number added to the variance.
    pub eps: f64,
    /// The dtype that elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    /// The dims along a row, in any order.
    pub dims: &'a [usize],
    pub x: Place,
    pub strides: &'a [isize],
    pub out: Place,
    pub out_strides: &'a [isize],
    /// Strides over the shape, zero where all indices share one number.
    pub weight: Option<(Place, &'a [isize])>,
    pub bias: Option<(Place, &'a [isize])>,
    /// Mean and standard deviation of each row; null if they are not wanted.
    pub stats: *mut f64,
}

/// A cross entropy's description for a backend.
pub(crate) struct EntropyJob<'a> {
    /// The operator that errors name.
    pub op: &'static str,
    /// Whether elements are logits, from which the logarithm of the sum of exponentials is subtracted, or
    /// log-probabilities.
    pub logits: bool,
    pub compute: DType,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
    pub x: Place,
    /// The dim of classes.
    pub dim: usize,
    /// The true class of each row, or `ignore_index`; contiguous.
    pub targets: *const i64,
    /// A weight for each class, contiguous; null if all are 1.
    pub weight: *const f64,
    /// The sum of the weights; null if all are 1, or nothing is smoothed.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub weights: *const f64,
    /// The source of errors for targets out of range. On the host, targets were checked before.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device reads it"))]
    pub outside: &'a Outside,
    pub ignore_index: i64,
    pub smoothing: f64,
    /// The loss and the weight of each row.
    pub out: *mut f64,
}

/// A call of cross entropy, for the error of a target that is not a class.
#[derive(Clone)]
pub(crate) struct Outside {
    pub op: Op,
    /// The shapes of the operand and of the targets.
    pub shapes: [Shape; 2],
    pub dim: usize,
}

impl Outside {
    /// Returns the number of rows.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a device asks"))]
    pub(crate) fn rows(&self) -> usize {
        crate::shape::count(&self.shapes[1])
    }

    /// Checks that targets are classes, except the ignored one.
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

/// The operator whose row gradient is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowGradient {
    /// Softmax, with its saved result.
    Softmax,
    /// The logarithm of softmax, with its saved result.
    LogSoftmax,
    /// A normalisation, with its saved operand; `eps` was added to the variance.
    Norm { rms: bool, eps: f64 },
    /// Cross entropy, with its saved logits, without the contribution of the true classes. The incoming gradient is in
    /// `numbers`.
    Entropy,
}

/// Gradients of rows, which only the host computes in one pass. There is at least one element.
pub(crate) struct RowGradientJob<'a> {
    pub by: RowGradient,
    /// The dtype that elements are converted to.
    pub compute: DType,
    pub shape: &'a [usize],
    /// The dims along a row, in order.
    pub dims: &'a [usize],
    pub saved: (Place, &'a [isize]),
    pub grad: (Place, &'a [isize]),
    pub out: (Place, &'a [isize]),
    /// The factors of the rows.
    pub weight: Option<(Place, &'a [isize])>,
    /// Two per row, or null: mean and standard deviation for a norm, the logarithm of the sum of exponentials and a
    /// factor for an entropy.
    pub numbers: *const f64,
}

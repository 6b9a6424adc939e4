//! Metrics that accumulate over batches, in `f64` and without recording gradients.
//!
//! Each has `update` for a batch, values for all batches so far, `merge` to add those of another thread or rank, and
//! `reset`. Without any element, a value is NaN. Dims are matched by name: labels have the dims of scores without the
//! dim of the classes.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::metrics::{Accuracy, Average, Confusion};
//! dims! { N, Class }
//! let scores = tensor!([[0.1, 0.7, 0.2], [0.8, 0.1, 0.1], [0.2, 0.3, 0.5]]; N, Class);
//! let labels = tensor!([1, 0, 1]; N);
//!
//! let (mut accuracy, mut top2) = (Accuracy::new(Class), Accuracy::top(2, Class));
//! let mut confusion = Confusion::new(Class.of(3));
//! accuracy.update(&scores, &labels);
//! top2.update(&scores, &labels);
//! confusion.update_scores(&scores, &labels);
//! assert_eq!((accuracy.value(), top2.value()), (2.0 / 3.0, 1.0));
//! assert_eq!(confusion.recall(Average::Macro), 0.5);
//! let counts: Tensor<(Class, Prime<Class>), i64> = confusion.counts();    // labels, predictions
//! assert_eq!(counts.to_vec(), [1, 0, 0, 0, 1, 1, 0, 0, 0]);
//! ```
//!
//! | | |
//! |---|---|
//! | [`Accuracy`] | the share of labels that are among the `k` greatest scores |
//! | [`Confusion`] | counts of labels and predictions; precision, recall and F1, for each class or averaged |
//! | [`Mean`] | a running mean, weighted by counts: losses |
//! | [`Perplexity`] | the exponential of the mean cross entropy |
//! | [`RegressionErrors`] | mean absolute error, mean squared error, R² |

mod accuracy;
mod confusion;
mod mean;
mod regression;

pub use accuracy::Accuracy;
pub use confusion::{Average, Confusion};
pub use mean::{Mean, Perplexity};
use nomina::{DType, DynTensor, Error, Result};
pub use regression::RegressionErrors;

/// The label that is not counted, like the default of `cross_entropy`.
const IGNORED: i64 = -100;

/// Checks that two tensors have the same names and sizes.
fn check_alike(op: &'static str, a: &DynTensor, b: &DynTensor) -> Result<()> {
    nomina_core::rule::unify(op, a.names(), b.names())?;
    if a.rank() != b.rank() {
        let what = format!("{} dims and {} dims", a.rank(), b.rank());
        return Err(Error::new(nomina::ErrorKind::Rank, op, what)
            .operand(a.names(), a.shape())
            .operand(b.names(), b.shape()));
    }
    let other = (0..a.rank()).find(|&at| a.shape()[at] != b.shape()[at]);
    other.map_or(Ok(()), |at| {
        let shapes = [a.shape(), b.shape()];
        Err(Error::sizes(op, shapes, [(0, at), (1, at)]).with_names([a.names(), b.names()]))
    })
}

/// Returns integers as `i64`, from any device.
fn integers(x: &DynTensor) -> Result<Vec<i64>> {
    x.to_dtype(DType::I64)?.to_vec::<i64>()
}

/// Returns numbers as `f64`, from any device.
fn numbers(x: &DynTensor) -> Result<Vec<f64>> {
    x.detach().to_dtype(DType::F64)?.to_vec::<f64>()
}

fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

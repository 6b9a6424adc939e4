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
mod numbers;
mod regression;

pub use accuracy::Accuracy;
pub use confusion::{Average, Confusion};
pub use mean::{Mean, Perplexity};
pub use regression::RegressionErrors;

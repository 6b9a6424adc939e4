//! Data: from items to batches.
//!
//! A [`Loader`] reads items, in the order of a [`Sampler`], on any number of threads, and stacks them along a new dim.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::prelude::*;
//! dims! { N, H, W }
//!
//! /// A picture and its label; the derive declares `SampleBatch<N>`, with the same fields in batches.
//! #[derive(Batch)]
//! struct Sample {
//!     image: Tensor<(H, W)>,
//!     label: i64,
//! }
//!
//! let read = |index: usize| -> Result<Sample> {
//!     Ok(Sample { image: Tensor::full([8, 8], index as f32), label: index as i64 })
//! };
//! let loader = Loader::from_fn(N, 100, read, 32).shuffled(7).workers(2).drop_last();
//! for epoch in 0..2 {
//!     for batch in loader.epoch(epoch) {
//!         let SampleBatch { image, label } = batch?;
//!         let (image, label): (Tensor<(N, H, W)>, Tensor<(N,), i64>) = (image, label);
//!         assert_eq!((image.shape(), label.size(N)), (&[32, 8, 8][..], 32));
//!     }
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`Loader`] | batches of items on several threads, in an order that the number of threads does not change |
//! | [`Dataset`] | items by index: a `Vec`, a type of yours, [`Augmented`] with random numbers |
//! | [`Sequential`](InOrder), [`Shuffled`], [`WithReplacement`], [`Weighted`], [`Subset`], [`Shard`] | samplers |
//! | [`pad_sequences`], [`length_mask`] | sequences of several lengths in one tensor |
//! | [`Batches`] | only the indices, for tensors in memory |

mod batches;
mod dataset;
mod epoch;
mod error;
mod loader;
mod pad;
mod sampler;
mod source;

pub use batches::Batches;
pub use dataset::{Augmented, Dataset, FromFn};
pub use epoch::{Epoch, Position};
pub use error::BoxError;
pub use loader::Loader;
pub use nomina::loops::Batch;
pub use pad::{length_mask, pad_sequences, try_length_mask, try_pad_sequences};
pub use sampler::{InOrder, Sampler, Shard, Shuffled, Subset, Weighted, WithReplacement};
pub use source::Rows;

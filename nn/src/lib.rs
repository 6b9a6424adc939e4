//! Neural networks whose layers name their dims.
//!
//! A model is a struct of parameters and layers. A layer names the dims that it works on and passes all others through, so
//! layers in the wrong order are a type error.
//!
//! ```
//! use nomina::prelude::*;
//! use nomina_nn::prelude::*;
//!
//! dims! { N, Pixel, Hidden, Class }
//!
//! #[derive(Module)]
//! struct Classifier {
//!     first: Linear<Pixel, Hidden>,
//!     second: Linear<Hidden, Class>,
//! }
//!
//! impl Classifier {
//!     fn forward(&self, x: &Tensor<(N, Pixel)>) -> Tensor<(N, Class)> {
//!         self.second.forward(&self.first.forward(x).relu())
//!     }
//! }
//!
//! manual_seed(0);
//! let mut model = Classifier {
//!     first: Linear::new(Pixel.of(2), Hidden.of(16)),
//!     second: Linear::new(Hidden.of(16), Class.of(2)),
//! };
//! let x: Tensor<(N, Pixel)> = tensor!([[0., 0.], [0., 1.], [1., 0.], [1., 1.]]; N, Pixel);
//! let labels = tensor!([0, 1, 1, 0]; N);
//!
//! let mut optimizer = AdamW::new(0.05);
//! for _ in 0..200 {
//!     model.forward(&x).cross_entropy(&labels, Class).backward();
//!     optimizer.step(&mut model);
//! }
//! assert_eq!(model.forward(&x).argmax(Class).to_vec(), labels.to_vec());
//! ```
//!
//! | | |
//! |---|---|
//! | [`prelude`] | everything that a program with networks needs, in addition to nomina's own prelude |
//! | [`Module`] | a type with parameters: derived for structs and enums of modules |
//! | [`Param`] | a trained tensor; a plain [`Tensor`](nomina::Tensor) in a module is a buffer |
//! | [`layers`] | `Linear`, `Embedding`, norms, convolutions, attention, Transformers, recurrent layers, dropout |
//! | [`optim`] | `Sgd`, `Adam`, `AdamW`, `RmsProp`, `Adagrad`, `Lion`, `Muon`, `Lbfgs`, groups, averages, clipping, [schedules](optim::schedule) |
//! | [`init`] | initial weights |
//! | [`data`] | `Loader`: batches of items on several threads; samplers, padding; [`Batches`]: indices in batches |
//! | [`metrics`] | accuracy, confusion, running means, perplexity, errors of predicted numbers |
//! | [`generate`] | text, token by token, as [`Sampling`] says |
//! | [`from_torch`] | a state of PyTorch's modules under the paths of these |
//!
//! `nomina-io` saves and loads models, and `nomina-mesh` distributes them.
//!
//! # Features
//!
//! - `progress`: progress bars, by `indicatif`.
//! - `tensorboard`: logs in TensorBoard's format.
//!
//! Features of `nomina`, such as `cuda`, apply to this crate.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod autocast;
mod buffer;
mod call;
pub mod data;
mod dtype;
mod generate;
mod identity;
pub mod init;
pub mod layers;
mod load;
pub mod metrics;
mod mode;
mod module;
mod operand;
pub mod optim;
mod param;
mod path;
pub mod prelude;
#[cfg(feature = "progress")]
#[cfg_attr(docsrs, doc(cfg(feature = "progress")))]
pub mod progress;
#[cfg(feature = "tensorboard")]
#[cfg_attr(docsrs, doc(cfg(feature = "tensorboard")))]
pub mod tensorboard;
mod torch;

// `#[twin]` expands to `crate::ok`.
pub use autocast::autocast;
pub use buffer::Buffer;
use call::ok;
pub use data::Batches;
#[doc(hidden)]
pub use dtype::Kept;
pub use dtype::{InDtype, ToDtype};
pub use generate::{Generation, Sampling, TokenSampler, generate, try_generate};
pub use identity::Identity;
pub use load::{Strict, Unmatched};
pub use mode::Mode;
pub use module::{Module, Slot};
#[doc(hidden)]
pub use nomina::Error;
/// Implements [`Module`] for a struct or an enum whose fields are modules; a field without parameters is marked
/// `#[module(skip)]`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { In, Out }
///
/// #[derive(Module)]
/// struct Scaled {
///     linear: Linear<In, Out>,
///     gain: Param<(Out,)>,
///     #[module(skip)]
///     rate: f32,
/// }
///
/// let linear = Linear::new(In.of(2), Out.of(3));
/// let model = Scaled { linear, gain: Param::new(tensor!([1., 1., 1.]; Out)), rate: 0.1 };
/// assert_eq!(model.paths(), ["linear.weight", "linear.bias", "gain"]);
/// assert_eq!(model.count(), 6 + 3 + 3);
/// ```
///
/// Fields of a tuple struct are numbered. `#[module(crate = path)]` on the type gives the path of this crate, if it is
/// not `::nomina_nn`.
pub use nomina_macros::Module;
pub use param::Param;
pub use path::Path;
pub use torch::{from_torch, try_from_torch};

/// The guide to networks, all of whose snippets run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/nn.md")]
pub struct Networks;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

//! Layers. Each names the dims that it works on; all others are batch dims.
//!
//! | layer | replaces | weight |
//! |---|---|---|
//! | [`Linear<I, O>`](Linear) | `I` by `O`, each a dim or a tuple of dims | `(O, I)` |
//! | [`Embedding<V, E>`](Embedding) | ids by rows along `E` | `(V, E)` |
//! | [`LayerNorm<A>`](LayerNorm), [`RmsNorm<A>`](RmsNorm) | nothing | `A` |
//! | [`BatchNorm<C>`](BatchNorm) | nothing | `(C,)` |
//! | [`Conv1d`], [`Conv2d`], [`Conv3d`] | the channel | `(Out, In, windows)` |
//! | [`MultiHeadAttention`] | nothing | four `Linear` |
//! | [`Lstm`], [`Gru`] | the input's dim by the state's | |
//! | [`Dropout`] | nothing | none |

mod attention;
mod conv;
mod dropout;
mod embedding;
mod linear;
mod norm;
mod recurrent;
mod sequential;

pub use attention::{Attention, MultiHeadAttention};
pub use conv::{Conv1d, Conv2d, Conv3d, Kernel};
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use linear::{Linear, Weight};
pub use nomina_runtime::call::Activation;
pub use norm::{BatchNorm, LayerNorm, RmsNorm};
pub use recurrent::{Gate, Gru, Lstm, Outputs};
pub use sequential::{Function, Layer, Sequential};

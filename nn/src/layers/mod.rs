//! Layers. Each names the dims that it works on; all others are batch dims.
//!
//! | layer | replaces | weight |
//! |---|---|---|
//! | [`Linear<I, O>`](Linear) | `I` by `O`, each a dim or a tuple of dims | `(O, I)` |
//! | [`Embedding<V, E>`](Embedding) | ids by rows along `E` | `(V, E)` |
//! | [`LayerNorm<A>`](LayerNorm), [`RmsNorm<A>`](RmsNorm) | nothing | `A` |
//! | [`BatchNorm<C>`](BatchNorm), [`GroupNorm<A, C>`](GroupNorm), [`InstanceNorm<A, C>`](InstanceNorm) | nothing | `(C,)` |
//! | [`Conv1d`], [`Conv2d`], [`Conv3d`] | the channel | `(Out, In, windows)` |
//! | [`ConvTranspose1d`], [`ConvTranspose2d`], [`ConvTranspose3d`] | the channel | `(In, Out, windows)` |
//! | [`Bilinear<I, J, O>`](Bilinear) | `I` and `J` of two inputs by `O` | `(O, I, J)` |
//! | [`MultiHeadAttention`], [`CrossAttention`] | nothing | four `Linear` |
//! | [`TransformerEncoder`], [`TransformerDecoder`] and their layers | nothing | those of their parts |
//! | [`Rnn`], [`Lstm`], [`Gru`] | the input's dim by the state's | |
//! | [`AdaptiveAvgPool<A>`](AdaptiveAvgPool), [`AdaptiveMaxPool<A>`](AdaptiveMaxPool), [`Upsample<A>`](Upsample) | sizes of `A` | none |
//! | [`Dropout`], [`ChannelDropout<A>`](ChannelDropout) | nothing | none |
//! | [`WeightNorm<L>`](WeightNorm), [`SpectralNorm<L>`](SpectralNorm) | those of the layer `L` | its own, and lengths or vectors |
//!
//! Every constructor creates an `f32` layer, since rustc does not infer a dtype that nothing else states.
//! [`to`](crate::ToDtype::to) converts a layer: `GroupNorm::<(H, W), C>::new(C.of(8), 2).to::<f64>()`.

mod attention;
mod bilinear;
mod channel_dropout;
mod conv;
mod conv_transpose;
mod dropout;
mod dtype;
mod embedding;
mod group_norm;
mod linear;
mod norm;
mod parametrization;
mod pool;
mod recurrent;
mod sequential;
mod transformer;

pub use attention::{
    Attention, CacheDims, CrossAttention, KeyValueCache, MultiHeadAttention, Past,
};
pub use bilinear::{Bilinear, Mixed};
pub use channel_dropout::ChannelDropout;
pub use conv::{Conv1d, Conv2d, Conv3d, InGroup, Kernel, Side, WithChannels};
pub use conv_transpose::{ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, TransposedKernel};
pub use dropout::Dropout;
pub use embedding::Embedding;
pub use group_norm::{GroupNorm, InstanceNorm, InstanceNormOptions};
pub use linear::{Linear, Weight};
pub use nomina_runtime::call::Activation;
pub use norm::{BatchNorm, LayerNorm, RmsNorm};
pub use parametrization::{Columns, SpectralNorm, WeightNorm, Weighted};
pub use pool::{AdaptiveAvgPool, AdaptiveMaxPool, Upsample};
pub use recurrent::{
    BiGru, BiLstm, BiRnn, BothWays, Direction, Directions, Final, Gate, Gru, GruCell, Lstm,
    LstmCell, OneWay, Outputs, Recurrent, RecurrentCell, RecurrentOptions, RecurrentState,
    RecurrentWeights, Rnn, RnnCell, StateFor,
};
pub use sequential::{Function, Layer, Sequential};
pub use transformer::{
    TransformerDecoder, TransformerDecoderLayer, TransformerEncoder, TransformerEncoderLayer,
    TransformerOptions,
};

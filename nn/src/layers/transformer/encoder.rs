//! The encoder of a Transformer.

use nomina::dims::{
    AxesOf, Dim, Dims, Distinct, EachIn, Has, Joined, Open, Prime, SizeOf, SizesFor, Without,
};
use nomina::{Element, Float, Result, Tensor};
use nomina_macros::twin;

use super::{
    LayerSizes, Layers, TransformerOptions, feed_forward, require_caches, residual, stacked,
};
use crate::layers::{Attention, CacheDims, KeyValueCache, LayerNorm, Linear, MultiHeadAttention};
use crate::{Mode, Module};

/// A layer of a Transformer encoder: self-attention along `S`, then two linear layers by way of `M`, each added to its
/// input and normalized. `E`, `H` and `F` are those of [`MultiHeadAttention`]. Vaswani et al., "Attention Is All You
/// Need".
///
/// With `causal` and rotary positions it is also a layer of a language model, and
/// [`forward_cached`](Self::forward_cached) computes it position by position.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Hidden, Head, Feature, Inner }
///
/// let options = TransformerOptions { norm_first: true, activation: Activation::Gelu, ..default() };
/// let layer = TransformerEncoderLayer::<Seq, Hidden, Head, Feature, Inner>::new(
///     Hidden.of(12), Head.of(3), Feature.of(4), Inner.of(24), options,
/// );
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
/// // The second sequence ends after three positions.
/// let counts = tensor!([[true, true, true, true, true], [true, true, true, false, false]]; N, Seq);
/// let y: Tensor<(N, Seq, Hidden)> = layer.forward_masked(&x, &counts.prime(Seq), Mode::Eval);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct TransformerEncoderLayer<S: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Element = f32> {
    /// The attention of the sequence to itself.
    pub self_attn: MultiHeadAttention<S, E, H, F, T>,
    /// The linear layer to inner features.
    pub linear1: Linear<E, M, T>,
    /// The linear layer from inner features.
    pub linear2: Linear<M, E, T>,
    /// The norm of the attention part.
    pub norm1: LayerNorm<E, T>,
    /// The norm of the linear part.
    pub norm2: LayerNorm<E, T>,
    /// The options. A change takes effect at the next call; that of `bias` has none.
    #[module(skip)]
    pub options: TransformerOptions,
}

/// A stack of [`TransformerEncoderLayer`]s.
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct TransformerEncoder<S: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Element = f32> {
    /// The layers.
    pub layers: Vec<TransformerEncoderLayer<S, E, H, F, M, T>>,
    /// The norm of the last layer's results.
    pub norm: Option<LayerNorm<E, T>>,
}

constructors! {
    [S] TransformerEncoderLayer TransformerEncoder sizes options: {
        let (mut linear1, mut linear2) = linear_layers(sizes)?;
        let mut attention = MultiHeadAttention::try_new(
            E::default().of(sizes.hidden),
            H::default().of(sizes.heads),
            F::default().of(sizes.features),
        )?;
        if !options.bias {
            remove_bias!(attention.query, attention.key, attention.value, attention.out);
            remove_bias!(linear1, linear2);
        }
        Ok(Self {
            self_attn: attention,
            linear1,
            linear2,
            norm1: options.norm(sizes.hidden)?,
            norm2: options.norm(sizes.hidden)?,
            options,
        })
    }
}

type LinearPair<E, M> = (Linear<E, M>, Linear<M, E>);

fn linear_layers<E: Dim, M: Dim>(sizes: LayerSizes) -> Result<LinearPair<E, M>>
where
    (M, E): Distinct,
    (E, M): Distinct,
    (E,): Distinct,
    (M,): Distinct,
    SizeOf<E>: Open<E>,
    SizeOf<M>: Open<M>,
{
    let [hidden, inner] = [sizes.hidden, sizes.inner];
    Ok((
        Linear::try_new(E::default().of(hidden), M::default().of(inner))?,
        Linear::try_new(M::default().of(inner), E::default().of(hidden))?,
    ))
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Float> TransformerEncoderLayer<S, E, H, F, M, T> {
    fn layers(&self) -> Layers<'_, Self, E, T> {
        (std::slice::from_ref(self), None)
    }

    fn apply<D: Dims + Distinct>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
        attention: impl FnOnce(&Tensor<D, T>, Attention) -> Result<Tensor<D, T>>,
    ) -> Result<Tensor<D, T>>
    where
        E: AxesOf<D>,
    {
        let options = &self.options;
        let x = residual(x, &self.norm1, options, mode, |x| {
            attention(x, options.own_attention(mode))
        })?;
        residual(&x, &self.norm2, options, mode, |x| {
            feed_forward(x, &self.linear1, &self.linear2, options, mode)
        })
    }
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Float> TransformerEncoder<S, E, H, F, M, T> {
    fn layers(&self) -> Layers<'_, TransformerEncoderLayer<S, E, H, F, M, T>, E, T> {
        (&self.layers, self.norm.as_ref())
    }
}

forwards! {
    [S E H F M] TransformerEncoderLayer;
    "Computes the layer's results.",
    "[`forward`](Self::forward) with a mask of the positions attended to, as [`MultiHeadAttention::forward_masked`] takes
    it. A bool mask is true at positions to attend to; PyTorch's `src_key_padding_mask` is its opposite.",
    "[`forward`](Self::forward) of the next positions of a sequence, of which the cache has the earlier ones; see";
    cache: &mut KeyValueCache<CacheDims<D, S, E, H, F>, T> => std::slice::from_mut(cache)
}
forwards! {
    [S E H F M] TransformerEncoder;
    "Computes the results of the last layer, normalized if the stack has a norm.",
    "[`forward`](Self::forward) with a mask of the positions attended to; see
    [`TransformerEncoderLayer::forward_masked`].",
    "[`forward`](Self::forward) of the next positions of a sequence, of which the caches, one for each layer, have the
    earlier ones; see";
    caches: &mut [KeyValueCache<CacheDims<D, S, E, H, F>, T>] => caches
}

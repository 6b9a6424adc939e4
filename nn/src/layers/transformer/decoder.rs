//! The decoder of a Transformer.

use nomina::dims::{
    AxesOf, Dim, Dims, Distinct, EachIn, Has, Joined, Open, Prime, SizeOf, SizesFor, Without,
};
use nomina::{Element, Float, Result, Tensor};
use nomina_macros::twin;

use super::{
    LayerSizes, Layers, TransformerEncoderLayer, TransformerOptions, feed_forward, require_caches,
    residual, stacked,
};
use crate::layers::{
    Attention, CacheDims, CrossAttention, KeyValueCache, LayerNorm, Linear, MultiHeadAttention,
};
use crate::{Mode, Module};

/// A layer of a Transformer decoder: self-attention along `S`, attention to a memory along `K`, then two linear layers
/// by way of `M`, each added to its input and normalized. Vaswani et al., "Attention Is All You Need".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Source, Hidden, Head, Feature, Inner }
///
/// let layer = TransformerDecoderLayer::<Seq, Source, Hidden, Head, Feature, Inner>::new(
///     Hidden.of(12), Head.of(3), Feature.of(4), Inner.of(24), TransformerOptions { causal: true, ..default() },
/// );
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
/// let memory = Tensor::<(N, Source, Hidden)>::randn([2, 7, 12]);
/// let y: Tensor<(N, Seq, Hidden)> = layer.forward(&x, &memory, Mode::Eval);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct TransformerDecoderLayer<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Element = f32>
{
    /// The attention of the sequence to itself.
    pub self_attn: MultiHeadAttention<S, E, H, F, T>,
    /// The attention to the memory.
    pub multihead_attn: CrossAttention<S, K, E, H, F, T>,
    /// The linear layer to inner features.
    pub linear1: Linear<E, M, T>,
    /// The linear layer from inner features.
    pub linear2: Linear<M, E, T>,
    /// The norm of the self-attention part.
    pub norm1: LayerNorm<E, T>,
    /// The norm of the part that attends to the memory.
    pub norm2: LayerNorm<E, T>,
    /// The norm of the linear part.
    pub norm3: LayerNorm<E, T>,
    /// The options. A change takes effect at the next call; that of `bias` has none.
    #[module(skip)]
    pub options: TransformerOptions,
}

/// A stack of [`TransformerDecoderLayer`]s, which all attend to one memory.
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct TransformerDecoder<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Element = f32> {
    /// The layers.
    pub layers: Vec<TransformerDecoderLayer<S, K, E, H, F, M, T>>,
    /// The norm of the last layer's results.
    pub norm: Option<LayerNorm<E, T>>,
}

constructors! {
    [S K] TransformerDecoderLayer TransformerDecoder sizes options: {
        let TransformerEncoderLayer { self_attn, linear1, linear2, norm1, norm2, .. } =
            TransformerEncoderLayer::create(sizes, options)?;
        let mut attention = CrossAttention::try_new(
            E::default().of(sizes.hidden),
            H::default().of(sizes.heads),
            F::default().of(sizes.features),
        )?;
        if !options.bias {
            remove_bias!(attention.query, attention.key, attention.value, attention.out);
        }
        Ok(Self {
            self_attn,
            multihead_attn: attention,
            linear1,
            linear2,
            norm1,
            norm2,
            norm3: options.norm(sizes.hidden)?,
            options,
        })
    }
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Float>
    TransformerDecoderLayer<S, K, E, H, F, M, T>
{
    fn layers(&self) -> Layers<'_, Self, E, T> {
        (std::slice::from_ref(self), None)
    }

    fn apply<D: Dims + Distinct>(
        &self,
        x: &Tensor<D, T>,
        mode: Mode,
        own: impl FnOnce(&Tensor<D, T>, Attention) -> Result<Tensor<D, T>>,
        cross: impl FnOnce(&Tensor<D, T>, Attention) -> Result<Tensor<D, T>>,
    ) -> Result<Tensor<D, T>>
    where
        E: AxesOf<D>,
    {
        let options = &self.options;
        let to_memory = Attention {
            dropout: options.dropout(mode),
            ..Attention::default()
        };
        let x = residual(x, &self.norm1, options, mode, |x| {
            own(x, options.own_attention(mode))
        })?;
        let x = residual(&x, &self.norm2, options, mode, |x| cross(x, to_memory))?;
        residual(&x, &self.norm3, options, mode, |x| {
            feed_forward(x, &self.linear1, &self.linear2, options, mode)
        })
    }
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, M: Dim, T: Float>
    TransformerDecoder<S, K, E, H, F, M, T>
{
    fn layers(&self) -> Layers<'_, TransformerDecoderLayer<S, K, E, H, F, M, T>, E, T> {
        (&self.layers, self.norm.as_ref())
    }
}

forwards! {
    [S K E H F M] TransformerDecoderLayer memory memory: Y, memory_mask: B V;
    "Computes the layer's results. A batch dim that the memory lacks is broadcast.",
    "[`forward`](Self::forward) with two masks: of the sequence's own positions, with dims among those of `x`, the heads'
    dim and `Prime<S>`, and of the memory's positions, with dims among those of `x`, the heads' dim and `K`.
    `&tensor!(true)` is a mask without effect. A bool mask is true at positions to attend to; PyTorch's
    `tgt_key_padding_mask` and `memory_key_padding_mask` are the opposite.",
    "[`forward`](Self::forward) of the next positions of a sequence, of which the cache has the earlier ones; see";
    cache: &mut KeyValueCache<CacheDims<D, S, E, H, F>, T> => std::slice::from_mut(cache)
}
forwards! {
    [S K E H F M] TransformerDecoder memory memory: Y, memory_mask: B V;
    "Computes the results of the last layer, normalized if the stack has a norm.",
    "[`forward`](Self::forward) with masks of the sequence and of the memory; see
    [`TransformerDecoderLayer::forward_masked`].",
    "[`forward`](Self::forward) of the next positions of a sequence, of which the caches, one for each layer, have the
    earlier ones; see";
    caches: &mut [KeyValueCache<CacheDims<D, S, E, H, F>, T>] => caches
}

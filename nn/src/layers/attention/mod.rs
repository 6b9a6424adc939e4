//! Multi-head attention.

mod cache;
mod cross;
mod run;

use std::marker::PhantomData;

use nomina::dims::{
    Dim, Dims, Distinct, EachIn, Has, Joined, Of, Open, Prime, SizeOf, SizesFor, Without,
};
use nomina::{DynTensor, Element, Float, Result, Tensor, Typed};
use nomina_macros::twin;

pub use cache::{CacheDims, KeyValueCache, Past};
pub use cross::CrossAttention;
pub use run::Attention;
use run::{AttentionCall, SequenceDims, attend, name, projection};

use super::Linear;
use crate::Module;

/// Multi-head self-attention over a sequence along `S` with features along `E`, by heads `H` with features `F` each.
/// Vaswani et al., "Attention Is All You Need".
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Hidden, Head, Feature }
///
/// let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(12), Head.of(3), Feature.of(4));
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
/// let y: Tensor<(N, Seq, Hidden)> = layer.forward(&x, Attention { causal: true, ..default() });
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct MultiHeadAttention<S: Dim, E: Dim, H: Dim, F: Dim, T: Element = f32> {
    /// The projection to queries.
    pub query: Linear<E, (H, F), T>,
    /// The projection to keys.
    pub key: Linear<E, (H, F), T>,
    /// The projection to values.
    pub value: Linear<E, (H, F), T>,
    /// The projection of the heads' results.
    pub out: Linear<(H, F), E, T>,
    #[module(skip)]
    sequence: PhantomData<S>,
}

impl<S: Dim, E: Dim, H: Dim, F: Dim> MultiHeadAttention<S, E, H, F>
where
    (H, F, E): Distinct,
    (E, H, F): Distinct,
    (H, F): Distinct,
    (E,): Distinct,
{
    /// Creates four linear layers with PyTorch's initial weights.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(
        hidden: impl SizesFor<E>,
        heads: impl SizesFor<H>,
        features: impl SizesFor<F>,
    ) -> Result<Self>
    where
        SizeOf<E>: Open<E>,
        SizeOf<H>: Open<H>,
        SizeOf<F>: Open<F>,
    {
        let heads = heads.sizes()[0];
        Self::try_grouped(hidden, H::default().of(heads), features, heads)
    }

    /// Like [`new`](Self::new), but with `key_heads` heads of keys and values, each shared by several heads.
    /// Ainslie et al., "GQA".
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_grouped(
        hidden: impl SizesFor<E>,
        heads: Of<H>,
        features: impl SizesFor<F>,
        key_heads: usize,
    ) -> Result<Self>
    where
        SizeOf<E>: Open<E>,
        SizeOf<H>: Open<H>,
        SizeOf<F>: Open<F>,
    {
        let hidden = || E::default().of(hidden.sizes()[0]);
        let features = F::default().of(features.sizes()[0]);
        let shared = H::default().of(key_heads);
        Ok(Self {
            query: Linear::try_new(hidden(), (heads, features))?,
            key: Linear::try_new(hidden(), (shared, features))?,
            value: Linear::try_new(hidden(), (shared, features))?,
            out: Linear::try_new((heads, features), hidden())?,
            sequence: PhantomData,
        })
    }
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, T: Element> MultiHeadAttention<S, E, H, F, T> {
    /// Creates the layer from four linear layers with existing weights.
    #[must_use]
    pub fn of([query, key, value]: [Linear<E, (H, F), T>; 3], out: Linear<(H, F), E, T>) -> Self {
        Self {
            query,
            key,
            value,
            out,
            sequence: PhantomData,
        }
    }
}

impl<S: Dim, E: Dim, H: Dim, F: Dim, T: Float> MultiHeadAttention<S, E, H, F, T> {
    /// Computes attention: each position of the sequence gathers values from the others.
    ///
    /// # Errors
    /// If sizes differ from the weights', an option is out of range, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + Has<S> + Has<E> + Distinct>(
        &self,
        x: &Tensor<D, T>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), None, options, None)
    }

    /// [`forward`](Self::forward) with a mask: bool, true at positions to attend to, or numbers that are added to the
    /// scores. Its dims are among those of `x`, the heads' dim, and `Prime<S>` for the positions attended to:
    /// `&mask.prime(Seq)` of a mask along `(N, Seq)`. A causal mask is added to it if `options` says so.
    ///
    /// # Errors
    /// If sizes do not match, the mask is neither bool nor of this dtype, an option is out of range, or an allocation
    /// fails.
    #[twin]
    pub fn try_forward_masked<
        D: Dims + Has<S> + Has<E> + Distinct,
        M: Dims + EachIn<Joined<Without<D, E>, (H, Prime<S>)>>,
        U: Element,
    >(
        &self,
        x: &Tensor<D, T>,
        mask: &Tensor<M, U>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), Some(&mask.to_dyn()), options, None)
    }

    /// [`forward`](Self::forward) of the next positions of a sequence, of which the cache has the earlier ones: their
    /// keys and values are not computed again. Adds the keys and values of `x` to the cache.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N, Seq, Hidden, Head, Feature }
    ///
    /// let layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(12), Head.of(3), Feature.of(4));
    /// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
    /// let causal = Attention { causal: true, ..default() };
    /// let mut cache: KeyValueCache<(N, Head, Past, Feature)> = KeyValueCache::new();
    /// layer.forward_cached(&x.narrow(Seq, ..4), &mut cache, causal);
    /// let last = layer.forward_cached(&x.narrow(Seq, 4..), &mut cache, causal);
    /// assert_eq!(cache.len(), 5);
    /// assert!(last.sub(&layer.forward(&x, causal).narrow(Seq, 4..)).abs().max(..).item() < 1e-5);
    /// ```
    ///
    /// # Errors
    /// If sizes differ from the weights' or the cache's, an option is out of range, or an allocation fails.
    #[twin]
    pub fn try_forward_cached<D: Dims + Has<S> + Has<E> + Distinct>(
        &self,
        x: &Tensor<D, T>,
        cache: &mut KeyValueCache<CacheDims<D, S, E, H, F>, T>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), None, options, Some(cache.store()))
    }

    /// [`forward_cached`](Self::forward_cached) with a mask of the positions in the cache, those of `x` included; its
    /// dims are among those of `x`, the heads' dim and [`Past`]. Behind padding on the left, it is along `(N, Past)`.
    ///
    /// # Errors
    /// Like [`forward_cached`](Self::forward_cached); also if the mask does not fit.
    #[twin]
    pub fn try_forward_cached_masked<
        D: Dims + Has<S> + Has<E> + Distinct,
        M: Dims + EachIn<Joined<Without<D, E>, (H, Past)>>,
        U: Element,
    >(
        &self,
        x: &Tensor<D, T>,
        mask: &Tensor<M, U>,
        cache: &mut KeyValueCache<CacheDims<D, S, E, H, F>, T>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        let mask = mask.to_dyn();
        self.attend(&x.to_dyn(), Some(&mask), options, Some(cache.store()))
    }

    fn attend<D: Dims + Distinct>(
        &self,
        x: &DynTensor,
        mask: Option<&DynTensor>,
        options: Attention,
        cache: Option<&mut cache::Store>,
    ) -> Result<Tensor<D, T>> {
        let run = AttentionCall {
            x,
            memory: None,
            mask,
            weights: [
                projection(&self.query),
                projection(&self.key),
                projection(&self.value),
                projection(&self.out),
            ],
            own: SequenceDims::new::<S, E>(),
            source: SequenceDims::new::<S, E>(),
            heads: name::<H>(),
            options,
            cache,
        };
        attend(run)?.typed()
    }
}

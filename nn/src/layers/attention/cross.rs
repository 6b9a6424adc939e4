//! Attention of one sequence to another.

use std::marker::PhantomData;

use nomina::dims::{Dim, Dims, Distinct, EachIn, Has, Joined, Open, SizeOf, SizesFor, Without};
use nomina::{DynTensor, Element, Error, ErrorKind, Float, Result, Tensor, Typed};
use nomina_macros::twin;

use super::run::{Attention, AttentionCall, SequenceDims, attend, name, projection};
use crate::Module;
use crate::layers::Linear;

/// Multi-head attention of a sequence along `S`, with features along `E`, to a memory along `K`, with features along
/// `C`, by heads `H` with features `F` each: PyTorch's `MultiheadAttention` with other keys and values than queries.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Source, Hidden, Head, Feature }
///
/// let layer = CrossAttention::<Seq, Source, Hidden, Head, Feature>::new(Hidden.of(12), Head.of(3), Feature.of(4));
/// let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 12]);
/// let memory = Tensor::<(N, Source, Hidden)>::randn([2, 7, 12]);
/// let y: Tensor<(N, Seq, Hidden)> = layer.forward(&x, &memory, default());
///
/// // The second memory ends after three positions.
/// let counts = Tensor::<(Source,), i64>::arange(0, 7, 1).lt(&tensor!([[7], [3]]; N, Source));
/// let y = layer.forward_masked(&x, &memory, &counts, default());
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct CrossAttention<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, T: Element = f32, C: Dim = E> {
    /// The projection to queries.
    pub query: Linear<E, (H, F), T>,
    /// The projection of the memory to keys.
    pub key: Linear<C, (H, F), T>,
    /// The projection of the memory to values.
    pub value: Linear<C, (H, F), T>,
    /// The projection of the heads' results.
    pub out: Linear<(H, F), E, T>,
    #[module(skip)]
    sequences: PhantomData<(S, K)>,
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim> CrossAttention<S, K, E, H, F>
where
    (H, F, E): Distinct,
    (E, H, F): Distinct,
    (H, F): Distinct,
    (E,): Distinct,
{
    /// Creates four linear layers with PyTorch's initial weights, for a memory with the same features.
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
        let memory = E::default().of(hidden.sizes()[0]);
        Self::try_with_memory(hidden, memory, heads, features)
    }
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, C: Dim> CrossAttention<S, K, E, H, F, f32, C>
where
    (H, F, E): Distinct,
    (H, F, C): Distinct,
    (E, H, F): Distinct,
    (H, F): Distinct,
    (E,): Distinct,
{
    /// Creates four linear layers with PyTorch's initial weights, for a memory with other features: PyTorch's `kdim` and
    /// `vdim`.
    ///
    /// # Errors
    /// If a product of sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_with_memory(
        hidden: impl SizesFor<E>,
        memory: impl SizesFor<C>,
        heads: impl SizesFor<H>,
        features: impl SizesFor<F>,
    ) -> Result<Self>
    where
        SizeOf<E>: Open<E>,
        SizeOf<C>: Open<C>,
        SizeOf<H>: Open<H>,
        SizeOf<F>: Open<F>,
    {
        let hidden = || E::default().of(hidden.sizes()[0]);
        let memory = || C::default().of(memory.sizes()[0]);
        let heads = H::default().of(heads.sizes()[0]);
        let features = F::default().of(features.sizes()[0]);
        Ok(Self {
            query: Linear::try_new(hidden(), (heads, features))?,
            key: Linear::try_new(memory(), (heads, features))?,
            value: Linear::try_new(memory(), (heads, features))?,
            out: Linear::try_new((heads, features), hidden())?,
            sequences: PhantomData,
        })
    }
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, T: Element, C: Dim>
    CrossAttention<S, K, E, H, F, T, C>
{
    /// Creates the layer from linear layers with existing weights.
    #[must_use]
    pub fn from_layers(
        query: Linear<E, (H, F), T>,
        [key, value]: [Linear<C, (H, F), T>; 2],
        out: Linear<(H, F), E, T>,
    ) -> Self {
        Self {
            query,
            key,
            value,
            out,
            sequences: PhantomData,
        }
    }
}

impl<S: Dim, K: Dim, E: Dim, H: Dim, F: Dim, T: Float, C: Dim> CrossAttention<S, K, E, H, F, T, C> {
    /// Computes attention: each position of `x` gathers values from the memory. A batch dim that the memory lacks is
    /// broadcast.
    ///
    /// # Errors
    /// If sizes differ from the weights', an option is out of range, causal or rotary, or an allocation fails.
    #[twin]
    pub fn try_forward<
        D: Dims + Has<S> + Has<E> + Distinct,
        M: Dims + Has<K> + Has<C> + EachIn<Joined<Without<Without<D, S>, E>, (K, C)>>,
    >(
        &self,
        x: &Tensor<D, T>,
        memory: &Tensor<M, T>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), &memory.to_dyn(), None, options)
    }

    /// [`forward`](Self::forward) with a mask: bool, true at positions of the memory to attend to, or numbers that are
    /// added to the scores. Its dims are among those of `x`, the heads' dim, and `K`.
    ///
    /// # Errors
    /// If sizes do not match, the mask is neither bool nor of this dtype, an option is out of range, or an allocation
    /// fails.
    #[twin]
    pub fn try_forward_masked<
        D: Dims + Has<S> + Has<E> + Distinct,
        M: Dims + Has<K> + Has<C> + EachIn<Joined<Without<Without<D, S>, E>, (K, C)>>,
        A: Dims + EachIn<Joined<Without<D, E>, (H, K)>>,
        U: Element,
    >(
        &self,
        x: &Tensor<D, T>,
        memory: &Tensor<M, T>,
        mask: &Tensor<A, U>,
        options: Attention,
    ) -> Result<Tensor<D, T>>
    where
        Joined<Without<D, E>, (H, F)>: Distinct,
    {
        self.attend(&x.to_dyn(), &memory.to_dyn(), Some(&mask.to_dyn()), options)
    }

    pub(in crate::layers) fn attend<D: Dims + Distinct>(
        &self,
        x: &DynTensor,
        memory: &DynTensor,
        mask: Option<&DynTensor>,
        options: Attention,
    ) -> Result<Tensor<D, T>> {
        if options.causal || options.rotary.is_some() {
            let what =
                "causal and rotary attention are defined along one sequence, not to a memory";
            return Err(Error::new(ErrorKind::Argument, "attention", what)
                .operand(x.names(), x.shape())
                .operand(memory.names(), memory.shape())
                .hint("leave `causal` and `rotary` out, or give a mask"));
        }
        let run = AttentionCall {
            x,
            memory: Some(memory),
            mask,
            weights: [
                projection(&self.query),
                projection(&self.key),
                projection(&self.value),
                projection(&self.out),
            ],
            own: SequenceDims::new::<S, E>(),
            source: SequenceDims::new::<K, C>(),
            heads: name::<H>(),
            options,
            cache: None,
        };
        attend(run)?.typed()
    }
}

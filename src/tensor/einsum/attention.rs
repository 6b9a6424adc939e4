//! Attention.
//!
//! [`Tensor::scaled_dot_product_attention`], [`Tensor::scaled_dot_product_attention_masked`].

use nomina_core::dims::{Attend, Attended, Broadcast, Dims, HoldsInPlace, ScoresOf, Sum};
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::AttentionOptions;

use crate::erased::compose::call_for_tensor;
use crate::erased::{Erased, ErasedRef, Known};
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes attention of this tensor, the queries of dims batch, length, features, to keys of
    /// dims batch, source, features: the softmax of their scaled products, times the values. Batch
    /// dims unify; features and sources match.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { B, T, S, K, V }
    /// let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
    /// let k = Tensor::<(B, S, K)>::ones([2, 5, 4]);
    /// let v = Tensor::<(B, S, V)>::ones([2, 5, 6]);
    /// let y: Tensor<(B, T, V)> = q.scaled_dot_product_attention(&k, &v);
    /// assert_eq!(y.shape(), [2, 3, 6]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or an option is out of range.
    #[twin(with = "but with options: causal, with another scale, with dropout.")]
    pub fn try_scaled_dot_product_attention_with<E: Dims, F: Attend<D, E>>(
        &self,
        key: &Tensor<E, T>,
        value: &Tensor<F, T>,
        options: AttentionOptions,
    ) -> Result<Tensor<Attended<D, E, F>, T>>
    where
        T: Float,
    {
        let operands = [self.erased(), key.erased(), value.erased()];
        Tensor::try_from_erased(attend(&operands, options, <Attended<D, E, F>>::STATIC))
    }

    /// Computes attention with a mask of the dims of the scores, batch, length and source: bool,
    /// true where a key counts, or numbers that are added to the scores. If length and source are
    /// the same dim, the source of the mask is any other dim, for example `Prime<T>`.
    ///
    /// # Errors
    /// If sizes do not match, the mask is neither bool nor of this dtype, or an option is out of
    /// range.
    #[twin]
    pub fn try_scaled_dot_product_attention_masked<E: Dims, F: Attend<D, E>, M: Dims, U: Element>(
        &self,
        key: &Tensor<E, T>,
        value: &Tensor<F, T>,
        attn_mask: &Tensor<M, U>,
        options: AttentionOptions,
    ) -> Result<Tensor<Attended<D, E, F>, T>>
    where
        T: Float,
        ScoresOf<D, E, F>: Broadcast<M> + HoldsInPlace<Sum<ScoresOf<D, E, F>, M>>,
    {
        let operands = [
            self.erased(),
            key.erased(),
            value.erased(),
            attn_mask.erased(),
        ];
        Tensor::try_from_erased(attend(&operands, options, <Attended<D, E, F>>::STATIC))
    }
}

fn attend(
    operands: &[ErasedRef<'_>],
    options: AttentionOptions,
    out: &'static crate::erased::Static,
) -> Result<Erased> {
    call_for_tensor(operands, out, |x| {
        x[0].scaled_dot_product_attention_with(&x[1], &x[2], x.get(3), options)
    })
}

//! Embeddings.

use nomina::dims::{Dim, Dims, Distinct, EmbedIn, Embedded, Has, SizesFor};
use nomina::{Element, IndexElement, Inexact, Result, Tensor};
use nomina_macros::twin;

use crate::Module;
use crate::call::normal;
use crate::param::Param;

/// A table with a row along `E` for each id of `V`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Seq, Word, Hidden }
/// let words = Embedding::new(Word.of(100), Hidden.of(8));
/// let ids: Tensor<(N, Seq), i64> = tensor!([[1, 2, 3], [4, 5, 6]]; N, Seq);
/// let x: Tensor<(N, Seq, Hidden)> = words.forward(&ids);
/// ```
#[derive(Clone, Module)]
#[module(crate = crate)]
pub struct Embedding<V: Dim, E: Dim, T: Element = f32> {
    /// The rows.
    pub weight: Param<(V, E), T>,
}

impl<V: Dim, E: Dim> Embedding<V, E>
where
    (V, E): Distinct,
{
    /// Creates rows of normally distributed numbers, like PyTorch's.
    ///
    /// # Errors
    /// If the product of the sizes is too large, or an allocation fails.
    #[twin]
    pub fn try_new(ids: impl SizesFor<V>, row: impl SizesFor<E>) -> Result<Self> {
        let weight = normal(&[ids.sizes()[0], row.sizes()[0]], 0.0, 1.0)?;
        Ok(Self {
            weight: Param::new(weight),
        })
    }
}

impl<V: Dim, E: Dim, T: Inexact> Embedding<V, E, T>
where
    (V, E): Has<V>,
{
    /// Looks up the rows of the ids.
    ///
    /// # Errors
    /// If an id is out of range, or an allocation fails.
    #[twin]
    pub fn try_forward<D: Dims + EmbedIn<(V, E), V>, I: IndexElement>(
        &self,
        ids: &Tensor<D, I>,
    ) -> Result<Tensor<Embedded<(V, E), V, D>, T>> {
        self.weight.try_embedding(V::default(), ids)
    }
}

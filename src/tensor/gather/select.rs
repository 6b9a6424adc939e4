//! Reading at index tensors.
//!
//! [`Tensor::index_select`], [`Tensor::gather`], [`Tensor::take_along_dim`], [`Tensor::take`],
//! [`Tensor::embedding`], [`Tensor::nonzero`], [`Tensor::argwhere`], [`Tensor::one_hot`],
//! [`Tensor::unravel_index`].

use nomina_core::dims::{
    Append, Appended, Broadcast, Dim, DimOf, Dims, EmbedIn, Embedded, Holds, IndexOf, OneDim,
    SameRankAs, Selected, SizedDim, Sum, Wild, position,
};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Integer, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::EmbeddingOptions;

use crate::Tensor;
use crate::erased::gather::{self, at};
use crate::erased::{Known, compose};

/// # Select by index
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the slices at the indices of a dim. The dims of the index replace the dim; negative
    /// indices count from the end.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    /// let picked: Tensor<(N, K)> = x.index_select(C, &tensor!([2, 0]; K));
    /// assert_eq!(picked.to_vec(), [3.0, 1.0, 6.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range.
    #[twin]
    pub fn try_index_select<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
    ) -> Result<Tensor<Selected<D, X, E>, T>> {
        let _ = dim;
        let out = <Selected<D, X, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased()],
            out,
            |given| given[0].index_select(at(position::<X, D>()), &given[1]),
        ))
    }

    /// Returns for each element of the index the element of this tensor at the same position, with
    /// the index as the position along `dim`. Both have the same dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let scores = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    /// let best = scores.argmax(keep(C));
    /// assert_eq!(scores.gather(C, &best).to_vec(), [3.0, 6.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range, or the index is larger in another dim.
    #[twin]
    pub fn try_gather<X: DimOf<D>, E: Dims, I: IndexElement>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E>,
    {
        let _ = dim;
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased()],
            out,
            |given| given[0].gather(at(position::<X, D>()), &given[1]),
        ))
    }

    /// Like [`gather`](Self::gather), but broadcasts the other dims.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin]
    pub fn try_take_along_dim<X: DimOf<D>, E: Dims, I: IndexElement>(
        &self,
        indices: &Tensor<E, I>,
        dim: X,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E>,
    {
        let _ = dim;
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), indices.erased()],
            out,
            |given| given[0].take_along_dim(&given[1], at(position::<X, D>())),
        ))
    }

    /// Returns the elements at row-major positions, with the dims of the index.
    ///
    /// # Errors
    /// If a position is out of range.
    #[twin]
    pub fn try_take<E: Dims, I: IndexElement>(&self, index: &Tensor<E, I>) -> Result<Tensor<E, T>> {
        let out = <E>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased()],
            out,
            |given| given[0].take(&given[1]),
        ))
    }

    /// Looks up rows of this tensor, a weight with a row for each index of `dim`. The result has
    /// the dims of `ids`, then those of a row.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { V, Features, N, T }
    /// let weight = Tensor::<(V, Features)>::ones([10, 4]);
    /// let ids = tensor!([[3, 0, 9]]; N, T);
    /// let tokens: Tensor<(N, T, Features)> = weight.embedding(V, &ids);
    /// assert_eq!(tokens.shape(), [1, 3, 4]);
    /// ```
    ///
    /// # Errors
    /// If an id is negative or out of range.
    #[twin]
    pub fn try_embedding<X: DimOf<D>, E: Dims + EmbedIn<D, X>, I: IndexElement>(
        &self,
        dim: X,
        ids: &Tensor<E, I>,
    ) -> Result<Tensor<Embedded<D, X, E>, T>> {
        let _ = dim;
        let out = <Embedded<D, X, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), ids.erased()],
            out,
            |given| given[0].embedding(at(position::<X, D>()), &given[1]),
        ))
    }

    /// Like [`embedding`](Self::embedding), but one row gets no gradient.
    ///
    /// # Errors
    /// If an id is negative or out of range, or the row without a gradient is out of range.
    #[twin]
    pub fn try_embedding_with<X: DimOf<D>, E: Dims + EmbedIn<D, X>, I: IndexElement>(
        &self,
        dim: X,
        ids: &Tensor<E, I>,
        options: EmbeddingOptions,
    ) -> Result<Tensor<Embedded<D, X, E>, T>> {
        let _ = dim;
        let out = <Embedded<D, X, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), ids.erased()],
            out,
            |given| given[0].embedding_with(at(position::<X, D>()), &given[1], options),
        ))
    }

    /// Returns the indices of the elements that differ from zero, a row each, without names.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_nonzero(&self) -> Result<Tensor<(Wild, Wild), i64>> {
        let out = <(Wild, Wild)>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased()],
            out,
            |given| given[0].nonzero(),
        ))
    }

    /// Like [`nonzero`](Self::nonzero), under its other name.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_argwhere(&self) -> Result<Tensor<(Wild, Wild), i64>> {
        let out = <(Wild, Wild)>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased()],
            out,
            |given| given[0].argwhere(),
        ))
    }
}

/// Returns the name of a new dim if the other dims also have names.
fn named<D: Dims, X: Dim>() -> Option<&'static str> {
    if D::HAS_WILD { X::NAME } else { None }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns a row for each index, one at the index and zero elsewhere, along a new last dim with
    /// a size: `ids.one_hot(Classes)` if it is constant, else `ids.one_hot(Classes.of(10))`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Classes = 3 }
    /// let ids = tensor!([2, 0]; N);
    /// let rows: Tensor<(N, Classes), i64> = ids.one_hot(Classes);
    /// assert_eq!(rows.to_vec(), [0, 0, 1, 1, 0, 0]);
    /// ```
    ///
    /// # Errors
    /// If an index is not a class.
    #[twin]
    pub fn try_one_hot<S: SizedDim>(&self, classes: S) -> Result<Tensor<Appended<D, S::Dim>, i64>>
    where
        S::Dim: OneDim + Append<D>,
        T: Integer,
    {
        let (count, out) = (classes.size(), <Appended<D, S::Dim>>::STATIC);
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased()],
            out,
            |given| given[0].one_hot(count, named::<D, S::Dim>()),
        ))
    }

    /// Converts row-major positions to one index per dim of a shape.
    ///
    /// # Errors
    /// If a position is outside of the shape.
    #[twin]
    pub fn try_unravel_index(&self, shape: &[usize]) -> Result<Vec<Tensor<D, i64>>>
    where
        T: Integer,
    {
        let found = compose::call_dynamic(&[self.erased()], |given| given[0].unravel_index(shape))?;
        let each = found.into_iter();
        let each = each.map(|index| compose::erase(index, D::STATIC));
        Tensor::all_from_erased(each.collect())
    }
}

// The forms in place and with an out tensor.
include!("select/forms.rs");

//! Adding or filling slices at the indices of a dim.
//!
//! [`Tensor::index_add`], [`Tensor::index_fill`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Holds, IndexOf, SameRankAs, Selected, position};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Result, Scalar, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::IndexAddOptions;

use crate::Tensor;
use crate::erased::Known;
use crate::erased::gather::{self, at};

/// # Parts of tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds the slices of `source` at the indices of a dim, always in the order of the index.
    /// `source` has the dims of `self.index_select(dim, index)`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let (x, ids) = (Tensor::<(N, C)>::zeros([3, 2]), tensor!([2, 0, 2]; K));
    /// let rows = Tensor::<(K, C)>::ones([3, 2]);
    /// assert_eq!(x.index_add(N, &ids, &rows).to_vec(), [1.0, 1.0, 0.0, 0.0, 2.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin(with = "but with options.")]
    pub fn try_index_add_with<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        options: IndexAddOptions,
    ) -> Result<Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        let out = <D>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), source.erased()],
            out,
            |given| given[0].index_add_with(at(position::<X, D>()), &given[1], &given[2], options),
        ))
    }

    /// Like [`index_add`](Self::index_add), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin(with = "but with options.")]
    pub fn try_index_add_with_<X: DimOf<D>, E: Dims + IndexOf<D, X>, I: IndexElement, S: Dims>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        options: IndexAddOptions,
    ) -> Result<&mut Self>
    where
        Selected<D, X, E>: Broadcast<S> + SameRankAs<S>,
    {
        let _ = dim;
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), source.erased()],
            |own, given| {
                own.index_add_with_(at(position::<X, D>()), &given[0], &given[1], options)
                    .map(drop)
            },
        )?;
        Ok(self)
    }

    /// Writes a number at the indices of a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.]]; N, C);
    /// assert_eq!(x.index_fill(C, &tensor!([0, -1]; C), 0.0).to_vec(), [0.0, 2.0, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range.
    #[twin]
    pub fn try_index_fill<X: DimOf<D>, E: Dims, I: IndexElement>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        value: impl Into<Scalar>,
    ) -> Result<Self> {
        let _ = dim;
        let value = value.into();
        Self::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased()],
            D::STATIC,
            |given| given[0].index_fill(at(position::<X, D>()), &given[1], value),
        ))
    }

    /// Like [`index_fill`](Self::index_fill), but in place.
    ///
    /// # Errors
    /// If an index is out of range. Nothing is changed in that case.
    #[twin]
    pub fn try_index_fill_<X: DimOf<D>, E: Dims, I: IndexElement>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        value: impl Into<Scalar>,
    ) -> Result<&mut Self> {
        let _ = dim;
        let value = value.into();
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased()],
            |own, given| {
                own.index_fill_(at(position::<X, D>()), &given[0], value)
                    .map(drop)
            },
        )?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("add/forms.rs");

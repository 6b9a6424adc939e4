//! Replacing parts: by position, by mask, by slice.
//!
//! [`Tensor::put`], [`Tensor::masked_scatter`], [`Tensor::select_scatter`],
//! [`Tensor::slice_scatter`], [`Tensor::diagonal_scatter`].

use nomina_core::dims::{
    Appended, At, Broadcast, BroadcastWith, DimOf, Dims, HoldsInPlace, SameRankAs, SubscriptRange,
    Sum, Wild, Without, position,
};
use nomina_core::{Element, IndexElement, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::IndexPutOptions;

use crate::Tensor;
use crate::erased::Known;
use crate::erased::gather::{self, at};
use crate::tensor::{AsPick, Whole};

/// # Writing at positions
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Writes values at row-major positions.
    ///
    /// # Errors
    /// If a position is out of range, or there is not one value for each.
    #[twin(with = "but adds to the present elements if the options say so.")]
    pub fn try_put_with<E: Dims, I: IndexElement, S: Dims>(
        &self,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        options: IndexPutOptions,
    ) -> Result<Self> {
        let out = <D>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), index.erased(), source.erased()],
            out,
            |given| given[0].put_with(&given[1], &given[2], options),
        ))
    }

    /// Like [`put`](Self::put), but in place.
    ///
    /// # Errors
    /// If a position is out of range, or there is not one value for each. Nothing is changed in
    /// that case.
    #[twin(with = "but adds to the present elements if the options say so.")]
    pub fn try_put_with_<E: Dims, I: IndexElement, S: Dims>(
        &mut self,
        index: &Tensor<E, I>,
        source: &Tensor<S, T>,
        options: IndexPutOptions,
    ) -> Result<&mut Self> {
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[index.erased(), source.erased()],
            |own, given| own.put_with_(&given[0], &given[1], options).map(drop),
        )?;
        Ok(self)
    }

    /// Writes the values of `source`, in order, where the mask is true.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let (x, mask) = (tensor!([1., 2., 3.]; N), tensor!([true, false, true]; N));
    /// assert_eq!(x.masked_scatter(&mask, &tensor!([8., 9.]; N)).to_vec(), [8.0, 2.0, 9.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or values are too few.
    #[twin]
    pub fn try_masked_scatter<E: Dims, S: Dims>(
        &self,
        mask: &Tensor<E, bool>,
        source: &Tensor<S, T>,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E>,
    {
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), mask.erased(), source.erased()],
            out,
            |given| given[0].masked_scatter(&given[1], &given[2]),
        ))
    }

    /// Like [`masked_scatter`](Self::masked_scatter), but in place.
    ///
    /// # Errors
    /// If sizes do not match, or values are too few. Nothing is changed in that case.
    #[twin]
    pub fn try_masked_scatter_<E: Dims, S: Dims>(
        &mut self,
        mask: &Tensor<E, bool>,
        source: &Tensor<S, T>,
    ) -> Result<&mut Self>
    where
        D: Broadcast<E> + HoldsInPlace<Sum<D, E>>,
    {
        gather::in_place(
            &mut self.erased,
            D::STATIC,
            &[mask.erased(), source.erased()],
            |own, given| own.masked_scatter_(&given[0], &given[1]).map(drop),
        )?;
        Ok(self)
    }

    /// Returns a copy of this tensor with `src` in place of the slice that `select` would return.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// assert_eq!(x.select_scatter(&tensor!([0., 9.]; C), N, -1).to_vec(), [1.0, 2.0, 0.0, 9.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin]
    pub fn try_select_scatter<E: Dims, X: DimOf<D>>(
        &self,
        src: &Tensor<E, T>,
        dim: X,
        index: impl Whole,
    ) -> Result<Self>
    where
        Without<D, X>: Broadcast<E> + SameRankAs<E>,
    {
        let _ = dim;
        let index = index.whole();
        Self::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), src.erased()],
            D::STATIC,
            |given| given[0].select_scatter(&given[1], at(position::<X, D>()), index),
        ))
    }

    /// Returns a copy of this tensor with `src` in place of a range of a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2., 3.]]; N, C);
    /// let odd = x.slice_scatter(&tensor!([[0., 9.]]; N, C), C.i(..).step(2));
    /// assert_eq!(odd.to_vec(), [0.0, 2.0, 9.0]);
    /// ```
    ///
    /// # Errors
    /// If the range leaves the dim or sizes do not match.
    #[twin]
    pub fn try_slice_scatter<E: Dims, X: DimOf<D>, R: AsPick + SubscriptRange>(
        &self,
        src: &Tensor<E, T>,
        range: At<X, R>,
    ) -> Result<Self>
    where
        D: Broadcast<E> + SameRankAs<E>,
    {
        let dim = position::<X, D>();
        Self::try_from_erased(gather::slice_scatter(
            self.erased(),
            src.erased(),
            dim,
            &range.index.pick(),
        ))
    }

    /// Returns a copy of this tensor with `src` on the diagonal of two dims, `offset` above, or
    /// below if negative, the main diagonal. The diagonal is the last dim of `src`.
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_diagonal_scatter<E: Dims, X: DimOf<D>, Y: DimOf<Without<D, X>>>(
        &self,
        src: &Tensor<E, T>,
        offset: i64,
        dim1: X,
        dim2: Y,
    ) -> Result<Self>
    where
        Appended<Without<Without<D, X>, Y>, Wild>: BroadcastWith<E> + SameRankAs<E>,
    {
        let _ = (dim1, dim2);
        Self::try_from_erased(gather::call_and_check_sizes(
            &[self.erased(), src.erased()],
            D::STATIC,
            |given| {
                let (dim1, dim2) = (at(position::<X, D>()), at(position::<Y, D>()));
                given[0].diagonal_scatter(&given[1], offset, dim1, dim2)
            },
        ))
    }
}

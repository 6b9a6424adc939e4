//! Writing into a part by name.

use nomina_core::dims::{Append, Appended, AxesOf, DimOf, Dims, OneDim, Without, position};
use nomina_core::{Element, Result};

use crate::call::{Dest, Known, gather, ok};
use crate::tensor::part::{Part as View, wrap};
use crate::tensor::{Part, SubscriptViews, SubscriptsOf};
use crate::{Tensor, TensorMut};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// The part at numbers and ranges by name, to write to; see [`Tensor::at`](crate::Tensor::at).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    /// x.at_mut((C.i(1), N.i(0))).fill_(5.0);
    /// x.at_mut((C.i(1..), N.i(-1))).fill_(7.0);
    /// assert_eq!(x.to_vec(), [0.0, 5.0, 0.0, 0.0, 7.0, 7.0]);
    /// ```
    ///
    /// # Panics
    /// When an index is out of range, or a step is zero.
    #[track_caller]
    pub fn at_mut<S: SubscriptsOf<D> + SubscriptViews>(
        &mut self,
        indices: S,
    ) -> TensorMut<'_, Part<D, S>, T> {
        ok(self.try_at_mut(indices))
    }

    /// [`at_mut`](Self::at_mut) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range, or a step is zero.
    pub fn try_at_mut<S: SubscriptsOf<D> + SubscriptViews>(
        &mut self,
        indices: S,
    ) -> Result<TensorMut<'_, Part<D, S>, T>> {
        let Dest { raw, wild, of } = self.dest()?;
        let (picks, out) = (indices.picks::<D>(), <Part<D, S>>::STATIC);
        let (raw, wild) = gather::part_mut(raw, wild, of, &picks, out)?;
        Ok(wrap(View { raw, wild }))
    }

    /// The diagonal of two dims, as a new last dim, to write to; `offset` above the main one or below.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 2]);
    /// x.diagonal_mut(N, C, K, 0).copy_(&tensor!([1., 2.]; K));
    /// assert_eq!(x.to_vec(), [1.0, 0.0, 0.0, 2.0]);
    /// ```
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    pub fn diagonal_mut<X: DimOf<D>, Y: DimOf<D>, Z: OneDim + Append<Without<D, (X, Y)>>>(
        &mut self,
        dim1: X,
        dim2: Y,
        to: Z,
        offset: i64,
    ) -> TensorMut<'_, Appended<Without<D, (X, Y)>, Z>, T>
    where
        (X, Y): AxesOf<D>,
    {
        ok(self.try_diagonal_mut(dim1, dim2, to, offset))
    }

    /// [`diagonal_mut`](Self::diagonal_mut) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_diagonal_mut<X: DimOf<D>, Y: DimOf<D>, Z: OneDim + Append<Without<D, (X, Y)>>>(
        &mut self,
        dim1: X,
        dim2: Y,
        to: Z,
        offset: i64,
    ) -> Result<TensorMut<'_, Appended<Without<D, (X, Y)>, Z>, T>>
    where
        (X, Y): AxesOf<D>,
    {
        let _ = (dim1, dim2, to);
        let (dims, out) = (
            (position::<X, D>(), position::<Y, D>()),
            <Appended<Without<D, (X, Y)>, Z>>::STATIC,
        );
        let (raw, wild) = gather::diagonal_mut(self.dest()?, dims, offset, out)?;
        Ok(wrap(View { raw, wild }))
    }
}

impl<D: Dims, T: Element> TensorMut<'_, D, T> {
    /// The part at numbers and ranges by name, to write to; see [`Tensor::at`](crate::Tensor::at).
    ///
    /// # Panics
    /// When an index is out of range, or a step is zero.
    #[track_caller]
    pub fn at_mut<S: SubscriptsOf<D> + SubscriptViews>(
        &mut self,
        indices: S,
    ) -> TensorMut<'_, Part<D, S>, T> {
        ok(self.try_at_mut(indices))
    }

    /// [`at_mut`](Self::at_mut) that returns the error.
    ///
    /// # Errors
    /// When an index is out of range, or a step is zero.
    pub fn try_at_mut<S: SubscriptsOf<D> + SubscriptViews>(
        &mut self,
        indices: S,
    ) -> Result<TensorMut<'_, Part<D, S>, T>> {
        let Dest { raw, wild, of } = self.dest()?;
        let (picks, out) = (indices.picks::<D>(), <Part<D, S>>::STATIC);
        let (raw, wild) = gather::part_mut(raw, wild, of, &picks, out)?;
        Ok(wrap(View { raw, wild }))
    }

    /// The diagonal of two dims, as a new last dim, to write to; `offset` above the main one or below.
    ///
    /// # Panics
    /// When memory is short.
    #[track_caller]
    pub fn diagonal_mut<X: DimOf<D>, Y: DimOf<D>, Z: OneDim + Append<Without<D, (X, Y)>>>(
        &mut self,
        dim1: X,
        dim2: Y,
        to: Z,
        offset: i64,
    ) -> TensorMut<'_, Appended<Without<D, (X, Y)>, Z>, T>
    where
        (X, Y): AxesOf<D>,
    {
        ok(self.try_diagonal_mut(dim1, dim2, to, offset))
    }

    /// [`diagonal_mut`](Self::diagonal_mut) that returns the error.
    ///
    /// # Errors
    /// When memory is short.
    pub fn try_diagonal_mut<X: DimOf<D>, Y: DimOf<D>, Z: OneDim + Append<Without<D, (X, Y)>>>(
        &mut self,
        dim1: X,
        dim2: Y,
        to: Z,
        offset: i64,
    ) -> Result<TensorMut<'_, Appended<Without<D, (X, Y)>, Z>, T>>
    where
        (X, Y): AxesOf<D>,
    {
        let _ = (dim1, dim2, to);
        let (dims, out) = (
            (position::<X, D>(), position::<Y, D>()),
            <Appended<Without<D, (X, Y)>, Z>>::STATIC,
        );
        let (raw, wild) = gather::diagonal_mut(self.dest()?, dims, offset, out)?;
        Ok(wrap(View { raw, wild }))
    }
}

//! Analysis by name: groups, windows and blocks of a dim, weighted means.
//!
//! [`Tensor::group_by`], [`Tensor::rolling`], [`Tensor::resample`], [`Tensor::weighted_mean`],
//! [`Tensor::weighted_nanmean`].

use std::marker::PhantomData;

use nomina_core::dims::{
    AlignInto, AxesOf, Axis, DimOf, Dims, IndexOf, OneDim, Resizable, Selected, SizeOf, SizedDim,
    Without, position,
};
use nomina_core::rule::DimArg;
use nomina_core::{Element, IndexElement, Inexact, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;

use super::groupwise::{GroupBy, Windows};
use super::{Tensor, picked};
use crate::erased::compose::{call_dynamic, call_for_tensor};
use crate::erased::{Known, gather};

/// # Parts of a dim
/// # Reductions, order and statistics
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the windows of `window` elements that slide along a dim in steps of 1, to be reduced to one element
    /// each. The dim is then shorter by `window - 1`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time, Site }
    /// let x = tensor!([[1., 3., 5., 1.]]; Site, Time);
    /// let smooth: Tensor<(Site, Time)> = x.rolling(Time, 2).mean();
    /// assert_eq!(smooth.to_vec(), [2.0, 4.0, 3.0]);
    /// assert_eq!(x.rolling(Time, 3).max().to_vec(), [5.0, 5.0]);
    /// ```
    ///
    /// # Errors
    /// If a window has no elements, or more than the dim.
    #[twin]
    pub fn try_rolling<X: DimOf<D>>(&self, dim: X, window: usize) -> Result<Windows<D, T>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = gather::at(position::<X, D>());
        let of = call_dynamic(&[self.erased()], |x| x[0].rolling(at, window))?;
        let types = PhantomData;
        Ok(Windows { of, types })
    }

    /// Returns the blocks of `steps` elements along a dim, to be reduced to one element each. Nothing is copied.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time }
    /// let hours = Tensor::<(Time,)>::arange(0.0, 48.0, 1.0);
    /// let days: Tensor<(Time,)> = hours.resample(Time, 24).mean();
    /// assert_eq!(days.to_vec(), [11.5, 35.5]);
    /// ```
    ///
    /// # Errors
    /// If the dim is not a multiple of `steps`.
    #[twin]
    pub fn try_resample<X: DimOf<D>>(&self, dim: X, steps: usize) -> Result<Windows<D, T>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let at = gather::at(position::<X, D>());
        let of = call_dynamic(&[self.erased()], |x| x[0].resample(at, steps))?;
        let types = PhantomData;
        Ok(Windows { of, types })
    }

    /// Groups the elements along a dim by labels, which are integers that count from 0. A reduction replaces the dim by
    /// a new one, with an element for each group: `Season` if its size is constant, else `Season.of(4)`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time, Site, Season = 2 }
    /// let x = tensor!([[1., 3., 5.], [2., 4., 9.]]; Site, Time);
    /// let seasons = x.group_by(Time, &tensor!([0, 1, 0]; Time), Season);
    /// let means: Tensor<(Site, Season)> = seasons.mean();
    /// assert_eq!(means.to_vec(), [3.0, 3.0, 5.5, 4.0]);
    /// assert_eq!(seasons.count().to_vec(), [2, 1, 2, 1]);
    /// ```
    ///
    /// # Errors
    /// If there is not one label for each element, or a label is not a group.
    #[twin]
    pub fn try_group_by<X: DimOf<D>, I: IndexElement, S: SizedDim>(
        &self,
        dim: X,
        labels: &Tensor<(X,), I>,
        groups: S,
    ) -> Result<GroupBy<Selected<D, X, (S::Dim,)>, T>>
    where
        (X,): Dims,
        S::Dim: OneDim,
        (S::Dim,): Dims + IndexOf<D, X>,
    {
        let _ = dim;
        let (at, groups) = (gather::at(position::<X, D>()), groups.size());
        let name = if D::HAS_WILD { S::Dim::NAME } else { None };
        let of = call_dynamic(&[self.erased(), labels.erased()], |x| {
            x[0].group_by(at, &x[1], groups, name)
        })?;
        let types = PhantomData;
        Ok(GroupBy { of, types })
    }
}

/// # Weighted means
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the weighted mean over dims: the sum of the products divided by the sum of the weights, each counted as
    /// often as it is used. The dims of the weights are among those of `self` and align by name. NaN where the weights
    /// sum to zero.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time, Lat, Lon }
    /// let x = tensor!([[[1., 3.], [5., 7.]]]; Time, Lat, Lon);
    /// let mean: Tensor<(Time,)> = x.weighted_mean(&tensor!([3., 1.]; Lat), (Lat, Lon));
    /// assert_eq!(mean.to_vec(), [3.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_weighted_mean<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        weights: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Inexact,
    {
        weighted(self, weights, &dims, "weighted_mean", |x, weights, dims| {
            x.weighted_mean(weights, dims)
        })
    }

    /// Like [`weighted_mean`](Self::weighted_mean), but leaves out the elements that are NaN, and their weights. NaN
    /// where the other weights sum to zero.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time, Lat }
    /// let x = tensor!([[1., f32::NAN, 4.]]; Time, Lat);
    /// let mean: Tensor<(Time,)> = x.weighted_nanmean(&tensor!([1., 5., 2.]; Lat), Lat);
    /// assert_eq!(mean.to_vec(), [3.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_weighted_nanmean<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        weights: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Inexact,
    {
        weighted(
            self,
            weights,
            &dims,
            "weighted_nanmean",
            |x, weights, dims| x.weighted_nanmean(weights, dims),
        )
    }
}

/// Computes a weighted mean by `mean`, with weights that align by name.
fn weighted<D: Dims, E: Dims + AlignInto<D>, A: AxesOf<D>, T: Inexact>(
    x: &Tensor<D, T>,
    weights: &Tensor<E, T>,
    dims: &A,
    op: &'static str,
    mean: fn(&DynTensor, &DynTensor, DimArg<'_>) -> Result<DynTensor>,
) -> Result<Tensor<Without<D, A>, T>> {
    let (x, picked) = (x.erased(), picked::<A, D>(dims));
    let weights = weights.aligned::<D>(op, Some(x))?;
    let all = [x, weights.erased(D::STATIC)];
    Tensor::try_from_erased(call_for_tensor(&all, <Without<D, A>>::STATIC, |x| {
        mean(&x[0], &x[1], picked.arg())
    }))
}

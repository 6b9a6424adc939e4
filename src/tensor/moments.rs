//! Relations of two series: correlation, covariance, interpolation at other coordinates.
//!
//! [`Tensor::corr`], [`Tensor::nancorr`], [`Tensor::covar`], [`Tensor::nancovar`], [`Tensor::interp`].

use nomina_core::dims::{AlignInto, AxesOf, DimOf, Dims, IndexOf, IndexedBy, Without, position};
use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Element, Float, Inexact, Real, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::{InterpOptions, VarOptions};

use super::{Tensor, picked};
use crate::erased::compose::call_for_tensor;
use crate::erased::stat::only_types;
use crate::erased::{Known, gather, shape};

/// # Relations of two series
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes Pearson's correlation with another tensor over dims. The dims of the other are among those of `self` and
    /// align by name. NaN where one of both is constant.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time, Site }
    /// let x = tensor!([[1., 2., 3.], [3., 2., 1.]]; Site, Time);
    /// let r: Tensor<(Site,)> = x.corr(&tensor!([0., 10., 20.]; Time), Time);
    /// assert_eq!(r.to_vec(), [1.0, -1.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_corr<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        moment(self, other, &dims, "corr", |x, y, dims| x.corr(y, dims))
    }

    /// Like [`corr`](Self::corr), but leaves out the pairs in which either is NaN, as xarray's `corr` does.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time }
    /// let x = tensor!([1., f32::NAN, 2., 4.]; Time);
    /// assert_eq!(x.nancorr(&tensor!([2., 9., 4., 8.]; Time), Time).item(), 1.0);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_nancorr<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        moment(self, other, &dims, "nancorr", |x, y, dims| {
            x.nancorr(y, dims)
        })
    }

    /// Computes the covariance with another tensor over dims, with a correction of 1: the sum of the products of the
    /// deviations from the means, divided by the number of pairs minus 1. Dims align as those of
    /// [`corr`](Self::corr). [`cov`](Tensor::cov) is PyTorch's matrix of variables.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Time }
    /// let (x, y) = (tensor!([1., 2., 3.]; Time), tensor!([2., 4., 9.]; Time));
    /// assert_eq!(x.covar(&y, Time).item(), 3.5);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_covar<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        self.try_covar_with(other, dims, VarOptions::default())
    }

    /// Like [`covar`](Self::covar), but with the correction of the options.
    ///
    /// # Errors
    /// If sizes do not match, or `options.keepdim` is set: the type determines it, so write `keep(..)`.
    #[twin]
    pub fn try_covar_with<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        only_types(Op::Covar, options.keepdim, false)?;
        moment(self, other, &dims, "covar", |x, y, dims| {
            x.covar_with(y, dims, options)
        })
    }

    /// Like [`covar`](Self::covar), but leaves out the pairs in which either is NaN, as xarray's `cov` does.
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_nancovar<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        self.try_nancovar_with(other, dims, VarOptions::default())
    }

    /// Like [`nancovar`](Self::nancovar), but with the correction of the options.
    ///
    /// # Errors
    /// If sizes do not match, or `options.keepdim` is set: the type determines it, so write `keep(..)`.
    #[twin]
    pub fn try_nancovar_with<E: Dims + AlignInto<D>, A: AxesOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        only_types(Op::Nancovar, options.keepdim, false)?;
        moment(self, other, &dims, "nancovar", |x, y, dims| {
            x.nancovar_with(y, dims, options)
        })
    }

    /// Interpolates along a dim at other coordinates, linearly. `coords` are the coordinates of the dim's elements, in
    /// any order; the dims of `at` replace the dim. Beyond the first and the last coordinate the result is NaN, as it is
    /// beside NaN, except at a coordinate itself.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Lat, Lon, Place }
    /// let x = tensor!([[0., 1.], [10., 3.], [40., 5.]]; Lat, Lon);
    /// let lat = tensor!([60., 30., 0.]; Lat);
    /// let y: Tensor<(Place, Lon)> = x.interp(Lat, &lat, &tensor!([45., 15.]; Place));
    /// assert_eq!(y.to_vec(), [5.0, 2.0, 25.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements, there is not one coordinate for each, a coordinate is NaN, or a
    /// dim of constant size does not have it.
    #[twin]
    pub fn try_interp<X: DimOf<D>, E: Dims + IndexOf<D, X>, C: Real>(
        &self,
        dim: X,
        coords: &Tensor<(X,), C>,
        at: &Tensor<E, C>,
    ) -> Result<Tensor<IndexedBy<D, X, E>, T>>
    where
        (X,): Dims,
        T: Inexact,
    {
        self.try_interp_with(dim, coords, at, InterpOptions::default())
    }

    /// Like [`interp`](Self::interp), but with a method, and with values beyond the ends.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// use nomina::{InterpMethod, InterpOptions};
    /// dims! { Time, At }
    /// let (x, time) = (tensor!([1., 2., 4.]; Time), tensor!([0., 10., 20.]; Time));
    /// let at = tensor!([12., 25.]; At);
    /// let extrapolate = InterpOptions { extrapolate: true, ..default() };
    /// assert_eq!(x.interp_with(Time, &time, &at, extrapolate).to_vec(), [2.4, 5.0]);
    /// let nearest = InterpOptions { method: InterpMethod::Nearest, extrapolate: true };
    /// assert_eq!(x.interp_with(Time, &time, &at, nearest).to_vec(), [2.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If the dim has no elements, there is not one coordinate for each, a coordinate is NaN, or a
    /// dim of constant size does not have it.
    #[twin]
    pub fn try_interp_with<X: DimOf<D>, E: Dims + IndexOf<D, X>, C: Real>(
        &self,
        dim: X,
        coords: &Tensor<(X,), C>,
        at: &Tensor<E, C>,
        options: InterpOptions,
    ) -> Result<Tensor<IndexedBy<D, X, E>, T>>
    where
        (X,): Dims,
        T: Inexact,
    {
        let _ = dim;
        let out = <IndexedBy<D, X, E>>::STATIC;
        let (along, rank) = (position::<X, D>(), E::NAMES.len());
        let new: Vec<usize> = (along..along + rank).collect();
        Tensor::try_from_erased(shape::sized(
            "interp",
            &[self.erased(), coords.erased(), at.erased()],
            out,
            &new,
            |given| given[0].interp_with(gather::at(along), &given[1], &given[2], options),
        ))
    }
}

/// Computes a statistic of two tensors, of which the second aligns by name.
fn moment<D: Dims, E: Dims + AlignInto<D>, A: AxesOf<D>, T: Float>(
    x: &Tensor<D, T>,
    other: &Tensor<E, T>,
    dims: &A,
    op: &'static str,
    compute: impl Fn(&DynTensor, &DynTensor, DimArg<'_>) -> Result<DynTensor>,
) -> Result<Tensor<Without<D, A>, T>> {
    let (x, picked) = (x.erased(), picked::<A, D>(dims));
    let other = other.aligned::<D>(op, Some(x))?;
    let all = [x, other.erased(D::STATIC)];
    Tensor::try_from_erased(call_for_tensor(&all, <Without<D, A>>::STATIC, |x| {
        compute(&x[0], &x[1], picked.arg())
    }))
}

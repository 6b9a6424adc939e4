//! Weighted means, covariance, correlation, quantiles, extremes without NaN.

use nomina_core::dims::{AlignInto, AxesOf, Dims, OneOrAll, Without};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Float, Inexact, Result};
use nomina_runtime::DynTensor;

use super::coords::{Coords, texts, unified};
use super::{DynLabelled, Labelled};
use crate::tensor::picked;

impl<D: Dims, T: Element> Labelled<D, T> {
    /// Returns the labels of a reduction over dims together with another operand, whose labels must be equal.
    fn reduced_with<E: Dims, A: AxesOf<D>>(
        &self,
        op: &'static str,
        other: &Labelled<E, T>,
        dims: &A,
    ) -> Result<Coords> {
        let coords = unified(
            op,
            (&self.coords, D::NAMES),
            (&other.coords, E::NAMES),
            D::NAMES,
        )?;
        let gone = picked::<A, D>(dims);
        Ok(coords.reduced(D::RANK, gone.at, gone.all, gone.keepdim))
    }
}

macro_rules! with_another {
    ($($name:ident $tried:ident $bound:ident, $doc:literal;)*) => {
        /// # Weighted means, covariance and correlation
        impl<D: Dims, T: Element> Labelled<D, T> {$(
            #[doc = $doc]
            /// Dims of the second tensor are among those of the first; labels must be equal along them.
            ///
            /// # Panics
            /// If sizes or labels differ.
            #[track_caller]
            #[must_use]
            pub fn $name<E: Dims + AlignInto<D>, A: AxesOf<D>>(&self, other: &Labelled<E, T>, dims: A) -> Labelled<Without<D, A>, T> where                 T: $bound, {
                crate::erased::ok(self.$tried(other, dims))
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If sizes or labels differ.
            pub fn $tried<E: Dims + AlignInto<D>, A: AxesOf<D>>(&self, other: &Labelled<E, T>, dims: A) -> Result<Labelled<Without<D, A>, T>>
            where
                T: $bound, {
                let coords = self.reduced_with(stringify!($name), other, &dims)?;
                Ok(Labelled::from_parts(self.tensor.$tried(&other.tensor, dims)?, coords))
            }
        )*}
        impl DynLabelled {$(
            #[doc = $doc]
            /// Dims of the second tensor are among those of the first; labels must be equal along them.
            ///
            /// # Errors
            /// If a dim is missing, or sizes, dtypes or labels differ.
            pub fn $name<'a>(&self, other: &Self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
                self.moment(stringify!($name), other, dims.into(), |x, y, dims| x.$name(y, dims))
            }
        )*}
    };
}
with_another! {
    weighted_mean try_weighted_mean Inexact, "Computes the mean over dims, weighted by another tensor.";
    weighted_nanmean try_weighted_nanmean Inexact, "Computes the mean of the elements that are not NaN over dims, weighted by another tensor (xarray: `weighted(w).mean(dims)`).";
    corr try_corr Float, "Computes the correlation with another tensor over dims.";
    nancorr try_nancorr Float, "Computes the correlation with another tensor over dims, of the pairs without NaN (xarray: `xr.corr`).";
    covar try_covar Float, "Computes the covariance with another tensor over dims, with a correction of 1.";
    nancovar try_nancovar Float, "Computes the covariance with another tensor over dims, of the pairs without NaN, with a correction of 1 (xarray: `xr.cov`).";
}

impl DynLabelled {
    fn moment(
        &self,
        op: &'static str,
        other: &Self,
        dims: DimArg<'_>,
        compute: impl FnOnce(&DynTensor, &DynTensor, DimArg<'_>) -> Result<DynTensor>,
    ) -> Result<Self> {
        let names = texts(self.names());
        let coords = unified(
            op,
            (&self.coords, &names),
            (&other.coords, &texts(other.names())),
            &names,
        );
        let coords = coords.map_err(|e| self.blame(e))?;
        let at = dims
            .positions(op, self.names())
            .map_err(|e| self.blame(e))?;
        let coords = coords.reduced(self.rank(), &at, false, dims.keepdim());
        Ok(Self::from_parts(
            compute(&self.tensor, &other.tensor, dims)?,
            coords,
        ))
    }

    fn fraction(
        &self,
        op: &'static str,
        dims: DimArg<'_>,
        compute: impl FnOnce(&DynTensor, DimArg<'_>) -> Result<DynTensor>,
    ) -> Result<Self> {
        let at = dims
            .positions(op, self.names())
            .map_err(|e| self.blame(e))?;
        let coords = self.coords.reduced(self.rank(), &at, false, dims.keepdim());
        Ok(Self::from_parts(compute(&self.tensor, dims)?, coords))
    }
}

macro_rules! fractions {
    ($($name:ident $tried:ident, $doc:literal;)*) => {
        /// # Quantiles
        impl<D: Dims, T: Float> Labelled<D, T> {$(
            #[doc = $doc]
            ///
            /// # Panics
            /// If `q` is not between 0 and 1, or there are no elements.
            #[track_caller]
            #[must_use]
            pub fn $name<A: OneOrAll + AxesOf<D>>(&self, q: f64, dim: A) -> Labelled<Without<D, A>, T> {
                crate::erased::ok(self.$tried(q, dim))
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If `q` is not between 0 and 1, or there are no elements.
            pub fn $tried<A: OneOrAll + AxesOf<D>>(&self, q: f64, dim: A) -> Result<Labelled<Without<D, A>, T>> {
                let dropped = picked::<A, D>(&dim);
                let coords = self.coords.reduced(D::RANK, dropped.at, dropped.all, dropped.keepdim);
                Ok(Labelled::from_parts(self.tensor.$tried(q, dim)?, coords))
            }
        )*}
        /// # Quantiles
        impl DynLabelled {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If `q` is not between 0 and 1, the dim is missing, or the dtype has no quantiles.
            pub fn $name<'a>(&self, q: f64, dim: impl Into<DimArg<'a>>) -> Result<Self> {
                self.fraction(stringify!($name), dim.into(), |x, dim| x.$name(q, dim))
            }
        )*}
    };
}
fractions! {
    quantile try_quantile, "Returns the element at the fraction `q` of the sorted line along a dim, or of all elements with `..`.";
    nanquantile try_nanquantile, "Returns the element at the fraction `q` of the sorted line of the elements that are not NaN, like xarray.";
}

macro_rules! extremes {
    ($($name:ident $tried:ident $plain:ident $worst:ident, $doc:literal;)*) => {
        /// # Extremes without NaN
        impl<D: Dims, T: Float> Labelled<D, T> {$(
            #[doc = $doc]
            ///
            /// # Panics
            /// If a dim has no elements.
            #[track_caller]
            #[must_use]
            pub fn $name<A: AxesOf<D>>(&self, dims: A) -> Labelled<Without<D, A>, T> {
                crate::erased::ok(self.$tried(dims))
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If a dim has no elements.
            pub fn $tried<A: AxesOf<D>>(&self, dims: A) -> Result<Labelled<Without<D, A>, T>> {
                let dropped = picked::<A, D>(&dims);
                self.computed(|x| x.$name(dropped.to_arg()))
            }
        )*}
        /// # Extremes without NaN
        impl DynLabelled {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If a dim is missing or repeated, or has no elements.
            pub fn $name<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
                self.fraction(stringify!($name), dims.into(), |x, dims| {
                    if !x.dtype().is_float() {
                        return x.$plain(dims);
                    }
                    let nan = x.isnan()?;
                    let found = x.masked_fill(&nan, f64::$worst)?.$plain(dims.clone())?;
                    found.masked_fill(&nan.all(dims)?, f64::NAN)
                })
            }
        )*}
    };
}
extremes! {
    nanmax try_nanmax amax NEG_INFINITY, "Returns the greatest element over dims that is not NaN, NaN if there is none (xarray: `max`).";
    nanmin try_nanmin amin INFINITY, "Returns the smallest element over dims that is not NaN, NaN if there is none (xarray: `min`).";
}

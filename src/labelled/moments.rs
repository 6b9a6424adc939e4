//! Weighted means, covariance, correlation, quantiles.

use nomina_core::dims::{AlignInto, AxesOf, Dims, OneOrAll, Without};
use nomina_core::rule::DimArg;
use nomina_core::{Element, Float, Inexact, Result};
use nomina_macros::twin;
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

    /// Returns the element at the fraction `q` of the sorted line along a dim, or of all elements with `..`.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, the dim is missing, or the dtype has no quantiles.
    pub fn quantile<'a>(&self, q: f64, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.fraction("quantile", dim.into(), |x, dim| x.quantile(q, dim))
    }

    /// Like [`quantile`](Self::quantile), but ignores NaN, like xarray.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, the dim is missing, or the dtype has no quantiles.
    pub fn nanquantile<'a>(&self, q: f64, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.fraction("nanquantile", dim.into(), |x, dim| x.nanquantile(q, dim))
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

/// # Quantiles
impl<D: Dims, T: Float> Labelled<D, T> {
    /// Returns the element at the fraction `q` of the sorted line along a dim, or of all elements with `..`.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, or there are no elements.
    #[twin]
    pub fn try_quantile<A: OneOrAll + AxesOf<D>>(
        &self,
        q: f64,
        dim: A,
    ) -> Result<Labelled<Without<D, A>, T>> {
        let gone = picked::<A, D>(&dim);
        let coords = self
            .coords
            .reduced(D::RANK, gone.at, gone.all, gone.keepdim);
        Ok(Labelled::from_parts(
            self.tensor.try_quantile(q, dim)?,
            coords,
        ))
    }

    /// Like [`quantile`](Self::quantile), but ignores NaN, like xarray.
    ///
    /// # Errors
    /// If `q` is not between 0 and 1, or there are no elements.
    #[twin]
    pub fn try_nanquantile<A: OneOrAll + AxesOf<D>>(
        &self,
        q: f64,
        dim: A,
    ) -> Result<Labelled<Without<D, A>, T>> {
        let gone = picked::<A, D>(&dim);
        let coords = self
            .coords
            .reduced(D::RANK, gone.at, gone.all, gone.keepdim);
        Ok(Labelled::from_parts(
            self.tensor.try_nanquantile(q, dim)?,
            coords,
        ))
    }
}

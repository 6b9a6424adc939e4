//! Statistics along a dim, or of variables.
//!
//! [`Tensor::diff`], [`Tensor::trapezoid`], [`Tensor::trapezoid_at`],
//! [`Tensor::cumulative_trapezoid`], [`Tensor::cumulative_trapezoid_at`], [`Tensor::renorm`],
//! [`Tensor::cov`], [`Tensor::corrcoef`].

use nomina_core::dims::{Axis, Broadcast, Dim, DimOf, Dims, Prime, Resizable, SizeOf, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Numeric, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{DiffOptions, TrapezoidOptions};

use super::super::{Tensor, at};
use crate::erased::{Known, reduce, stat};

/// Options of `cov_with`, for observations along `O`.
#[derive(Clone, Copy, Debug)]
pub struct CovOptions<'a, O: Axis, W: Float = f32>
where
    (O,): Dims,
{
    /// The number subtracted from the count of observations.
    pub correction: f64,
    /// The number of times that each observation is counted.
    pub fweights: Option<&'a Tensor<(O,), i64>>,
    /// The weight of each observation.
    pub aweights: Option<&'a Tensor<(O,), W>>,
}

impl<O: Axis, W: Float> Default for CovOptions<'_, O, W>
where
    (O,): Dims,
{
    fn default() -> Self {
        Self {
            correction: 1.0,
            fweights: None,
            aweights: None,
        }
    }
}

/// # Statistics along a dim
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the differences of neighbours along a dim, which has one element less; for bool,
    /// whether they differ.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { T }
    /// let x = tensor!([1., 4., 9.]; T);
    /// assert_eq!(x.diff(T).to_vec(), [3.0, 5.0]);
    /// assert_eq!(x.trapezoid(T).item(), 9.0);
    /// ```
    ///
    /// # Errors
    /// If memory runs out, or the number of times is negative.
    #[twin(with = "but takes differences `options.n` times.")]
    pub fn try_diff_with<X: DimOf<D>>(&self, dim: X, options: DiffOptions) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let dim = at(&dim, self);
        Self::try_from_erased(stat::diff(self.erased(), dim, options))
    }

    /// Computes the integral of samples along a dim by the trapezoidal rule.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but with samples `options.dx` apart.")]
    pub fn try_trapezoid_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: TrapezoidOptions,
    ) -> Result<Tensor<Without<D, X>, T::Float>>
    where
        T: Numeric,
    {
        let (dim, out) = (at(&dim, self), <Without<D, X>>::STATIC);
        let found = stat::integral(Op::Trapezoid, self.erased(), None, dim, options, out);
        Tensor::try_from_erased(found)
    }

    /// Like [`trapezoid`](Self::trapezoid), but of samples at given positions.
    ///
    /// # Errors
    /// If the number of places differs.
    #[twin]
    pub fn try_trapezoid_at<X: DimOf<D> + Axis, Y: Axis>(
        &self,
        places: &Tensor<(Y,), T>,
        dim: X,
    ) -> Result<Tensor<Without<D, X>, T::Float>>
    where
        (Y,): Dims,
        (X,): Dims + Broadcast<(Y,)>,
        T: Numeric,
    {
        let (dim, out) = (at(&dim, self), <Without<D, X>>::STATIC);
        let (places, options) = (Some(places.erased()), TrapezoidOptions::default());
        let found = stat::integral(Op::Trapezoid, self.erased(), places, dim, options, out);
        Tensor::try_from_erased(found)
    }

    /// Computes the running integral of samples along a dim by the trapezoidal rule; the dim has
    /// one element less.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but with samples `options.dx` apart.")]
    pub fn try_cumulative_trapezoid_with<X: DimOf<D>>(
        &self,
        dim: X,
        options: TrapezoidOptions,
    ) -> Result<Tensor<D, T::Float>>
    where
        T: Numeric,
        SizeOf<X>: Resizable<X>,
    {
        let (dim, out) = (at(&dim, self), D::STATIC);
        let found = stat::integral(
            Op::CumulativeTrapezoid,
            self.erased(),
            None,
            dim,
            options,
            out,
        );
        Tensor::try_from_erased(found)
    }

    /// Like [`cumulative_trapezoid`](Self::cumulative_trapezoid), but of samples at given
    /// positions.
    ///
    /// # Errors
    /// If the number of places differs.
    #[twin]
    pub fn try_cumulative_trapezoid_at<X: DimOf<D> + Axis, Y: Axis>(
        &self,
        places: &Tensor<(Y,), T>,
        dim: X,
    ) -> Result<Tensor<D, T::Float>>
    where
        (Y,): Dims,
        (X,): Dims + Broadcast<(Y,)>,
        T: Numeric,
        SizeOf<X>: Resizable<X>,
    {
        let (dim, out) = (at(&dim, self), D::STATIC);
        let (places, options) = (Some(places.erased()), TrapezoidOptions::default());
        let found = stat::integral(
            Op::CumulativeTrapezoid,
            self.erased(),
            places,
            dim,
            options,
            out,
        );
        Tensor::try_from_erased(found)
    }

    /// Scales slices along a dim down to a `p`-norm of at most `maxnorm`.
    ///
    /// # Errors
    /// If there is a single dim, `p` is not positive, or `maxnorm` is negative.
    #[twin]
    pub fn try_renorm<X: DimOf<D>>(&self, p: f64, dim: X, maxnorm: f64) -> Result<Self>
    where
        T: Inexact,
    {
        let dim = at(&dim, self);
        Self::try_from_erased(stat::renorm(self.erased(), p, dim, maxnorm))
    }

    /// Like [`renorm`](Self::renorm), but in place.
    ///
    /// # Errors
    /// If there is a single dim, `p` is not positive, or `maxnorm` is negative. Nothing is changed
    /// in that case.
    #[twin]
    pub fn try_renorm_<X: DimOf<D>>(&mut self, p: f64, dim: X, maxnorm: f64) -> Result<&mut Self>
    where
        T: Inexact,
    {
        let found = self.try_renorm(p, dim, maxnorm)?.erased;
        reduce::store(Op::Renorm, found, D::STATIC, &mut self.erased, D::STATIC)?;
        Ok(self)
    }
}

impl<V: Dim, O: Axis, T: Real> Tensor<(V, O), T>
where
    (V, O): Dims,
    (V, Prime<V>): Dims,
    (O,): Dims,
{
    /// Computes the covariance matrix of variables, which are rows, over observations, which are
    /// columns. Its second dim is the primed first. One row gives a matrix of one element, as the
    /// type requires; [`DynTensor::cov`](crate::DynTensor::cov) gives a number.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { V, T }
    /// let x = tensor!([[1., 2., 3.], [3., 2., 1.]]; V, T);
    /// let c: Tensor<(V, Prime<V>)> = x.cov();
    /// assert_eq!(c.to_vec(), [1.0, -1.0, -1.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_cov(&self) -> Result<Tensor<(V, Prime<V>), T::Float>> {
        self.try_cov_with(CovOptions::<O>::default())
    }

    /// Like [`cov`](Self::cov), but with a given correction and weights of observations.
    ///
    /// # Errors
    /// If the number of weights differs, or a weight is negative.
    #[twin]
    pub fn try_cov_with<W: Float>(
        &self,
        options: CovOptions<'_, O, W>,
    ) -> Result<Tensor<(V, Prime<V>), T::Float>> {
        let weights = (
            options.fweights.map(Tensor::erased),
            options.aweights.map(Tensor::erased),
        );
        let out = <(V, Prime<V>)>::STATIC;
        Tensor::try_from_erased(stat::cov(self.erased(), options.correction, weights, out))
    }

    /// Computes the correlation coefficients of variables, which are rows, with the dims of
    /// [`cov`](Self::cov).
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_corrcoef(&self) -> Result<Tensor<(V, Prime<V>), T::Float>> {
        Tensor::try_from_erased(stat::corrcoef(self.erased(), <(V, Prime<V>)>::STATIC))
    }
}

// The forms in place and with an out tensor.
include!("along/forms.rs");

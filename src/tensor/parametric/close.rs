//! Whether elements are close; the tensor itself.
//!
//! [`Tensor::isclose`], [`Tensor::allclose`], [`Tensor::positive`].

use nomina_core::dims::{Broadcast, Dims, DtypeRule, Sum};
use nomina_core::op::Op;
use nomina_core::{Element, Numeric, Promote, Result};
use nomina_runtime::tensor::CloseOptions;

use crate::call::{Known, ok, parametric};
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Whether elements differ by at most 1e-8 plus 1e-5 times the other's magnitude.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn isclose<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Tensor<Sum<D, E>, bool>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        ok(self.try_isclose(other))
    }

    /// [`isclose`](Self::isclose) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_isclose<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
    ) -> Result<Tensor<Sum<D, E>, bool>>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        let options = CloseOptions::default();
        Tensor::give(parametric::close(
            Op::Isclose,
            self.look(),
            other.look(),
            options,
            <Sum<D, E>>::STATIC,
        ))
    }

    /// [`isclose`](Self::isclose) with distances of choice.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn isclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> Tensor<Sum<D, E>, bool>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        ok(self.try_isclose_with(other, options))
    }

    /// [`isclose_with`](Self::isclose_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_isclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> Result<Tensor<Sum<D, E>, bool>>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        Tensor::give(parametric::close(
            Op::Isclose,
            self.look(),
            other.look(),
            options,
            <Sum<D, E>>::STATIC,
        ))
    }

    /// Whether all elements are close, as [`isclose`](Self::isclose) says.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn allclose<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> bool
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        ok(self.try_allclose(other))
    }

    /// [`allclose`](Self::allclose) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_allclose<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<bool>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        let options = CloseOptions::default();
        parametric::all_close(self.look(), other.look(), options, <Sum<D, E>>::STATIC)
    }

    /// [`allclose`](Self::allclose) with distances of choice.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn allclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> bool
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        ok(self.try_allclose_with(other, options))
    }

    /// [`allclose_with`](Self::allclose_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_allclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> Result<bool>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        parametric::all_close(self.look(), other.look(), options, <Sum<D, E>>::STATIC)
    }

    /// The tensor itself.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn positive(&self) -> Tensor<D, T>
    where
        T: Numeric,
    {
        ok(self.try_positive())
    }

    /// [`positive`](Self::positive) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_positive(&self) -> Result<Tensor<D, T>>
    where
        T: Numeric,
    {
        Ok(self.clone())
    }
}

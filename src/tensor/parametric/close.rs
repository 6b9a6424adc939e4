//! Closeness of elements; the tensor itself.
//!
//! [`Tensor::isclose`], [`Tensor::allclose`], [`Tensor::positive`].

use nomina_core::dims::{Broadcast, Dims, DtypeRule, Sum};
use nomina_core::op::Op;
use nomina_core::{Element, Numeric, Promote, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::CloseOptions;

use crate::erased::{Known, parametric};
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns whether elements differ by at most 1e-8 plus 1e-5 times the other's magnitude.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the tolerances of the options.")]
    pub fn try_isclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> Result<Tensor<Sum<D, E>, bool>>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        Tensor::try_from_erased(parametric::close(
            Op::Isclose,
            self.erased(),
            other.erased(),
            options,
            <Sum<D, E>>::STATIC,
        ))
    }

    /// Returns whether all elements are close, like [`isclose`](Self::isclose).
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the tolerances of the options.")]
    pub fn try_allclose_with<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
        options: CloseOptions,
    ) -> Result<bool>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        parametric::all_close(self.erased(), other.erased(), options, <Sum<D, E>>::STATIC)
    }

    /// Returns the tensor itself.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_positive(&self) -> Result<Tensor<D, T>>
    where
        T: Numeric,
    {
        Ok(self.clone())
    }
}

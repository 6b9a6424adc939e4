//! A tensor plus a product.
//!
//! [`Tensor::addmm`], [`Tensor::addmv`], [`Tensor::baddbmm`], [`Tensor::addbmm`], [`Tensor::addr`].

use nomina_core::dims::{
    Batched, Beside, Broadcast, DimList, Dims, Joined, MatMul, Matrix, Product, Sum, Vector,
};
use nomina_core::op::Op;
use nomina_core::{Element, Numeric, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::AddmmOptions;

use super::Tensor;
use crate::erased::{Known, product};

/// The dims of a product of batches of matrices, without the batch dim.
type Summed<E, F> = <Product<E, F> as DimList>::Tail;

/// # Products and linear algebra
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds the product of two matrices to this tensor.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, K, M }
    /// let bias = tensor!([10., 20.]; M);
    /// let a = tensor!([[1., 2.]]; N, K);
    /// let b = tensor!([[1., 0.], [0., 1.]]; K, M);
    /// assert_eq!(bias.addmm(&a, &b).to_vec(), [11.0, 22.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or an option is of a higher category than the dtype.
    #[twin(with = "but with `beta` times this tensor and `alpha` times the product.")]
    pub fn try_addmm_with<E: Dims + Matrix + MatMul<F>, F: Dims + Matrix>(
        &self,
        mat1: &Tensor<E, T>,
        mat2: &Tensor<F, T>,
        options: AddmmOptions,
    ) -> Result<Tensor<Sum<Product<E, F>, D>, T>>
    where
        T: Numeric,
        Product<E, F>: Broadcast<D>,
    {
        Tensor::try_from_erased(product::added(
            Op::Addmm,
            [self.erased(), mat1.erased(), mat2.erased()],
            options,
            <Sum<Product<E, F>, D>>::STATIC,
        ))
    }

    /// Adds the product of a matrix and a vector to this tensor.
    ///
    /// # Errors
    /// If sizes do not match, or an option is of a higher category than the dtype.
    #[twin(with = "but with `beta` times this tensor and `alpha` times the product.")]
    pub fn try_addmv_with<E: Dims + Matrix + MatMul<F>, F: Dims + Vector>(
        &self,
        mat: &Tensor<E, T>,
        vec: &Tensor<F, T>,
        options: AddmmOptions,
    ) -> Result<Tensor<Sum<Product<E, F>, D>, T>>
    where
        T: Numeric,
        Product<E, F>: Broadcast<D>,
    {
        Tensor::try_from_erased(product::added(
            Op::Addmv,
            [self.erased(), mat.erased(), vec.erased()],
            options,
            <Sum<Product<E, F>, D>>::STATIC,
        ))
    }

    /// Adds the products of two batches of matrices to this tensor.
    ///
    /// # Errors
    /// If sizes do not match, or an option is of a higher category than the dtype.
    #[twin(with = "but with `beta` times this tensor and `alpha` times the product.")]
    pub fn try_baddbmm_with<E: Dims + Batched + MatMul<F>, F: Dims + Batched>(
        &self,
        batch1: &Tensor<E, T>,
        batch2: &Tensor<F, T>,
        options: AddmmOptions,
    ) -> Result<Tensor<Sum<Product<E, F>, D>, T>>
    where
        T: Numeric,
        Product<E, F>: Broadcast<D>,
    {
        Tensor::try_from_erased(product::added(
            Op::Baddbmm,
            [self.erased(), batch1.erased(), batch2.erased()],
            options,
            <Sum<Product<E, F>, D>>::STATIC,
        ))
    }

    /// Adds the sum of the products of two batches of matrices to this tensor.
    ///
    /// # Errors
    /// If sizes do not match, or an option is of a higher category than the dtype.
    #[twin(with = "but with `beta` times this tensor and `alpha` times the product.")]
    pub fn try_addbmm_with<E: Dims + Batched + MatMul<F>, F: Dims + Batched>(
        &self,
        batch1: &Tensor<E, T>,
        batch2: &Tensor<F, T>,
        options: AddmmOptions,
    ) -> Result<Tensor<Sum<Summed<E, F>, D>, T>>
    where
        T: Numeric,
        Summed<E, F>: Broadcast<D>,
    {
        Tensor::try_from_erased(product::added(
            Op::Addbmm,
            [self.erased(), batch1.erased(), batch2.erased()],
            options,
            <Sum<Summed<E, F>, D>>::STATIC,
        ))
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds the outer product of two vectors to this tensor.
    ///
    /// # Errors
    /// If sizes do not match, or an option is of a higher category than the dtype.
    #[twin(with = "but with `beta` times this tensor and `alpha` times the product.")]
    pub fn try_addr_with<E: Dims + Vector, F: Beside<E> + Vector>(
        &self,
        vec1: &Tensor<E, T>,
        vec2: &Tensor<F, T>,
        options: AddmmOptions,
    ) -> Result<Tensor<Sum<Joined<E, F>, D>, T>>
    where
        Joined<E, F>: Broadcast<D>,
    {
        Tensor::try_from_erased(product::added(
            Op::Addr,
            [self.erased(), vec1.erased(), vec2.erased()],
            options,
            <Sum<Joined<E, F>, D>>::STATIC,
        ))
    }
}

// The forms in place and with an out tensor.
include!("addmm/forms.rs");

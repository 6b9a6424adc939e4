//! Products of sparse and dense matrices.
//!
//! [`Sparse::matmul`], [`Sparse::mm`], [`Sparse::mv`], [`Tensor::mm_sparse`].

use nomina_core::dims::{Dims, Factor, Matrix, Product, Vector};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Sparse;
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Sparse<D, T> {
    twins! {
        /// Multiplies by a dense matrix or vector; the result is dense. The contracted dims may
        /// have any names.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_matmul [E: Factor<D>] (self, other: &Tensor<E, T>) -> Tensor<Product<D, E>, T>
            [D: Matrix]
        {
            Tensor::try_from_dyn(self.inner.matmul(&other.to_dyn()))
        }

        /// Multiplies by a dense matrix; the result is dense.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_mm [E: Factor<D> + Matrix] (self, mat2: &Tensor<E, T>) -> Tensor<Product<D, E>, T>
            [D: Matrix]
        {
            Tensor::try_from_dyn(self.inner.mm(&mat2.to_dyn()))
        }

        /// Multiplies by a dense vector; the result is dense.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_mv [E: Factor<D> + Vector] (self, vec: &Tensor<E, T>) -> Tensor<Product<D, E>, T>
            [D: Matrix]
        {
            Tensor::try_from_dyn(self.inner.mv(&vec.to_dyn()))
        }
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Multiplies a dense matrix by a sparse one; the result is dense.
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_mm_sparse<E: Factor<D> + Matrix>(
        &self,
        mat2: &Sparse<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Matrix,
    {
        Tensor::try_from_dyn(self.to_dyn().mm_sparse(&mat2.inner))
    }
}

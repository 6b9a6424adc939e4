//! Products of two tensors: by position (matmul and similar), and by name (contract).
//!
//! [`Tensor::matmul`], [`Tensor::mm`], [`Tensor::mv`], [`Tensor::dot`], [`Tensor::bmm`],
//! [`Tensor::matmul_on`], [`Tensor::contract`].

use nomina_core::dims::{
    Axes, Batched, ContractTo, Dims, Factor, MatMulOn, Matrix, Product, Vector, positions,
};
use nomina_core::op::Op;
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::{Known, product};

/// # Products of matrices and vectors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Multiplies matrices, summing over the last dim of this tensor and the last but one of `other` (its only dim if it
    /// is a vector), whose names are not compared, as in PyTorch. Batch dims broadcast and unify; a vector loses its dim.
    ///
    /// To multiply by name, use [`contract`](Self::contract), which finds the dim at any position, or
    /// [`matmul_on`](Self::matmul_on), which requires it at these two positions.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { B, N, K, M }
    /// let a = Tensor::<(B, N, K)>::ones([2, 3, 4]);
    /// let b = Tensor::<(K, M)>::ones([4, 5]);
    /// let c: Tensor<(B, N, M)> = a.matmul(&b);
    /// assert_eq!(c.shape(), [2, 3, 5]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_matmul<E: Factor<D>>(
        &self,
        other: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>> {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(
            Op::Matmul,
            self.erased.erased(D::STATIC),
            other.erased.erased(E::STATIC),
            out,
        ))
    }

    /// Like [`matmul`](Self::matmul), but requires both contracted dims to be `dim`: the last dim of this tensor, and
    /// the last but one, or only, dim of `other`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let x = tensor!([[1., 2.]]; N, C);
    /// let w = tensor!([[1.], [10.]]; C, K);
    /// assert_eq!(x.matmul_on(C, &w).to_vec(), [21.0]);
    /// ```
    ///
    /// Weights of dims `(K, C)` are refused, even if both have one size: `x.matmul(&w)` would contract `C` with `K`.
    ///
    /// ```compile_fail
    /// # use nomina::prelude::*;
    /// # dims! { N, C, K }
    /// let x = Tensor::<(N, C)>::ones([2, 3]);
    /// let w = Tensor::<(K, C)>::ones([3, 3]);
    /// x.matmul_on(C, &w);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_matmul_on<K: MatMulOn<D, E>, E: Factor<D>>(
        &self,
        dim: K,
        other: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>> {
        let _ = dim;
        self.try_matmul(other)
    }

    /// Multiplies two matrices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, K, M }
    /// let a = tensor!([[1., 2.]]; N, K);
    /// let b = tensor!([[3.], [4.]]; K, M);
    /// assert_eq!(a.mm(&b).to_vec(), [11.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_mm<E: Factor<D> + Matrix>(
        &self,
        mat2: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Matrix,
    {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(
            Op::Mm,
            self.erased.erased(D::STATIC),
            mat2.erased.erased(E::STATIC),
            out,
        ))
    }

    /// Multiplies a matrix by a vector.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, K }
    /// let a = tensor!([[1., 2.], [3., 4.]]; N, K);
    /// assert_eq!(a.mv(&tensor!([1., 1.]; K)).to_vec(), [3.0, 7.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_mv<E: Factor<D> + Vector>(
        &self,
        vec: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Matrix,
    {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(
            Op::Mv,
            self.erased.erased(D::STATIC),
            vec.erased.erased(E::STATIC),
            out,
        ))
    }

    /// Computes the inner product of two vectors.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([1., 2.]; N).dot(&tensor!([3., 4.]; N)).item(), 11.0);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_dot<E: Factor<D> + Vector>(
        &self,
        tensor: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Vector,
    {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(
            Op::Dot,
            self.erased.erased(D::STATIC),
            tensor.erased.erased(E::STATIC),
            out,
        ))
    }

    /// Multiplies two batches of matrices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { B, N, K, M }
    /// let a = Tensor::<(B, N, K)>::ones([2, 3, 4]);
    /// let b = Tensor::<(B, K, M)>::ones([2, 4, 5]);
    /// assert_eq!(a.bmm(&b).shape(), [2, 3, 5]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_bmm<E: Factor<D> + Batched>(
        &self,
        mat2: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Batched,
    {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(
            Op::Bmm,
            self.erased.erased(D::STATIC),
            mat2.erased.erased(E::STATIC),
            out,
        ))
    }

    /// Multiplies and sums over a common dim, or a tuple of common dims, in any position. Other common dims are batch
    /// dims. The result has this tensor's dims without the contracted ones, then those of `other` that this one lacks.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Features, Classes }
    /// let x = tensor!([[1., 2.]]; N, Features);
    /// let w = tensor!([[1., 10.], [2., 20.], [3., 30.]]; Classes, Features);
    /// let y: Tensor<(N, Classes)> = x.contract(&w, Features);
    /// assert_eq!(y.to_vec(), [21.0, 42.0, 63.0]);
    /// ```
    ///
    /// A tensor contracted with itself thus gives one number for each element of its other dims. For all pairs of them,
    /// rename those of one side:
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// # dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let squares: Tensor<(N,)> = x.contract(&x, C);
    /// assert_eq!(squares.to_vec(), [5.0, 25.0]);
    /// let pairs: Tensor<(N, Prime<N>)> = x.contract(&x.prime(N), C);
    /// assert_eq!(pairs.to_vec(), [5.0, 11.0, 11.0, 25.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_contract<E: Dims, O: Dims, X: Axes + ContractTo<D, E, O>>(
        &self,
        other: &Tensor<E, T>,
        dim: X,
    ) -> Result<Tensor<O, T>> {
        let _ = dim;
        let places = [positions::<X, D>(), positions::<X, E>()];
        Tensor::try_from_erased(product::contract(
            self.erased.erased(D::STATIC),
            other.erased.erased(E::STATIC),
            places,
        ))
    }
}

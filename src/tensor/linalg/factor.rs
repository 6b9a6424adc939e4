//! Matrix factorisations and spectra. With feature `linalg`.
//!
//! [`Tensor::cholesky`], [`Tensor::qr`], [`Tensor::svd`], [`Tensor::svdvals`], [`Tensor::eigh`],
//! [`Tensor::eigvalsh`], [`Tensor::eig`].

use nomina_core::dims::{Append, Dims, LeftFactor, MatrixOf, OneDim, RightFactor, Spectrum};
use nomina_core::op::class::Linalg;
use nomina_core::{Element, Result, Solvable};
use nomina_macros::twin;

use super::{Two, places};
use crate::erased::{Known, linalg};
use crate::tensor::Tensor;

/// # Matrix factorisations
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the lower triangular `L` of positive definite matrices `A = L Lᴴ`. The upper triangle of `A` is not
    /// read.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[4., 2.], [2., 10.]]; Row, Col);
    /// assert_eq!(a.cholesky((Row, Col)).to_vec(), [2.0, 0.0, 1.0, 3.0]);
    /// ```
    ///
    /// # Errors
    /// If a matrix is not square or not positive definite.
    #[twin]
    pub fn try_cholesky<M: MatrixOf<D>>(&self, dims: M) -> Result<Self>
    where
        T: Solvable,
    {
        let at = places(dims, self);
        let made = linalg::matrices(
            Linalg::Cholesky,
            self.erased(),
            at,
            [D::STATIC],
            |x, dims| Ok([x.cholesky(dims)?]),
        );
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes `A = Q R` with orthonormal columns and an upper triangle; `rank` is the dim between both.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Row, Col, Rank }
    /// let a = Tensor::<(N, Row, Col)>::randn([5, 4, 3]);
    /// let (q, r) = a.qr((Row, Col), Rank);
    /// let (q, r): (Tensor<(N, Row, Rank)>, Tensor<(N, Rank, Col)>) = (q, r);
    /// assert!((q.contract(&r, Rank) - &a).abs().max(..).item() < 1e-5);
    /// ```
    ///
    /// # Errors
    /// If a new dim has a constant size that is not the rank.
    #[twin]
    pub fn try_qr<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<Two<LeftFactor<D, M, K>, T, RightFactor<D, M, K>, T>>
    where
        T: Solvable,
    {
        let _ = rank;
        let out = [
            <LeftFactor<D, M, K>>::STATIC,
            <RightFactor<D, M, K>>::STATIC,
        ];
        let at = places(dims, self);
        let [q, r] = linalg::matrices(Linalg::Qr, self.erased(), at, out, |x, dims| {
            Ok(x.qr(dims, K::NAME)?.into())
        })?;
        Ok((Tensor::from_erased(q), Tensor::from_erased(r)))
    }

    /// Computes `A = U S Vᴴ` with orthonormal columns, descending singular values, and orthonormal rows; `rank` is the
    /// dim between the factors.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { User, Film, Taste }
    /// let ratings = Tensor::<(User, Film)>::randn([6, 4]);
    /// let (u, s, vh) = ratings.svd((User, Film), Taste);
    /// let s: Tensor<(Taste,)> = s;
    /// let back: Tensor<(User, Film)> = (u * &s).contract(&vh, Taste);
    /// assert!((back - &ratings).abs().max(..).item() < 1e-5);
    /// ```
    ///
    /// # Errors
    /// If an element is NaN or infinite, or the new dim has a constant size that is not the rank.
    #[twin]
    pub fn try_svd<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<(
        Tensor<LeftFactor<D, M, K>, T>,
        Tensor<Spectrum<D, M, K>, T::Real>,
        Tensor<RightFactor<D, M, K>, T>,
    )>
    where
        T: Solvable,
    {
        let _ = rank;
        let out = [
            <LeftFactor<D, M, K>>::STATIC,
            <Spectrum<D, M, K>>::STATIC,
            <RightFactor<D, M, K>>::STATIC,
        ];
        let at = places(dims, self);
        let [u, s, vh] = linalg::matrices(Linalg::Svd, self.erased(), at, out, |x, dims| {
            Ok(x.svd(dims, K::NAME)?.into())
        })?;
        Ok((
            Tensor::from_erased(u),
            Tensor::from_erased(s),
            Tensor::from_erased(vh),
        ))
    }

    /// Computes the singular values in descending order, along the new dim `rank`.
    ///
    /// # Errors
    /// If an element is NaN or infinite, or the new dim has a constant size that is not the rank.
    #[twin]
    pub fn try_svdvals<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<Tensor<Spectrum<D, M, K>, T::Real>>
    where
        T: Solvable,
    {
        let _ = rank;
        let (at, out) = (places(dims, self), <Spectrum<D, M, K>>::STATIC);
        let made = linalg::matrices(Linalg::Svdvals, self.erased(), at, [out], |x, dims| {
            Ok([x.svdvals(dims, K::NAME)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes the eigenvalues of symmetric or Hermitian matrices in ascending order, along the new dim `rank`, and
    /// their eigenvectors, which are columns along the dim of the rows. The upper triangle is not read.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col, Rank }
    /// let a = tensor!([[2., 1.], [1., 2.]]; Row, Col);
    /// let (values, vectors) = a.eigh((Row, Col), Rank);
    /// assert!(values.allclose(&tensor!([1., 3.]; Rank)));
    /// let vectors: Tensor<(Row, Rank)> = vectors;
    /// # let _ = vectors;
    /// ```
    ///
    /// # Errors
    /// If the matrices are not square, an element is NaN or infinite, or the new dim has a constant size that is not
    /// theirs.
    #[twin]
    pub fn try_eigh<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<Two<Spectrum<D, M, K>, T::Real, LeftFactor<D, M, K>, T>>
    where
        T: Solvable,
    {
        let _ = rank;
        let out = [<Spectrum<D, M, K>>::STATIC, <LeftFactor<D, M, K>>::STATIC];
        let at = places(dims, self);
        let [values, vectors] =
            linalg::matrices(Linalg::Eigh, self.erased(), at, out, |x, dims| {
                Ok(x.eigh(dims, K::NAME)?.into())
            })?;
        Ok((Tensor::from_erased(values), Tensor::from_erased(vectors)))
    }

    /// Computes only the eigenvalues of [`eigh`](Self::eigh).
    ///
    /// # Errors
    /// If the matrices are not square, an element is NaN or infinite, or the new dim has a constant size that is not
    /// theirs.
    #[twin]
    pub fn try_eigvalsh<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<Tensor<Spectrum<D, M, K>, T::Real>>
    where
        T: Solvable,
    {
        let _ = rank;
        let (at, out) = (places(dims, self), <Spectrum<D, M, K>>::STATIC);
        let made = linalg::matrices(Linalg::Eigvalsh, self.erased(), at, [out], |x, dims| {
            Ok([x.eigvalsh(dims, K::NAME)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes the eigenvalues of square matrices along the new dim `rank`, in no order, and their eigenvectors of
    /// norm 1, which are columns along the dim of the rows. Both are complex.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col, Rank }
    /// let turn = tensor!([[0., -1.], [1., 0.]]; Row, Col);
    /// let (values, _) = turn.eig((Row, Col), Rank);
    /// assert!(values.abs().allclose(&tensor!([1., 1.]; Rank)));
    /// ```
    ///
    /// # Errors
    /// If the matrices are not square, an element is NaN or infinite, or the new dim has a constant size that is not
    /// theirs.
    #[twin]
    pub fn try_eig<M: MatrixOf<D>, K: OneDim + Append<D>>(
        &self,
        dims: M,
        rank: K,
    ) -> Result<Two<Spectrum<D, M, K>, T::Complex, LeftFactor<D, M, K>, T::Complex>>
    where
        T: Solvable,
    {
        let _ = rank;
        let out = [<Spectrum<D, M, K>>::STATIC, <LeftFactor<D, M, K>>::STATIC];
        let at = places(dims, self);
        let [values, vectors] =
            linalg::matrices(Linalg::Eig, self.erased(), at, out, |x, dims| {
                Ok(x.eig(dims, K::NAME)?.into())
            })?;
        Ok((Tensor::from_erased(values), Tensor::from_erased(vectors)))
    }
}

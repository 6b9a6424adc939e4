//! Linear algebra: rows and columns by name, all other dims are batch. With feature `linalg`.
//!
//! [`Tensor::inv`], [`Tensor::pinv`], [`Tensor::solve`], [`Tensor::lstsq`], [`Tensor::solve_triangular`],
//! [`Tensor::det`], [`Tensor::slogdet`], [`Tensor::matrix_rank`], [`Tensor::matrix_norm`],
//! [`Tensor::cholesky`], [`Tensor::qr`], [`Tensor::svd`], [`Tensor::svdvals`], [`Tensor::eigh`],
//! [`Tensor::eigvalsh`], [`Tensor::eig`].

use nomina_core::dims::{
    Append, AxesOf, DimOf, Dims, LeftFactor, OneDim, RightFactor, RightSideOf, Solved, Spectrum,
    Transposed, Without, position, positions,
};
use nomina_core::op::class::Linalg;
use nomina_core::{Result, Solvable};
use nomina_macros::twin;
use nomina_runtime::call::MatrixOptions;
use nomina_runtime::tensor::{MatrixNorm, Tolerance, TriangularOptions};

use super::Tensor;
use crate::call::{Erased, Known, linalg};

/// Two tensors, of dtype and of values.
type Two<D, T, E, U> = (Tensor<D, T>, Tensor<E, U>);

/// # Systems of equations
impl<D: Dims, T: Solvable> Tensor<D, T> {
    /// The inverse of square matrices, given by their rows and columns. It maps rows back to columns, so the
    /// two names change places.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[2., 0.], [1., 4.]]; Row, Col);
    /// let inverse: Tensor<(Col, Row)> = a.inv((Row, Col));
    /// assert_eq!(inverse.to_vec(), [0.5, 0.0, -0.125, 0.25]);
    /// ```
    ///
    /// # Errors
    /// When the matrices are not square, or one of them is singular.
    #[twin]
    pub fn try_inv<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
    ) -> Result<Tensor<Transposed<D, R, C>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Transposed<D, R, C>>::STATIC);
        let made = linalg::matrices(Linalg::Inv, self.erased(), at, [out], |x, dims| {
            Ok([x.inv(dims)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// The pseudoinverse of matrices of any sizes, with rows and columns in each other's places.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[2., 0.], [0., 4.], [0., 0.]]; Row, Col);
    /// let inverse: Tensor<(Col, Row)> = a.pinv((Row, Col));
    /// assert_eq!(inverse.to_vec(), [0.5, 0.0, 0.0, 0.0, 0.25, 0.0]);
    /// ```
    ///
    /// # Errors
    /// When an element is NaN or infinite.
    #[twin(with = ", where singular values up to a tolerance count as zero.")]
    pub fn try_pinv_with<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
        tolerance: Tolerance,
    ) -> Result<Tensor<Transposed<D, R, C>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Transposed<D, R, C>>::STATIC);
        let made = linalg::matrices(Linalg::Pinv, self.erased(), at, [out], |x, dims| {
            Ok([x.pinv_with(dims, tolerance)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// The solution `x` of `A x = b` for square matrices. `b` has the rows' dim, `x` the columns' in its
    /// place; other dims that both have are batch, and those that only the matrices have come first.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Row, Col, K }
    /// let a = tensor!([[2., 0.], [1., 4.]]; Row, Col);
    /// let x: Tensor<(Col,)> = a.solve(&tensor!([2., 9.]; Row), (Row, Col));
    /// assert_eq!(x.to_vec(), [1.0, 2.0]);
    /// assert_eq!(a.contract(&x, Col).to_vec(), [2.0, 9.0]);
    ///
    /// let a = Tensor::<(N, Row, Col)>::randn([5, 3, 3]);
    /// let x: Tensor<(N, K, Col)> = a.solve(&Tensor::<(K, Row)>::ones([4, 3]), (Row, Col));
    /// assert_eq!(x.shape(), [5, 4, 3]);
    /// ```
    ///
    /// # Errors
    /// When sizes do not fit, or a matrix is not square or singular.
    #[twin]
    pub fn try_solve<E: RightSideOf<D, R, C>, R: DimOf<E>, C: OneDim>(
        &self,
        other: &Tensor<E, T>,
        dims: (R, C),
    ) -> Result<Tensor<Solved<D, E, R, C>, T>>
    where
        (R, C): AxesOf<D>,
    {
        Tensor::try_from_erased(self.solved(Linalg::Solve, other, dims, MatrixOptions::default()))
    }

    /// The solution `x` of least norm that brings `A x` closest to `b`, for matrices of any sizes; dims as of
    /// [`solve`](Self::solve).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Sample, Feature }
    /// let x = tensor!([[1., 0.], [1., 1.], [1., 2.]]; Sample, Feature);
    /// let y = tensor!([1., 3., 5.]; Sample);
    /// let line: Tensor<(Feature,)> = x.lstsq(&y, (Sample, Feature));
    /// assert!(line.allclose(&tensor!([1., 2.]; Feature)));
    /// ```
    ///
    /// # Errors
    /// When sizes do not fit, or an element is NaN or infinite.
    #[twin(with = ", where singular values up to a tolerance count as zero.")]
    pub fn try_lstsq_with<E: RightSideOf<D, R, C>, R: DimOf<E>, C: OneDim>(
        &self,
        other: &Tensor<E, T>,
        dims: (R, C),
        tolerance: Tolerance,
    ) -> Result<Tensor<Solved<D, E, R, C>, T>>
    where
        (R, C): AxesOf<D>,
    {
        Tensor::try_from_erased(self.solved(Linalg::Lstsq, other, dims, tolerance.into()))
    }

    /// [`solve`](Self::solve) for triangular matrices: the upper triangle or the lower one. The other
    /// triangle is not read; a zero on the diagonal gives infinities.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[2., 9.], [1., 4.]]; Row, Col);
    /// let b = tensor!([2., 9.]; Row);
    /// assert_eq!(a.solve_triangular(&b, (Row, Col), false).to_vec(), [1.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// When sizes do not fit, or the matrices are not square.
    #[twin(with = ", or with a diagonal of ones.")]
    pub fn try_solve_triangular_with<E: RightSideOf<D, R, C>, R: DimOf<E>, C: OneDim>(
        &self,
        other: &Tensor<E, T>,
        dims: (R, C),
        upper: bool,
        options: TriangularOptions,
    ) -> Result<Tensor<Solved<D, E, R, C>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let options = MatrixOptions {
            upper,
            unitriangular: options.unitriangular,
            ..MatrixOptions::default()
        };
        Tensor::try_from_erased(self.solved(Linalg::SolveTriangular, other, dims, options))
    }

    fn solved<E: Dims, R: DimOf<E>, C: OneDim>(
        &self,
        op: Linalg,
        other: &Tensor<E, T>,
        dims: (R, C),
        options: MatrixOptions,
    ) -> Result<Erased>
    where
        (R, C): AxesOf<D>,
    {
        let right = (other.erased(), position::<R, E>());
        linalg::solve(op, self.erased(), places(dims, self), right, options)
    }
}

/// Where rows and columns stand.
fn places<R: OneDim, C: OneDim, D: Dims, T: Solvable>(
    _dims: (R, C),
    _of: &Tensor<D, T>,
) -> &'static [usize]
where
    (R, C): AxesOf<D>,
{
    positions::<(R, C), D>()
}

/// # Numbers of a matrix
impl<D: Dims, T: Solvable> Tensor<D, T> {
    /// The determinant of square matrices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, Row, Col }
    /// let a = tensor!([[[2., 0.], [1., 4.]]]; N, Row, Col);
    /// let det: Tensor<(N,)> = a.det((Row, Col));
    /// assert_eq!(det.to_vec(), [8.0]);
    /// ```
    ///
    /// # Errors
    /// When the matrices are not square.
    #[twin]
    pub fn try_det<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
    ) -> Result<Tensor<Without<D, (R, C)>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Without<D, (R, C)>>::STATIC);
        let made = linalg::matrices(Linalg::Det, self.erased(), at, [out], |x, dims| {
            Ok([x.det(dims)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// The sign of the determinant, and the logarithm of its magnitude, which neither overflows nor
    /// vanishes.
    ///
    /// # Errors
    /// As [`det`](Self::det).
    #[twin]
    pub fn try_slogdet<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
    ) -> Result<Two<Without<D, (R, C)>, T, Without<D, (R, C)>, T::Real>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Without<D, (R, C)>>::STATIC);
        let made = linalg::matrices(Linalg::Slogdet, self.erased(), at, [out; 2], |x, dims| {
            Ok(x.slogdet(dims)?.into())
        });
        let [sign, log] = made?;
        Ok((Tensor::from_erased(sign), Tensor::from_erased(log)))
    }

    /// The rank: how many singular values are no zeros.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[1., 2.], [2., 4.], [0., 0.]]; Row, Col);
    /// assert_eq!(a.matrix_rank((Row, Col)).item(), 1);
    /// ```
    ///
    /// # Errors
    /// When an element is NaN or infinite.
    #[twin(with = ", where singular values up to a tolerance count as zero.")]
    pub fn try_matrix_rank_with<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
        tolerance: Tolerance,
    ) -> Result<Tensor<Without<D, (R, C)>, i64>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Without<D, (R, C)>>::STATIC);
        let made = linalg::matrices(Linalg::MatrixRank, self.erased(), at, [out], |x, dims| {
            Ok([x.matrix_rank_with(dims, tolerance)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// A norm of matrices.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// use nomina::MatrixNorm;
    /// dims! { Row, Col }
    /// let a = tensor!([[3., 0.], [0., -4.]]; Row, Col);
    /// assert_eq!(a.matrix_norm((Row, Col), MatrixNorm::Fro).item(), 5.0);
    /// assert_eq!(a.matrix_norm((Row, Col), MatrixNorm::Nuc).item(), 7.0);
    /// ```
    ///
    /// # Errors
    /// For a norm by singular values when an element is NaN or infinite; for a greatest value of no
    /// elements.
    #[twin]
    pub fn try_matrix_norm<R: OneDim, C: OneDim>(
        &self,
        dims: (R, C),
        ord: MatrixNorm,
    ) -> Result<Tensor<Without<D, (R, C)>, T::Real>>
    where
        (R, C): AxesOf<D>,
    {
        let (at, out) = (places(dims, self), <Without<D, (R, C)>>::STATIC);
        let made = linalg::matrices(Linalg::MatrixNorm, self.erased(), at, [out], |x, dims| {
            Ok([x.matrix_norm(dims, ord)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }
}

/// # Factors of a matrix
impl<D: Dims, T: Solvable> Tensor<D, T> {
    /// The lower triangular `L` of positive definite matrices `A = L Lᴴ`. The upper triangle of `A` is not
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
    /// When a matrix is not square or not positive definite.
    #[twin]
    pub fn try_cholesky<R: OneDim, C: OneDim>(&self, dims: (R, C)) -> Result<Self>
    where
        (R, C): AxesOf<D>,
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

    /// `A = Q R` with orthonormal columns and an upper triangle; `rank` is the dim between both.
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
    /// When a new dim has a constant size that is not the rank.
    #[twin]
    pub fn try_qr<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<Two<LeftFactor<D, R, C, K>, T, RightFactor<D, R, C, K>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let out = [
            <LeftFactor<D, R, C, K>>::STATIC,
            <RightFactor<D, R, C, K>>::STATIC,
        ];
        let at = places(dims, self);
        let [q, r] = linalg::matrices(Linalg::Qr, self.erased(), at, out, |x, dims| {
            Ok(x.qr(dims, K::NAME)?.into())
        })?;
        Ok((Tensor::from_erased(q), Tensor::from_erased(r)))
    }

    /// `A = U S Vᴴ` with orthonormal columns, singular values from the greatest on, and orthonormal rows;
    /// `rank` is the dim between the factors.
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
    /// When an element is NaN or infinite, or the new dim has a constant size that is not the rank.
    #[twin]
    pub fn try_svd<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<(
        Tensor<LeftFactor<D, R, C, K>, T>,
        Tensor<Spectrum<D, R, C, K>, T::Real>,
        Tensor<RightFactor<D, R, C, K>, T>,
    )>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let out = [
            <LeftFactor<D, R, C, K>>::STATIC,
            <Spectrum<D, R, C, K>>::STATIC,
            <RightFactor<D, R, C, K>>::STATIC,
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

    /// The singular values, from the greatest on, along the new dim `rank`.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    #[twin]
    pub fn try_svdvals<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<Tensor<Spectrum<D, R, C, K>, T::Real>>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let (at, out) = (places(dims, self), <Spectrum<D, R, C, K>>::STATIC);
        let made = linalg::matrices(Linalg::Svdvals, self.erased(), at, [out], |x, dims| {
            Ok([x.svdvals(dims, K::NAME)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// The eigenvalues of symmetric or Hermitian matrices, from the smallest on, along the new dim `rank`,
    /// and their eigenvectors, which are columns of the rows' dim. The upper triangle is not read.
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
    /// When the matrices are not square, an element is NaN or infinite, or the new dim has a constant size
    /// that is not theirs.
    #[twin]
    pub fn try_eigh<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<Two<Spectrum<D, R, C, K>, T::Real, LeftFactor<D, R, C, K>, T>>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let out = [
            <Spectrum<D, R, C, K>>::STATIC,
            <LeftFactor<D, R, C, K>>::STATIC,
        ];
        let at = places(dims, self);
        let [values, vectors] =
            linalg::matrices(Linalg::Eigh, self.erased(), at, out, |x, dims| {
                Ok(x.eigh(dims, K::NAME)?.into())
            })?;
        Ok((Tensor::from_erased(values), Tensor::from_erased(vectors)))
    }

    /// The eigenvalues alone of [`eigh`](Self::eigh).
    ///
    /// # Errors
    /// As [`eigh`](Self::eigh).
    #[twin]
    pub fn try_eigvalsh<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<Tensor<Spectrum<D, R, C, K>, T::Real>>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let (at, out) = (places(dims, self), <Spectrum<D, R, C, K>>::STATIC);
        let made = linalg::matrices(Linalg::Eigvalsh, self.erased(), at, [out], |x, dims| {
            Ok([x.eigvalsh(dims, K::NAME)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// The eigenvalues of square matrices along the new dim `rank`, in no order, and their eigenvectors of
    /// norm 1, which are columns of the rows' dim. Both are complex.
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
    /// As [`eigh`](Self::eigh).
    #[twin]
    pub fn try_eig<R: OneDim, C: OneDim, K: OneDim + Append<D>>(
        &self,
        dims: (R, C),
        rank: K,
    ) -> Result<Two<Spectrum<D, R, C, K>, T::Complex, LeftFactor<D, R, C, K>, T::Complex>>
    where
        (R, C): AxesOf<D>,
    {
        let _ = rank;
        let out = [
            <Spectrum<D, R, C, K>>::STATIC,
            <LeftFactor<D, R, C, K>>::STATIC,
        ];
        let at = places(dims, self);
        let [values, vectors] =
            linalg::matrices(Linalg::Eig, self.erased(), at, out, |x, dims| {
                Ok(x.eig(dims, K::NAME)?.into())
            })?;
        Ok((Tensor::from_erased(values), Tensor::from_erased(vectors)))
    }
}

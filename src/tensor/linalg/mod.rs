//! Linear algebra. Rows and columns are given by name; all other dims are batch dims. With feature `linalg`.
//!
//! [`Tensor::inv`], [`Tensor::pinv`], [`Tensor::solve`], [`Tensor::lstsq`], [`Tensor::solve_triangular`],
//! [`Tensor::det`], [`Tensor::slogdet`], [`Tensor::matrix_rank`], [`Tensor::matrix_norm`].

pub mod factor;

use nomina_core::dims::{
    Dims, Inverse, MatrixOf, RightSideOf, RowsAndColumns, Solved, Without, position, positions,
};
use nomina_core::op::class::Linalg;
use nomina_core::{Element, Result, Solvable};
use nomina_macros::twin;
use nomina_runtime::call::MatrixOptions;
use nomina_runtime::tensor::{MatrixNorm, Tolerance, TriangularOptions};

use super::Tensor;
use crate::erased::{Erased, Known, linalg};

/// Two tensors, with their dtypes.
type Two<D, T, E, U> = (Tensor<D, T>, Tensor<E, U>);

/// # Systems of equations
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the inverse of square matrices, given by their rows and columns. It maps rows back to columns, so their
    /// names are swapped.
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
    /// If the matrices are not square, or one of them is singular.
    #[twin]
    pub fn try_inv<M: MatrixOf<D>>(&self, dims: M) -> Result<Tensor<Inverse<D, M>, T>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Inverse<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::Inv, self.erased(), at, [out], |x, dims| {
            Ok([x.inv(dims)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes the pseudoinverse of matrices of any sizes, with rows and columns swapped.
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
    /// If an element is NaN or infinite.
    #[twin(with = "but counts singular values up to a tolerance as zero.")]
    pub fn try_pinv_with<M: MatrixOf<D>>(
        &self,
        dims: M,
        tolerance: Tolerance,
    ) -> Result<Tensor<Inverse<D, M>, T>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Inverse<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::Pinv, self.erased(), at, [out], |x, dims| {
            Ok([x.pinv_with(dims, tolerance)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Solves `A x = b` for square matrices. `b` has the dim of the rows, `x` that of the columns in its place. Other
    /// common dims are batch dims; those of only the matrices come first.
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
    /// If sizes do not match, or a matrix is not square or singular.
    #[twin]
    pub fn try_solve<E: RightSideOf<D, M>, M: MatrixOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: M,
    ) -> Result<Tensor<Solved<D, E, M>, T>>
    where
        T: Solvable,
    {
        Tensor::try_from_erased(self.solved(Linalg::Solve, other, dims, MatrixOptions::default()))
    }

    /// Computes the `x` of least norm that brings `A x` closest to `b`, for matrices of any sizes, with the dims of
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
    /// If sizes do not match, or an element is NaN or infinite.
    #[twin(with = "but counts singular values up to a tolerance as zero.")]
    pub fn try_lstsq_with<E: RightSideOf<D, M>, M: MatrixOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: M,
        tolerance: Tolerance,
    ) -> Result<Tensor<Solved<D, E, M>, T>>
    where
        T: Solvable,
    {
        Tensor::try_from_erased(self.solved(Linalg::Lstsq, other, dims, tolerance.into()))
    }

    /// Like [`solve`](Self::solve), but for triangular matrices, upper or lower. The other triangle is not read; a zero
    /// on the diagonal gives infinities.
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
    /// If sizes do not match, or the matrices are not square.
    #[twin(with = "but takes the diagonal as ones if the options say so.")]
    pub fn try_solve_triangular_with<E: RightSideOf<D, M>, M: MatrixOf<D>>(
        &self,
        other: &Tensor<E, T>,
        dims: M,
        upper: bool,
        options: TriangularOptions,
    ) -> Result<Tensor<Solved<D, E, M>, T>>
    where
        T: Solvable,
    {
        let options = MatrixOptions {
            upper,
            unitriangular: options.unitriangular,
            ..MatrixOptions::default()
        };
        Tensor::try_from_erased(self.solved(Linalg::SolveTriangular, other, dims, options))
    }

    fn solved<E: Dims, M: MatrixOf<D>>(
        &self,
        op: Linalg,
        other: &Tensor<E, T>,
        dims: M,
        options: MatrixOptions,
    ) -> Result<Erased> {
        let right = (other.erased(), position::<M::Row, E>());
        linalg::solve(op, self.erased(), places(dims, self), right, options)
    }
}

/// Returns the positions of rows and columns.
fn places<M: RowsAndColumns, D: Dims, T: Element>(
    _dims: M,
    _of: &Tensor<D, T>,
) -> &'static [usize] {
    positions::<M, D>()
}

/// # Numbers of a matrix
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the determinant of square matrices.
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
    /// If the matrices are not square.
    #[twin]
    pub fn try_det<M: MatrixOf<D>>(&self, dims: M) -> Result<Tensor<Without<D, M>, T>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Without<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::Det, self.erased(), at, [out], |x, dims| {
            Ok([x.det(dims)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes the sign of the determinant and the logarithm of its magnitude, without overflow or underflow.
    ///
    /// # Errors
    /// If the matrices are not square.
    #[twin]
    pub fn try_slogdet<M: MatrixOf<D>>(
        &self,
        dims: M,
    ) -> Result<Two<Without<D, M>, T, Without<D, M>, T::Real>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Without<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::Slogdet, self.erased(), at, [out; 2], |x, dims| {
            Ok(x.slogdet(dims)?.into())
        });
        let [sign, log] = made?;
        Ok((Tensor::from_erased(sign), Tensor::from_erased(log)))
    }

    /// Computes the rank: the number of singular values that are not zero.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { Row, Col }
    /// let a = tensor!([[1., 2.], [2., 4.], [0., 0.]]; Row, Col);
    /// assert_eq!(a.matrix_rank((Row, Col)).item(), 1);
    /// ```
    ///
    /// # Errors
    /// If an element is NaN or infinite.
    #[twin(with = "but counts singular values up to a tolerance as zero.")]
    pub fn try_matrix_rank_with<M: MatrixOf<D>>(
        &self,
        dims: M,
        tolerance: Tolerance,
    ) -> Result<Tensor<Without<D, M>, i64>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Without<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::MatrixRank, self.erased(), at, [out], |x, dims| {
            Ok([x.matrix_rank_with(dims, tolerance)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }

    /// Computes a norm of matrices.
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
    /// If an element is NaN or infinite, for a norm by singular values; if there are no elements, for a maximum.
    #[twin]
    pub fn try_matrix_norm<M: MatrixOf<D>>(
        &self,
        dims: M,
        ord: MatrixNorm,
    ) -> Result<Tensor<Without<D, M>, T::Real>>
    where
        T: Solvable,
    {
        let (at, out) = (places(dims, self), <Without<D, M>>::STATIC);
        let made = linalg::matrices(Linalg::MatrixNorm, self.erased(), at, [out], |x, dims| {
            Ok([x.matrix_norm(dims, ord)?])
        });
        Tensor::try_from_erased(made.map(|[made]| made))
    }
}

//! Linear algebra. Rows and columns are given by name; all other dims are batch dims.

use nomina_core::op::class::Linalg;
use nomina_core::rule::{self, DimArg};
use nomina_core::{Error, Names, Result};
use nomina_macros::forms;

use super::{DynTensor, about};
use crate::call::{self, MatrixNorm, MatrixOptions};
use crate::raw::Raw;

/// The singular values that count as zero: `pinv_with`, `lstsq_with`, `matrix_rank_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// The absolute tolerance.
    pub atol: f64,
    /// The tolerance relative to the greatest singular value; by default the longer side of the matrix times the
    /// precision of its dtype, or 0 if `atol` is given.
    pub rtol: Option<f64>,
}

impl From<Tolerance> for MatrixOptions {
    fn from(Tolerance { atol, rtol }: Tolerance) -> Self {
        Self {
            atol,
            rtol,
            ..Self::default()
        }
    }
}

/// Options of `solve_triangular_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TriangularOptions {
    /// Whether the diagonal is taken as ones and not read.
    pub unitriangular: bool,
}

/// Maps the names of the operand and the position of the matrices to the names of the results.
type NamesRule<'a, const N: usize> = dyn Fn(&Names, [usize; 2]) -> Result<[Names; N]> + 'a;

impl DynTensor {
    fn matrices<const N: usize>(
        &self,
        op: Linalg,
        dims: &DimArg<'_>,
        options: MatrixOptions,
        names: &NamesRule<'_, N>,
    ) -> Result<[Self; N]> {
        let compute = || {
            let at = rule::matrix(op.op().name(), &self.names, dims)?;
            let names = names(&self.names, at)?;
            let made = call::matrices(op, &self.raw, at, options)?;
            let made: [Raw; N] = made
                .try_into()
                .unwrap_or_else(|_| unreachable!("as many results as names"));
            let mut names = names.into_iter();
            Ok(made.map(|raw| Self::new(raw, names.next().unwrap_or_default())))
        };
        compute().map_err(|error: Error| about(error, &[self]))
    }

    /// Computes an operator that swaps the names of rows and columns.
    fn inverted(&self, op: Linalg, dims: &DimArg<'_>, options: MatrixOptions) -> Result<Self> {
        let swapped = |names: &Names, [rows, columns]: [usize; 2]| {
            let (a, b) = ((rows as i64).into(), (columns as i64).into());
            let order = rule::transpose(op.op().name(), names, a, b)?;
            Ok([rule::kept(names, &order)])
        };
        let [made] = self.matrices(op, dims, options, &swapped)?;
        Ok(made)
    }

    /// Computes an operator whose results have no rows and columns.
    fn numbers<const N: usize>(
        &self,
        op: Linalg,
        dims: &DimArg<'_>,
        options: MatrixOptions,
    ) -> Result<[Self; N]> {
        let left =
            |names: &Names, at: [usize; 2]| Ok(std::array::from_fn(|_| rule::remove(names, &at)));
        self.matrices(op, dims, options, &left)
    }

    /// Computes an operator whose results are among left factor, spectrum and right factor.
    fn factors<const N: usize>(
        &self,
        op: Linalg,
        dims: &DimArg<'_>,
        rank: Option<&str>,
        which: [usize; N],
    ) -> Result<[Self; N]> {
        let factors = |names: &Names, at: [usize; 2]| {
            let all = rule::factors(op.op().name(), names, at, rank)?;
            Ok(which.map(|which| all[which].clone()))
        };
        self.matrices(op, dims, MatrixOptions::default(), &factors)
    }

    fn solved(
        &self,
        op: Linalg,
        b: &Self,
        dims: &DimArg<'_>,
        options: MatrixOptions,
    ) -> Result<Self> {
        let compute = || {
            let plan = rule::solve(op.op().name(), &self.names, &b.names, dims)?;
            let right = (&b.raw, plan.rows);
            let raw = call::solve(op, &self.raw, plan.matrix, right, &plan.batch, options)?;
            Ok(Self::new(raw, plan.names))
        };
        compute().map_err(|error: Error| about(error, &[self, b]))
    }

    /// Computes the inverse of square matrices, given by their rows and columns. It maps rows back to columns, so their
    /// names are swapped.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let a = DynTensor::from_vec(vec![2.0f32, 0.0, 1.0, 4.0], &[2, 2], ["Row", "Col"])?;
    /// let inverse = a.inv(["Row", "Col"])?;
    /// assert_eq!(inverse.names().to_string(), "(Col, Row)");
    /// assert_eq!(inverse.to_vec::<f32>()?, [0.5, 0.0, -0.125, 0.25]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist, the matrices are not square, or one of them is singular.
    pub fn inv<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        self.inverted(Linalg::Inv, &dims.into(), MatrixOptions::default())
    }

    /// Computes the pseudoinverse of matrices of any sizes, with rows and columns swapped.
    ///
    /// # Errors
    /// If a dim does not exist, or an element is NaN or infinite.
    #[forms(with = "but counts singular values up to a tolerance as zero.")]
    pub fn pinv_with<'a>(&self, dims: impl Into<DimArg<'a>>, tolerance: Tolerance) -> Result<Self> {
        self.inverted(Linalg::Pinv, &dims.into(), tolerance.into())
    }

    /// Solves `A x = b` for square matrices. `b` has the dim of the rows, `x` that of the columns in its place; other
    /// common dims are batch dims.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let a = DynTensor::from_vec(vec![2.0f32, 0.0, 1.0, 4.0], &[2, 2], ["Row", "Col"])?;
    /// let b = DynTensor::from_vec(vec![2.0f32, 9.0], &[2], ["Row"])?;
    /// let x = a.solve(&b, ["Row", "Col"])?;
    /// assert_eq!(x.names().to_string(), "(Col,)");
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist or has no name, `b` has the columns' dim, sizes or dtypes differ, or a matrix is not
    /// square or singular.
    pub fn solve<'a>(&self, other: &Self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        self.solved(Linalg::Solve, other, &dims.into(), MatrixOptions::default())
    }

    /// Computes the `x` of least norm that brings `A x` closest to `b`, with the dims of [`DynTensor::solve`].
    ///
    /// # Errors
    /// Like [`DynTensor::solve`], but for matrices of any sizes; also if an element is NaN or infinite.
    #[forms(with = "but counts singular values up to a tolerance as zero.")]
    pub fn lstsq_with<'a>(
        &self,
        other: &Self,
        dims: impl Into<DimArg<'a>>,
        tolerance: Tolerance,
    ) -> Result<Self> {
        self.solved(Linalg::Lstsq, other, &dims.into(), tolerance.into())
    }

    /// Like [`DynTensor::solve`], but for triangular matrices, upper or lower, whose other triangle is not read. A zero
    /// on the diagonal gives infinities.
    ///
    /// # Errors
    /// Like [`DynTensor::solve`], except for singular matrices.
    #[forms(with = "but takes the diagonal as ones if the options say so.")]
    pub fn solve_triangular_with<'a>(
        &self,
        other: &Self,
        dims: impl Into<DimArg<'a>>,
        upper: bool,
        options: TriangularOptions,
    ) -> Result<Self> {
        let options = MatrixOptions {
            upper,
            unitriangular: options.unitriangular,
            ..MatrixOptions::default()
        };
        self.solved(Linalg::SolveTriangular, other, &dims.into(), options)
    }

    /// Computes the determinant of square matrices.
    ///
    /// # Errors
    /// If a dim does not exist, or the matrices are not square.
    pub fn det<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let [det] = self.numbers(Linalg::Det, &dims.into(), MatrixOptions::default())?;
        Ok(det)
    }

    /// Computes the sign of the determinant and the logarithm of its magnitude, without overflow or underflow.
    ///
    /// # Errors
    /// Like [`DynTensor::det`].
    pub fn slogdet<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<(Self, Self)> {
        let both = self.numbers(Linalg::Slogdet, &dims.into(), MatrixOptions::default())?;
        Ok(both.into())
    }

    /// Computes the rank: the number of singular values that are not zero.
    ///
    /// # Errors
    /// If a dim does not exist, or an element is NaN or infinite.
    #[forms(with = "but counts singular values up to a tolerance as zero.")]
    pub fn matrix_rank_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        tolerance: Tolerance,
    ) -> Result<Self> {
        let [rank] = self.numbers(Linalg::MatrixRank, &dims.into(), tolerance.into())?;
        Ok(rank)
    }

    /// Computes a norm of matrices.
    ///
    /// # Errors
    /// If a dim does not exist; if an element is NaN or infinite, for a norm by singular values; if there are no
    /// elements, for a maximum.
    pub fn matrix_norm<'a>(&self, dims: impl Into<DimArg<'a>>, ord: MatrixNorm) -> Result<Self> {
        let options = MatrixOptions {
            norm: ord,
            ..MatrixOptions::default()
        };
        let [norm] = self.numbers(Linalg::MatrixNorm, &dims.into(), options)?;
        Ok(norm)
    }

    /// Computes the lower triangular `L` of positive definite matrices `A = L Lᴴ`. The upper triangle of `A` is not
    /// read.
    ///
    /// # Errors
    /// If a dim does not exist, or a matrix is not square or not positive definite.
    pub fn cholesky<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let kept = |names: &Names, _: [usize; 2]| Ok([names.clone()]);
        let options = MatrixOptions::default();
        let [lower] = self.matrices(Linalg::Cholesky, &dims.into(), options, &kept)?;
        Ok(lower)
    }

    /// Computes `A = Q R` with orthonormal columns and an upper triangle; `rank` is the dim between both.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let a = DynTensor::ones(&[5, 3, 2], ["N", "Row", "Col"])?;
    /// let (q, r) = a.qr(["Row", "Col"], "Rank")?;
    /// assert_eq!(q.names().to_string(), "(N, Row, Rank)");
    /// assert_eq!(r.names().to_string(), "(N, Rank, Col)");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist, or `rank` does already.
    pub fn qr<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<(Self, Self)> {
        let both = self.factors(Linalg::Qr, &dims.into(), rank.into(), [0, 2])?;
        Ok(both.into())
    }

    /// Computes `A = U S Vᴴ` with orthonormal columns, descending singular values, and orthonormal rows; `rank` is the
    /// dim between the factors.
    ///
    /// # Errors
    /// Like [`DynTensor::qr`]; also if an element is NaN or infinite.
    pub fn svd<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<(Self, Self, Self)> {
        let all = self.factors(Linalg::Svd, &dims.into(), rank.into(), [0, 1, 2])?;
        Ok(all.into())
    }

    /// Computes the singular values in descending order, along the dim `rank`.
    ///
    /// # Errors
    /// Like [`DynTensor::svd`].
    pub fn svdvals<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let [values] = self.factors(Linalg::Svdvals, &dims.into(), rank.into(), [1])?;
        Ok(values)
    }

    /// Computes the eigenvalues of symmetric or Hermitian matrices in ascending order, along the dim `rank`, and their
    /// eigenvectors, which are columns along the dim of the rows. The upper triangle is not read.
    ///
    /// # Errors
    /// Like [`DynTensor::svd`]; also if the matrices are not square.
    pub fn eigh<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<(Self, Self)> {
        let both = self.factors(Linalg::Eigh, &dims.into(), rank.into(), [1, 0])?;
        Ok(both.into())
    }

    /// Computes only the eigenvalues of [`DynTensor::eigh`].
    ///
    /// # Errors
    /// Like [`DynTensor::eigh`].
    pub fn eigvalsh<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let [values] = self.factors(Linalg::Eigvalsh, &dims.into(), rank.into(), [1])?;
        Ok(values)
    }

    /// Computes the eigenvalues of square matrices along the dim `rank`, in no order, and their eigenvectors of norm 1,
    /// which are columns along the dim of the rows. Both are complex.
    ///
    /// # Errors
    /// Like [`DynTensor::eigh`].
    pub fn eig<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        rank: impl Into<Option<&'b str>>,
    ) -> Result<(Self, Self)> {
        let both = self.factors(Linalg::Eig, &dims.into(), rank.into(), [1, 0])?;
        Ok(both.into())
    }
}

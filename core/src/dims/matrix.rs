//! Matrices whose rows and columns are given by name, and their factorizations.
//!
//! All dims except rows and columns are batch dims, and keep their order. A new dim `K` between two factors must be
//! missing in `D`: `K:` [`Append`](super::Append)`<D>`.

use super::axes::{Axes, DimOf, EachIn, Replaced, Without};
use super::axis::OneDim;
use super::contract::FullyNamed;
use super::dims::{DimList, Dims};
use super::distinct::Distinct;
use super::insert::Appended;
use super::rename::Transposed;

/// Rows and columns as an argument: `(Row, Col)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pair of row and column dims",
    label = "expected two dims: `(Row, Col)`"
)]
pub trait RowsAndColumns: Axes {
    /// The rows' dim.
    type Row: OneDim;
    /// The columns' dim.
    type Col: OneDim;
}
#[diagnostic::do_not_recommend]
impl<R: OneDim, C: OneDim> RowsAndColumns for (R, C) {
    type Row = R;
    type Col = C;
}

/// Two dims of `D` that are the rows and columns of matrices. Write `M: MatrixOf<D>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pair of row and column dims",
    label = "expected two dims: `(Row, Col)`"
)]
pub trait MatrixOf<D>: RowsAndColumns<List: EachIn<D>> {}
impl<M: RowsAndColumns<List: EachIn<D>>, D> MatrixOf<D> for M {}

/// The dims of `a.inv(M)`: rows and columns are exchanged.
pub type Inverse<D, M> = Transposed<D, <M as RowsAndColumns>::Row, <M as RowsAndColumns>::Col>;

/// The dims of the left factor, `Q` or `U`: batch, rows, `K`.
pub type LeftFactor<D, M, K> = Appended<Appended<Without<D, M>, <M as RowsAndColumns>::Row>, K>;

/// The dims of the right factor, `R` or `Vᴴ`: batch, `K`, columns.
pub type RightFactor<D, M, K> = Appended<Appended<Without<D, M>, K>, <M as RowsAndColumns>::Col>;

/// The dims of singular values and eigenvalues: batch, `K`.
pub type Spectrum<D, M, K> = Appended<Without<D, M>, K>;

/// The dims of `a.solve(&b, M)`: the batch dims of `a` that `b` lacks, then those of `b` with the rows replaced by the
/// columns.
pub type Solved<D, E, M> =
    <Replaced<E, <M as RowsAndColumns>::Row, <M as RowsAndColumns>::Col> as DimList>::After<
        <Without<D, M> as DimList>::Minus<E>,
    >;

/// `a.solve(&b, M)` is defined for dims `D` and `Self`: `b` has the rows, every name is known, and none is repeated in
/// the result. Other dims that both have are batch dims.
#[diagnostic::on_unimplemented(
    message = "dims {Self} are not a right side for matrices of dims {D}",
    label = "expected dims with the rows, without the columns"
)]
pub trait RightSideOf<D, M>: Dims {}
impl<D, E, M> RightSideOf<D, M> for E
where
    D: Dims + FullyNamed,
    E: Dims + FullyNamed,
    M: RowsAndColumns<Row: DimOf<E>>,
    Solved<D, E, M>: Distinct,
{
}

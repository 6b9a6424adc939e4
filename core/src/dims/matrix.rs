//! Matrices whose rows and columns are said by name, and the factors that they fall into.
//!
//! `(R, C)`: [`AxesOf`](super::AxesOf) `D` says that rows and columns are two dims of `D`; all others are batch, and keep
//! their order. A new dim `K` between two factors is one that `D` lacks: `K:` [`Append`](super::Append)`<D>`.

use super::axis::OneDim;
use super::contract::FullyNamed;
use super::dims::{DimList, Dims};
use super::distinct::Distinct;
use super::insert::Appended;
use super::remove::{DimOf, Replaced, Without};

/// The dims of the left factor, `Q` or `U`: batch, rows, `K`.
pub type LeftFactor<D, R, C, K> = Appended<Appended<Without<D, (R, C)>, R>, K>;

/// The dims of the right factor, `R` or `Vᴴ`: batch, `K`, columns.
pub type RightFactor<D, R, C, K> = Appended<Appended<Without<D, (R, C)>, K>, C>;

/// The dims of singular values and eigenvalues: batch, `K`.
pub type Spectrum<D, R, C, K> = Appended<Without<D, (R, C)>, K>;

/// The dims of `a.solve(&b, (R, C))`: the batch dims of `a` that `b` lacks, then those of `b` with `C` in the
/// place of `R`.
pub type Solved<D, E, R, C> =
    <Replaced<E, R, C> as DimList>::After<<Without<D, (R, C)> as DimList>::Minus<E>>;

/// `a.solve(&b, (R, C))` of dims `D` and `Self` is defined: `b` has `R`, every name is known, and none
/// stands twice in the result. Dims that both have besides `R` are batch.
pub trait RightSideOf<D, R, C>: Dims {}
impl<D, E, R, C> RightSideOf<D, R, C> for E
where
    D: Dims + FullyNamed,
    E: Dims + FullyNamed,
    R: DimOf<E>,
    C: OneDim,
    Solved<D, E, R, C>: Distinct,
{
}

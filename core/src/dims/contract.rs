//! Products by name: `contract`.

use super::axis::OneDim;
use super::dims::Dims;
use super::distinct::AtMost8;
use super::id::IsTrue;
use super::last::LastDim;
use super::remove::{Has, NotBehindWild};

/// Rustc knows every name in the list.
#[diagnostic::on_unimplemented(
    message = "contract goes by name, and dims {Self} have an unknown one",
    label = "name the dims first: `x.refine_names(..)`"
)]
pub trait FullyNamed {}
#[diagnostic::do_not_recommend]
impl<D: Dims> FullyNamed for D where D::AllNamed: IsTrue {}

/// The dims of `x.contract(&w, X)`: those of `x` without `X`, then those of `w` that `x` lacks.
pub type Contracted<D, E, X> = <X as LastDim>::Contracted<D, E>;

/// `x.contract(&w, X)` of dims `D` and `E` is defined: both have `X`, and every name is known.
/// Write `X: OneDim + Contract<D, E>`.
#[diagnostic::on_unimplemented(
    message = "cannot contract dims {D} with dims {E} over `{Self}`",
    label = "both sides must have this dim"
)]
pub trait Contract<D, E> {}
impl<
    D: Dims + FullyNamed + NotBehindWild<X> + Has<X>,
    E: Dims + FullyNamed + NotBehindWild<X> + Has<X>,
    X: OneDim,
> Contract<D, E> for X
where
    Contracted<D, E, X>: AtMost8,
{
}

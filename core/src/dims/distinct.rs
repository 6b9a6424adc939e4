//! Checks that no name is repeated and no list is too long.

use super::apart::{Apart, Items, NoneTwice};
use super::axis::{Axis, Named, NoDim, Unnamed, Wild};
use super::dims::{DimList, Dims};
use super::id::{False, True};
use super::verdict::NamesOf;

/// No name is repeated in the list, and it has at most 8 dims. [`Wild`] may be repeated.
///
/// Checked where names enter or meet: factories, `typed`, rename, unflatten, matmul, stack. As a bound on a list with
/// generic dims, `(N, B): Distinct`, it also tells rustc the place of each dim, so that `x.sum(B::default())` has a
/// known result.
#[diagnostic::on_unimplemented(
    message = "rustc cannot tell the generic dims {Self} apart",
    label = "write the bound `{Self}: Distinct`"
)]
pub trait Distinct: Apart
where
    NamesOf<Self>: Items,
{
}
impl<D: Dims + AtMost8> Distinct for D
where
    NamesOf<D>: NoneTwice<D::Repeated, D>,
    D: Apart,
{
}

/// `X` is [`NoDim`]: no dim is repeated in `D`.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` appears more than once in dims {D}",
    label = "duplicate dim name"
)]
pub trait StandsOnce<X, D> {}
#[diagnostic::do_not_recommend]
impl<D> StandsOnce<NoDim, D> for NamesOf<D> {}
// A second impl, so that rustc prints the message above instead of unifying with a single impl.
#[diagnostic::do_not_recommend]
impl<D> StandsOnce<Wild, D> for NamesOf<D> {}

/// The list has at most 8 dims.
#[diagnostic::on_unimplemented(
    message = "the result has more than 8 dims",
    label = "too many dims: `DynTensor` has up to 64"
)]
pub trait AtMost8: Dims {}

/// A result that is computed only on demand.
pub trait Deferred {
    /// The dims of the result.
    type Dims: Dims;
}

/// The result has at most 8 dims: either proved from the operands (`True`), or checked on the
/// result.
pub trait AtMost8Unless<Proved> {}
impl<R> AtMost8Unless<True> for R {}
impl<R: Deferred<Dims: AtMost8>> AtMost8Unless<False> for R {}

/// The list has at most 8 dims: either proved from the operands (`True`), or checked on the list.
#[diagnostic::on_unimplemented(
    message = "the result has more than 8 dims",
    label = "too many dims: `DynTensor` has up to 64"
)]
pub trait ShortUnless<Proved> {}
#[diagnostic::do_not_recommend]
impl<D> ShortUnless<True> for D {}
#[diagnostic::do_not_recommend]
impl<D: AtMost8> ShortUnless<False> for D {}

/// No name is repeated in the list: either proved from the operands (`True`), or checked on the
/// list.
pub trait DistinctUnless<Proved> {}
impl<D> DistinctUnless<True> for D {}
// The bounds of `Distinct` rather than `Distinct`, which makes the message one line shorter.
impl<D: Dims + AtMost8> DistinctUnless<False> for D where NamesOf<D>: StandsOnce<D::Repeated, D> {}

/// New dims `T` are added to the dims `Rest`: none of `T` is in `Rest`, and none is repeated in
/// `T`. The result is `Result`.
pub trait Fresh<Rest, Result> {}
impl<T: Dims, Rest: Dims, Result: Dims> Fresh<Rest, Result> for T where
    NamesOf<Result>: StandsOnce<T::FirstIn<Rest>, Result> + StandsOnce<T::Repeated, Result>
{
}

/// One new dim `X` is added to the dims `Rest`, which do not have it. The result is `Result`.
pub trait FreshDim<Rest, Result> {}
impl<X: Axis, Rest: Dims, Result: Dims> FreshDim<Rest, Result> for X
where
    NamesOf<Result>: StandsOnce<<(X,) as DimList>::FirstIn<Rest>, Result>,
    NamesOf<Rest>: ToldNew<(X,), Result>,
{
}

/// Rustc knows whether dims `T` are new among others. Implies the checks of [`Fresh`], so that its message replaces
/// theirs.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "rustc cannot tell whether the names of generic dims {Result} differ",
    label = "write the bound that the method has, shown below, or `#[relations]` above the function"
)]
pub trait ToldNew<T, Result> {}
#[diagnostic::do_not_recommend]
impl<T: Dims, Rest: Dims, Result> ToldNew<T, Result> for NamesOf<Rest> where
    NamesOf<Result>: ToldOnce<<T::FirstIn<Rest> as Axis>::Kind, T::FirstIn<Rest>, Result>
        + ToldOnce<<T::Repeated as Axis>::Kind, T::Repeated, Result>
{
}

/// Rustc knows `X`. Implies [`StandsOnce`].
#[doc(hidden)]
pub trait ToldOnce<Kind, X, D>: StandsOnce<X, D> {}
#[diagnostic::do_not_recommend]
impl<X, D> ToldOnce<Named, X, D> for NamesOf<D> where Self: StandsOnce<X, D> {}
#[diagnostic::do_not_recommend]
impl<X, D> ToldOnce<Unnamed, X, D> for NamesOf<D> where Self: StandsOnce<X, D> {}

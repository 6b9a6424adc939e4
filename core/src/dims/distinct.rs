//! Checks that no name is repeated and no list is too long.

use super::axis::{Axis, NoDim, Wild};
use super::dims::Dims;
use super::id::{False, True};
use super::verdict::NamesOf;

/// No name is repeated in the list, and it has at most 8 dims. [`Wild`] may be repeated.
///
/// Checked where names enter or meet: factories, `typed`, rename, unflatten, matmul, stack.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dims",
    label = "expected a tuple of at most 8 dims"
)]
pub trait Distinct {}
impl<D: Dims + AtMost8> Distinct for D where NamesOf<D>: StandsOnce<D::Repeated, D> {}

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

/// No name is repeated in the list: either proved from the operands (`True`), or checked on the
/// list.
pub trait DistinctUnless<Proved> {}
impl<D> DistinctUnless<True> for D {}
// The bounds of `Distinct` rather than `Distinct`, which makes the message one line shorter.
impl<D: Dims + AtMost8> DistinctUnless<False> for D where NamesOf<D>: StandsOnce<D::Repeated, D> {}

/// New dims `T` are added to the dims `Rest`: none of `T` is in `Rest`, and none is repeated in
/// `T`. The result is `Result`.
pub trait Fresh<Rest, Result> {}
impl<T: Dims, Rest: Dims, Result: AtMost8> Fresh<Rest, Result> for T where
    NamesOf<Result>: StandsOnce<T::FirstIn<Rest>, Result> + StandsOnce<T::Repeated, Result>
{
}

/// One new dim `X` is added to the dims `Rest`, which do not have it. The result is `Result`.
pub trait FreshDim<Rest, Result> {}
impl<X: Axis, Rest: Dims, Result: AtMost8> FreshDim<Rest, Result> for X where
    NamesOf<Result>: StandsOnce<<Rest::Find<X> as super::place::Place>::Axis<X, NoDim>, Result>
{
}

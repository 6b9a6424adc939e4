//! Reordering by name: `align_to`, `align_as`, `permute`.

use core::marker::PhantomData;
use core::ops::RangeFull;

use super::axes::Has;
use super::axis::{Axis, Dim, Wild};
use super::dims::{DimList, Dims, MoreThan8Dims};
use super::distinct::{AtMost8Unless, Deferred, Distinct, DistinctUnless};
use super::verdict::NamesOf;

/// `x.align_as(&y)` is defined for `x` of dims `Self` and `y` of dims `T`: every dim of `Self` is
/// in `T`. Dims that only `T` has become size 1.
#[diagnostic::on_unimplemented(
    message = "cannot align dims {Self} to dims {T}",
    label = "cannot align dims {Self} to dims {T}"
)]
pub trait AlignInto<T>: EachPlaced<T> {}
impl<S: Dims + EachPlaced<T>, T> AlignInto<T> for S {}

/// The dims of `y` in `x.align_as(&y)`: `S: AlignInto<Self>`, as a bound on the list that rustc
/// infers last.
pub trait AlignTarget<S>: Dims {}
impl<T: Dims, S: EachPlaced<T>> AlignTarget<S> for T {}

/// Like [`AlignInto`], but implemented rank by rank, so that a list of unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "cannot align dims {Self} to dims {T}",
    label = "cannot align dims {Self} to dims {T}"
)]
pub trait EachPlaced<T> {}

/// Dim `X` of dims `S` is in the list `T` too.
#[diagnostic::on_unimplemented(
    message = "dim `{X}` of dims {S} is not in dims {T}",
    label = "cannot align dims {S} to dims {T}",
    note = "list every dim; in `align_to`, `..` means the others; `squeeze` drops a dim of size 1"
)]
pub trait HasPlace<X, S, T> {}
#[diagnostic::do_not_recommend]
impl<T: Has<X>, X, S> HasPlace<X, S, T> for NamesOf<T> {}

/// An order of dims: a tuple of dims with at most one `..`, which is replaced by the dims not
/// listed, in their order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an order of dims",
    label = "expected a tuple of dims, with `..` for the rest"
)]
pub trait OrderSpec {
    /// The parsed order.
    type Read: OrderState;
}

// The empty order, for zero-dim tensors.
#[diagnostic::do_not_recommend]
impl OrderSpec for () {
    type Read = Exact<()>;
}

/// `x.align_to(O)` is defined for dims `D`: write `O: OrderSpec + Order<D>`.
pub trait Order<D> {}
impl<O: OrderSpec, D: OrderedBy<O>> Order<D> for O {}

/// Like [`Order`], but as a bound on the list and implemented rank by rank, so that a list of
/// unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "cannot align dims {Self} to the order {O}",
    label = "cannot align dims {Self}"
)]
pub trait OrderedBy<O> {}

macro_rules! ordered {
    ($($a:ident)*) => {
        impl<$($a: Axis,)* O: OrderSpec<Read: OrderOf<Self>>> OrderedBy<O> for ($($a,)*) {}
    };
}
each_rank!(ordered);
impl<O> OrderedBy<O> for MoreThan8Dims {}

/// The dims of `x.align_to(O)`.
pub type Aligned<D, O> = <<O as OrderSpec>::Read as OrderState>::Aligned<D>;

/// One item of an order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a dim nor `..`",
    label = "expected a dim or `..`"
)]
pub trait OrderItem {
    /// The order `S` followed by this item.
    type Next<S: OrderState>: OrderState;
}
#[diagnostic::do_not_recommend]
impl<X: Dim> OrderItem for X {
    type Next<S: OrderState> = S::Named<X>;
}
#[diagnostic::do_not_recommend]
impl OrderItem for Wild {
    type Next<S: OrderState> = S::Named<Wild>;
}
#[diagnostic::do_not_recommend]
impl OrderItem for RangeFull {
    type Next<S: OrderState> = S::Rest;
}

/// The state of parsing an order.
pub trait OrderState {
    /// The state after another dim.
    type Named<X: Axis>: OrderState;
    /// The state after `..`.
    type Rest: OrderState;
    /// The dims `D` in this order.
    type Aligned<D: Dims>: Dims;
    /// The dims `D` with the names of this list; `..` keeps dims unchanged.
    type Refined<D: Dims>: Dims;
}

/// An order that lists every dim.
#[derive(Clone, Copy, Debug)]
pub struct Exact<L>(PhantomData<L>);

/// An order with `..` between two lists.
#[derive(Clone, Copy, Debug)]
pub struct Around<P, Q>(PhantomData<(P, Q)>);

/// An order with `..` twice.
#[derive(Clone, Copy, Debug)]
pub struct TwoRests;

impl<L: Dims> OrderState for Exact<L> {
    type Named<X: Axis> = Exact<L::Push<X>>;
    type Rest = Around<L, ()>;
    type Aligned<D: Dims> = L;
    type Refined<D: Dims> = L;
}

impl<P: Dims, Q: Dims> OrderState for Around<P, Q> {
    type Named<X: Axis> = Around<P, Q::Push<X>>;
    type Rest = TwoRests;
    type Aligned<D: Dims> = Q::After<<Q::TakenFrom<P::TakenFrom<D>> as DimList>::After<P>>;
    type Refined<D: Dims> = Q::After<<P::SkipIn<Q::CutIn<D>> as DimList>::After<P>>;
}

impl OrderState for TwoRests {
    type Named<X: Axis> = TwoRests;
    type Rest = TwoRests;
    type Aligned<D: Dims> = D;
    type Refined<D: Dims> = D;
}

/// The dims of an alignment, computed when their number is checked.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct AlignOf<O, D>(PhantomData<(O, D)>);
impl<O: OrderState, D: Dims> Deferred for AlignOf<O, D> {
    type Dims = O::Aligned<D>;
}

/// The order has at most one `..`, names no dim twice, and lists each dim of `D` or has `..`.
pub trait OrderOf<D> {}
// No name is repeated in `D`. If every dim of `D` is in the order and the ranks are equal, no name
// is repeated in the order either.
impl<O: Dims, D: Dims + EachPlaced<O>> OrderOf<D> for Exact<O> where
    O: DistinctUnless<D::SameRank<O>>
{
}
// Likewise, no name of the order is among the remaining dims.
impl<P: Dims, Q: Dims, D: Dims> OrderOf<D> for Around<P, Q>
where
    Q::After<P>: Distinct,
    AlignOf<Self, D>: AtMost8Unless<<Q::After<P> as DimList>::Fits<D>>,
{
}
// Never holds; every state has an impl, so that rustc lists none of them.
impl<D> OrderOf<D> for TwoRests where NamesOf<D>: OneRest {}

/// A list of names has at most one `..`.
pub trait OneRestIn<D> {}
impl<L, D> OneRestIn<D> for Exact<L> {}
impl<P, Q, D> OneRestIn<D> for Around<P, Q> {}
impl<D> OneRestIn<D> for TwoRests where NamesOf<D>: OneRest {}

/// Never holds: carries the message for an order with two `..`.
#[diagnostic::on_unimplemented(
    message = "`..` is repeated in this order",
    label = "use `..` only once"
)]
pub trait OneRest {}

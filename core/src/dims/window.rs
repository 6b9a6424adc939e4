//! Dims that a window slides along: convolution, pooling, padding, resampling.

use super::axes::{Axes, AxesOf, EachIn, Has, HasOrLacks, NotBehindWild, Searched};
use super::axis::{Axis, Dim, OneDim};
use super::dims::{DimList, Dims, Rank};
use super::distinct::FreshDim;
use super::id::{Bool, IsTrue, Same};
use super::shape::Sizes;
use super::size::{Resizable, SizeOf};

/// One dim or a tuple of dims, `S` of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of {S} dims",
    label = "expected one dim for each of the {S} numbers"
)]
pub trait Count<const S: usize>: Axes {}
#[diagnostic::do_not_recommend]
impl<X: OneDim> Count<1> for X {}

/// The operation may change the size of each dim of the list.
#[diagnostic::on_unimplemented(
    message = "dims {Self} are not a list of dims whose sizes can change",
    label = "expected one dim, or a tuple of dims"
)]
pub trait EachResizable {}

macro_rules! counts {
    ($($count:literal $($x:ident)*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($x: Dim),*> Count<$count> for ($($x,)*) {}
        impl<$($x: Axis),*> EachResizable for ($($x,)*) where $(SizeOf<$x>: Resizable<$x>),* {}
    )*};
}
impl EachResizable for () {}
counts! {
    1 A;
    2 A B;
    3 A B C;
    4 A B C E;
    5 A B C E F;
    6 A B C E F G;
    7 A B C E F G H;
    8 A B C E F G H I;
}

/// `S` dims of `D` that a window slides along, one dim or a tuple, without constant sizes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of {S} dims",
    label = "expected one dim for each of the {S} numbers"
)]
pub trait SpatialOf<D, const S: usize>: AxesOf<D> {}
impl<A: AxesOf<D> + Count<S>, D, const S: usize> SpatialOf<D, S> for A where A::List: EachResizable {}

/// Dims of `D` with new sizes: `(H.of(4), W.of(8))`.
pub trait SizesOf<D>: Sizes {}
impl<Z: Sizes, D> SizesOf<D> for Z where Z::Dims: EachIn<D> + EachResizable {}

/// The output channels of a weight `E`: the first of its dims except the channel `X`.
pub type OutChannel<E, X> = <<E as DimList>::Remove<X> as DimList>::At0;

/// The kernel dims of a weight `E`.
pub type KernelOf<E, X> = <<E as DimList>::Remove<X> as DimList>::Tail;

/// The dims of a convolution of `D` with a weight `E` over the channel `X`, which is replaced by
/// the output channels.
///
/// ```
/// # use nomina_core::dims::*;
/// # struct Tensor<D>(core::marker::PhantomData<D>);
/// fn layer<D: Dims, E: WeightFor<D, C, (H, W), 2>, C: Dim, H: Dim, W: Dim>(
///     x: &Tensor<D>,
///     weight: &Tensor<E>,
/// ) -> Tensor<Convolved<D, E, C>> {
/// #   Tensor(core::marker::PhantomData)
/// # }
/// ```
pub type Convolved<D, E, X> = <D as DimList>::Splice<X, (OutChannel<E, X>,)>;

/// Rustc knows every name in the list. If it does not, rustc reports the same error as for a
/// channel that it cannot find, so there is a single error.
pub trait EveryName {}
#[diagnostic::do_not_recommend]
impl<D: Dims> EveryName for D where D::AllNamed: IsTrue {}

/// The dims of a weight for a convolution of `D` over the channel `X` along the `S` dims `A`: the
/// channel, output channels that `D` lacks, and the kernel dims in order.
// This message is for a weight that lacks dims; mismatches between its dims and `D` have their own
// messages.
#[diagnostic::on_unimplemented(
    message = "a weight with dims {Self} lacks the channel `{X}`, or has no kernel of {S} dims",
    label = "expected output channels, `{X}`, and {S} kernel dims"
)]
pub trait WeightFor<D, X, A, const S: usize>: Dims {}
impl<D, X, A, E, const S: usize> WeightFor<D, X, A, S> for E
where
    E: Dims + EveryName + WeightRank<S> + Searched<X> + HasOrLacks<X> + NotBehindWild<X> + Has<X>,
    D: Dims,
    X: OneDim,
    A: Axes,
    OutChannel<E, X>: FreshDim<D::Remove<X>, Convolved<D, E, X>>,
    KernelOf<E, X>: SlidesAlong<A::List, D>,
{
}

/// The rank of a weight with a kernel of `S` dims.
pub trait WeightRank<const S: usize> {}
#[diagnostic::do_not_recommend]
impl<E: Dims, const S: usize> WeightRank<S> for E
where
    Kernel<S>: KernelRank,
    <Kernel<S> as KernelRank>::Weight<E::Rank>: IsTrue,
{
}

/// A kernel of `S` dims.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<const S: usize>;

/// The rank of a weight with this kernel.
pub trait KernelRank {
    /// Whether `R` is the rank of the weight.
    type Weight<R: Rank>: Bool;
}
impl KernelRank for Kernel<1> {
    type Weight<R: Rank> = R::Is3;
}
impl KernelRank for Kernel<2> {
    type Weight<R: Rank> = R::Is4;
}
impl KernelRank for Kernel<3> {
    type Weight<R: Rank> = R::Is5;
}

/// Whether a kernel's dim `K` may slide along dim `L` of dims `D`: `K` is `L`, or a name that `D`
/// lacks.
type MaySlide<K, L, D> = <Same<K, L> as Bool>::Or<<<D as DimList>::Contains<K> as Bool>::Not>;

/// The kernel's dims slide along the dims `L` of `D` in order: each has the name of the dim it
/// slides along, or a name that `D` lacks.
#[diagnostic::on_unimplemented(
    message = "a kernel with dims {Self} does not slide along dims {L} of dims {D} in order",
    label = "the kernel's dims are in another order",
    note = "align the weight: output channels, the channel, then the kernel in the order of the input"
)]
pub trait SlidesAlong<L, D> {}
#[diagnostic::do_not_recommend]
impl<K: Dims, L: Dims, D: Dims> SlidesAlong<L, D> for K where
    <MaySlide<K::At0, L::At0, D> as Bool>::And<
        <MaySlide<K::At1, L::At1, D> as Bool>::And<MaySlide<K::At2, L::At2, D>>,
    >: IsTrue
{
}

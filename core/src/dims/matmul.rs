//! Products by position: `matmul`, `mm`, `mv`, `dot`, `bmm`, `addmm`.

use core::marker::PhantomData;

use super::axes::Has;
use super::axis::Axis;
#[cfg(nomina_lint)]
use super::axis::{AxisFn, Wild};
use super::broadcast::{BroadcastWith, Sum};
use super::dims::{DimList, Dims, MoreThan8Dims};
use super::distinct::Distinct;
#[cfg(nomina_lint)]
use super::id::{Bool, IsTrue};
#[cfg(not(nomina_lint))]
use super::size::CanEqual as Contractible;
use super::size::SizeOf;
use super::verdict::NamesOf;

/// The dims of `x.matmul(&y)`: the batch dims unified, then the second to last dim of `x` and the last of `y`. A 1-D
/// operand loses its dim.
pub type Product<D, E> = <<E as DimList>::Col as DimList>::After<
    <<D as DimList>::Row as DimList>::After<Sum<<D as DimList>::Batch, <E as DimList>::Batch>>,
>;

/// `x.matmul(&y)` is defined for dims `Self` and `E`: neither is zero-dim, the batch dims broadcast, the contracted
/// sizes can be equal, and no name is repeated in the result.
#[diagnostic::on_unimplemented(
    message = "cannot matmul dims {Self} with dims {E}",
    label = "no product of dims {Self} and dims {E}"
)]
pub trait MatMul<E>: TimesRight<E> {}
impl<D: Dims + TimesRight<E>, E: Dims> MatMul<E> for D {}

/// [`MatMul`], implemented rank by rank, so that a list of unknown rank causes a single error.
#[diagnostic::on_unimplemented(
    message = "cannot matmul dims {Self} with dims {E}",
    label = "no product of dims {Self} and dims {E}"
)]
pub trait TimesRight<E> {}

/// A zero-dim left operand with a right operand of dims `E`.
#[derive(Clone, Copy, Debug)]
pub struct ZeroDimBeside<E>(PhantomData<E>);

macro_rules! times {
    // A zero-dim tensor has no product.
    () => {
        impl<E: Dims> TimesRight<E> for () where ZeroDimBeside<E>: AtLeast1Dim {}
    };
    ($($a:ident)*) => {
        impl<$($a: Axis,)* E: Dims> TimesRight<E> for ($($a,)*)
        where
            NamesOf<E>: AtLeast1Dim,
            <Self as DimList>::Batch: BroadcastWith<E::Batch>,
            Product<Self, E>: Distinct,
            SizeOf<<Self as DimList>::InnerLeft>:
                Contractible<<Self as DimList>::InnerLeft, E::InnerRight>,
        {
        }
    };
}
each_rank!(times);
impl<E> TimesRight<E> for MoreThan8Dims {}

/// The lint of `cargo nomina check`, which compiles with `--cfg nomina_lint`: two contracted dims have the same name.
#[cfg(nomina_lint)]
#[diagnostic::on_unimplemented(
    message = "matmul contracts dim `{A}` with dim `{B}`",
    label = "two different names, contracted by position",
    note = "by name: `x.contract(&w, C)`, or `x.matmul_on(C, &w)` at these positions; weights (Out, In): `x.linear(&w, &b)`"
)]
pub trait Contractible<A, B> {}
#[cfg(nomina_lint)]
#[diagnostic::do_not_recommend]
impl<A: Axis, B: Axis> Contractible<A, B> for SizeOf<A>
where
    Self: super::size::CanEqual<A, B>,
    <A::Accepts<B> as Bool>::Or<B::Accepts<A>>: IsTrue,
{
}
// A second impl, so that rustc prints the message above.
#[cfg(nomina_lint)]
#[diagnostic::do_not_recommend]
impl Contractible<Wild, Wild> for core::convert::Infallible {}

/// `x.matmul(&y)` of dims `D` and `E` contracts the dim `Self` on both sides: it is the last of `D`, and the second to
/// last of `E`, or its only one.
#[diagnostic::on_unimplemented(
    message = "cannot matmul dims {D} with dims {E} on `{Self}`",
    label = "`{Self}` is not the last of dims {D} and the last but one of dims {E}",
    note = "`contract` finds the dim at any position"
)]
pub trait MatMulOn<D, E> {}
#[diagnostic::do_not_recommend]
impl<K, D: DimList, E: DimList> MatMulOn<D, E> for K
where
    (D::InnerLeft,): Has<K>,
    (E::InnerRight,): Has<K>,
{
}

/// The right factor of a product: `D: MatMul<Self>`, as a bound that fits on the method's line.
pub trait Factor<D>: Dims {}
impl<D: TimesRight<E>, E: Dims> Factor<D> for E {}

/// The list has at least one dim.
#[diagnostic::on_unimplemented(
    message = "matmul needs at least one dim on each side",
    label = "a zero-dim tensor"
)]
pub trait AtLeast1Dim {}

/// One dim: `mv` on the right, `dot` on both sides.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not form a vector",
    label = "expected one dim",
    note = "`matmul` takes any number of dims"
)]
pub trait Vector {}
#[diagnostic::do_not_recommend]
impl<K: Axis> Vector for (K,) {}

/// Two dims: `mm`, `mv` on the left.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not form a matrix",
    label = "expected two dims",
    note = "`matmul` takes any number of dims"
)]
pub trait Matrix {}
#[diagnostic::do_not_recommend]
impl<N: Axis, K: Axis> Matrix for (N, K) {}

/// Three dims: `bmm`.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not form a batch of matrices",
    label = "expected three dims",
    note = "`matmul` takes any number of dims"
)]
pub trait Batched {}
#[diagnostic::do_not_recommend]
impl<B: Axis, N: Axis, K: Axis> Batched for (B, N, K) {}

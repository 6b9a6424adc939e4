//! Constant sizes of dims in types.

use core::convert::Infallible;
use core::marker::PhantomData;

use super::axis::{Axis, Wild};
use super::id::{Bool, End, False, IsTrue, Spelling, True};

/// The size of a dim, if its marker determines it.
pub trait DimSize: 'static {
    /// The constant size.
    const SIZE: Option<usize>;
    /// Whether the size is constant.
    type IsConstant: Bool;
    /// Whether two sizes can be equal.
    type Equals<S: DimSize>: Bool;
    #[doc(hidden)]
    type EqualsDigits<D: Spelling>: Bool;
}

/// Two sizes can be equal: [`DimSize::Equals`] as a bound.
pub trait Meets<S> {}
impl<S: DimSize> Meets<S> for AnySize {}
impl<const K: usize, N> Meets<AnySize> for Fixed<K, N> {}
impl<const K: usize, N> Meets<Self> for Fixed<K, N> {}

/// A size that the marker leaves open.
#[derive(Clone, Copy, Debug)]
pub struct AnySize;

/// A constant size, with its decimal digits as symbols. Two constants are compared by their digits,
/// because types cannot branch on a comparison of const generics.
#[derive(Clone, Copy, Debug)]
pub struct Fixed<const K: usize, Digits = End>(PhantomData<Digits>);

impl DimSize for AnySize {
    const SIZE: Option<usize> = None;
    type IsConstant = False;
    type Equals<S: DimSize> = True;
    type EqualsDigits<D: Spelling> = True;
}

impl<const K: usize, N: Spelling> DimSize for Fixed<K, N> {
    const SIZE: Option<usize> = Some(K);
    type IsConstant = True;
    type Equals<S: DimSize> = S::EqualsDigits<N>;
    type EqualsDigits<D: Spelling> = N::Eq<D>;
}

/// The size of dim `A`, as the subject of bounds.
#[derive(Clone, Copy, Debug)]
pub struct SizeOf<A>(PhantomData<A>);

/// Two contracted dims have sizes that can be equal.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` and dim `{B}` are contracted but have different constant sizes",
    label = "sizes differ"
)]
pub trait CanEqual<A, B> {}
#[diagnostic::do_not_recommend]
impl<A: Axis, B: Axis> CanEqual<A, B> for SizeOf<A> where
    <A::Size as DimSize>::Equals<B::Size>: IsTrue
{
}
// A second impl, so that rustc prints the message above instead of unifying with a single impl.
#[diagnostic::do_not_recommend]
impl CanEqual<Wild, Wild> for Infallible {}

/// The length `K` of a literal is a possible size of dim `A`.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` has a constant size other than {K}",
    label = "wrong size for `{A}`"
)]
pub trait CanBe<A, const K: usize> {}
#[diagnostic::do_not_recommend]
impl<A: Axis<Size: Admits<K>>, const K: usize> CanBe<A, K> for SizeOf<A> {}

/// A size that can be `K`.
pub trait Admits<const K: usize> {}
impl<const K: usize> Admits<K> for AnySize {}
impl<D, const K: usize> Admits<K> for Fixed<K, D> {}

/// The operation changes a dim's size, and the dim's marker leaves the size open.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` has a constant size, so this operation cannot change it",
    label = "constant size",
    note = "give the dim another name first: `x.rename({A}, ..)`"
)]
pub trait Resizable<A> {}
#[diagnostic::do_not_recommend]
impl<A: Axis<Size = AnySize>> Resizable<A> for SizeOf<A> {}

/// The dim accepts any size: it has no constant one.
#[diagnostic::on_unimplemented(
    message = "dim `{A}` has a constant size already",
    label = "write `{A}` alone, without `.of(..)`"
)]
pub trait Open<A> {}
#[diagnostic::do_not_recommend]
impl<A: Axis<Size = AnySize>> Open<A> for SizeOf<A> {}

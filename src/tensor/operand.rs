//! Operands that are combined with a tensor, and the dims and dtype of the result.

use std::marker::PhantomData;

use nomina_core::dims::{BroadcastWith, Dims, DtypeRule, HoldsInPlace, Sum};
use nomina_core::{Element, Number, Promote, PromoteScalar, Promoted, StoreAs, WithScalar};

use super::Tensor;
use crate::erased::{Known, MaybeOwned, OperandRef};

/// A tensor, owned or borrowed, or a number.
///
/// This determines only which of both an operand is. [`Combine`] checks that it can be combined
/// with a tensor of dims `D` and dtype `T`: `R: Operand, R::Kind: Combine<D, T>`.
///
/// rustc reports [`PromoteScalar`] first, except for a `DynTensor`, which has it for this purpose alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not combine with a tensor that has its dims in its type",
    label = "expected a `Tensor` or a number",
    note = "give a `DynTensor` its dims first: `d.typed::<(N, C), f32>()?`"
)]
pub trait Operand {
    /// [`OfTensor`] or [`OfScalar`].
    type Kind;
    #[doc(hidden)]
    fn as_operand(&self) -> OperandRef<'_>;
    #[doc(hidden)]
    fn into_operand<'a>(self) -> MaybeOwned<'a>
    where
        Self: 'a;
}

/// The kind of a tensor operand with dims `E` and dtype `U`.
#[derive(Clone, Copy, Debug)]
pub struct OfTensor<E, U>(PhantomData<(E, U)>);

/// The kind of a number of type `S`.
#[derive(Clone, Copy, Debug)]
pub struct OfScalar<S>(PhantomData<S>);

#[diagnostic::do_not_recommend]
impl<S: Number> Operand for S {
    type Kind = OfScalar<S>;
    #[inline(always)]
    fn as_operand(&self) -> OperandRef<'_> {
        OperandRef::Scalar((*self).into())
    }
    #[inline(always)]
    fn into_operand<'a>(self) -> MaybeOwned<'a>
    where
        Self: 'a,
    {
        MaybeOwned::Lent(OperandRef::Scalar(self.into()))
    }
}

#[diagnostic::do_not_recommend]
impl<E: Dims, U: Element> Operand for Tensor<E, U> {
    type Kind = OfTensor<E, U>;
    #[inline(always)]
    fn as_operand(&self) -> OperandRef<'_> {
        self.erased.as_operand(E::STATIC)
    }
    #[inline(always)]
    fn into_operand<'a>(self) -> MaybeOwned<'a>
    where
        Self: 'a,
    {
        MaybeOwned::Own(self.erased, E::STATIC)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Dims, U: Element> Operand for &Tensor<E, U> {
    type Kind = OfTensor<E, U>;
    #[inline(always)]
    fn as_operand(&self) -> OperandRef<'_> {
        self.erased.as_operand(E::STATIC)
    }
    #[inline(always)]
    fn into_operand<'a>(self) -> MaybeOwned<'a>
    where
        Self: 'a,
    {
        MaybeOwned::Lent(self.erased.as_operand(E::STATIC))
    }
}

/// A dtype that can be combined with `R` if it is an operand at all; [`Combine`] checks the rest.
///
/// Operators check this bound first: rustc's next trait solver reports the first bound that does
/// not hold.
#[diagnostic::on_unimplemented(
    message = "a tensor of dtype `{Self}` does not combine with `{R}`",
    label = "expected a tensor, or a number that combines with `{Self}`"
)]
pub trait Beside<R>: Element {}
#[diagnostic::do_not_recommend]
impl<T: Element, R: Operand> Beside<R> for T {}

/// An operand of this kind can be combined with a tensor of dims `D` and dtype `T`: dims unify from
/// the right, dtypes promote.
pub trait Combine<D, T> {
    /// The dims of the result.
    type Dims: Dims;
    /// The common dtype.
    type Dtype: Element;
}

// On one line, because rustc quotes it in errors.
#[rustfmt::skip]
impl<D: Dims + BroadcastWith<E>, T: Promote<U, DtypeRule<D, E>>, E: Dims, U: Element> Combine<D, T> for OfTensor<E, U> {
    type Dims = Sum<D, E>;
    type Dtype = Promoted<T, U, DtypeRule<D, E>>;
}

impl<D: Dims, T: PromoteScalar<S>, S> Combine<D, T> for OfScalar<S> {
    type Dims = D;
    type Dtype = WithScalar<T, S>;
}

/// The dims of the result of a tensor with dims `D` and dtype `T` and the operand `R`.
pub type OutDims<R, D, T> = <<R as Operand>::Kind as Combine<D, T>>::Dims;

/// The common dtype of a tensor with dims `D` and dtype `T` and the operand `R`.
pub type OutDtype<R, D, T> = <<R as Operand>::Kind as Combine<D, T>>::Dtype;

/// Maps the common dtype to that of the result.
pub trait ResultDtype {
    #[doc(hidden)]
    type Of<T: Element>: Element;
}

/// The common dtype.
#[derive(Clone, Copy, Debug)]
pub enum AsCommon {}

/// The common dtype; `f32` for integers and bool.
#[derive(Clone, Copy, Debug)]
pub enum AsFloat {}

/// `f64`, or `Complex<f64>`.
#[derive(Clone, Copy, Debug)]
pub enum AsDouble {}

/// `bool`.
#[derive(Clone, Copy, Debug)]
pub enum AsBool {}

impl ResultDtype for AsCommon {
    type Of<T: Element> = T;
}
impl ResultDtype for AsFloat {
    type Of<T: Element> = T::Float;
}
impl ResultDtype for AsDouble {
    type Of<T: Element> = T::Double;
}
impl ResultDtype for AsBool {
    type Of<T: Element> = bool;
}

/// A tensor of dims `D` and dtype `T` can store the result of an operator with an operand of this
/// kind: `x += &y`. The dims stay, and the dtype does not decrease in category.
pub trait Absorb<D, T, O = AsCommon> {}

impl<D, T, E, U, O> Absorb<D, T, O> for OfTensor<E, U>
where
    D: Dims + BroadcastWith<E> + HoldsInPlace<Sum<D, E>>,
    T: Element + Promote<U, DtypeRule<D, E>>,
    O: ResultDtype,
    O::Of<Promoted<T, U, DtypeRule<D, E>>>: StoreAs<T>,
    E: Dims,
    U: Element,
{
}

impl<D: Dims, T: Element + PromoteScalar<S>, S, O: ResultDtype> Absorb<D, T, O> for OfScalar<S> where
    O::Of<WithScalar<T, S>>: StoreAs<T>
{
}

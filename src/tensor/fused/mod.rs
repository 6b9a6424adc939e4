//! The target of [`fuse!`](crate::fuse): a [`Chain`], which ends with [`Chain::compute`], [`Chain::then`],
//! [`Chain::reduce`] or [`Chain::reduce_at`].

mod dynamic;
mod untyped;

use std::marker::PhantomData;

use nomina_core::dims::{Axes, Dims};
use nomina_core::op::Op;
use nomina_core::{Element, Result, Scalar};
use nomina_runtime::DynTensor;
use nomina_runtime::call::Node;

use super::{Picking, Tensor};
use crate::erased::{ErasedRef, Known, done, fused};

pub use untyped::{Untyped, UntypedOperand};

/// An operand between the bars: a tensor, typed or not.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor",
    label = "expected a tensor, or a borrowed one",
    note = "write a number in braces where used: `{{number}}`"
)]
pub trait FuseOperand {
    /// The type of the operand in the body of the macro.
    type Typed: ?Sized + 'static;
    fn lend(&self) -> Lent<'_, Self::Typed>;
}

/// A tensor that is lent to a chain.
#[doc(hidden)]
#[derive(Debug)]
pub struct Lent<'a, S: ?Sized> {
    /// The tensor that rustc checks the body with.
    pub typed: &'a S,
    /// The tensor to compute with.
    pub erased: ErasedRef<'a>,
}

impl<S: ?Sized> Clone for Lent<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ?Sized> Copy for Lent<'_, S> {}

#[diagnostic::do_not_recommend]
impl<D: Dims + 'static, T: Element> FuseOperand for Tensor<D, T> {
    type Typed = Self;
    #[inline(always)]
    fn lend(&self) -> Lent<'_, Self> {
        Lent {
            typed: self,
            erased: self.erased(),
        }
    }
}

#[diagnostic::do_not_recommend]
impl FuseOperand for DynTensor {
    type Typed = Untyped;
    fn lend(&self) -> Lent<'_, Untyped> {
        Lent {
            typed: &Untyped,
            erased: dynamic::erased(self),
        }
    }
}

/// Implements the trait for references: a borrowed operand is borrowed once more.
macro_rules! borrowed {
    ($($t:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<X: FuseOperand + ?Sized> FuseOperand for $t {
            type Typed = X::Typed;
            #[inline(always)]
            fn lend(&self) -> Lent<'_, X::Typed> {
                (**self).lend()
            }
        }
    )*};
}

borrowed!(&X, &mut X, Box<X>, std::rc::Rc<X>, std::sync::Arc<X>);

/// Lends a tensor to a chain.
#[doc(hidden)]
#[inline(always)]
pub fn fuse_operand<X: FuseOperand<Typed = S> + ?Sized, S: ?Sized>(tensor: &X) -> Lent<'_, S> {
    tensor.lend()
}

/// A chain that is not computed yet: a program with its tensors and numbers. `V` is the type of the result of the
/// separate operators. `S` is the type of the first tensor, so that rustc knows the kind of chain before it knows all
/// types.
#[doc(hidden)]
#[derive(Debug)]
#[must_use]
pub struct Chain<'a, S: ?Sized, V> {
    program: &'a [Node<'a>],
    tensors: &'a [ErasedRef<'a>],
    numbers: &'a [Scalar],
    value: PhantomData<(fn() -> V, fn(&S))>,
}

/// Creates a chain. `check` is the same expression of separate operators: rustc checks it and takes the type of the
/// result from it. It is never called.
#[doc(hidden)]
#[inline(always)]
pub fn fuse<'a, S: ?Sized, V>(
    _first: Lent<'_, S>,
    program: &'a [Node<'a>],
    tensors: &'a [ErasedRef<'a>],
    numbers: &'a [Scalar],
    _check: impl FnOnce() -> V,
) -> Chain<'a, S, V> {
    Chain {
        program,
        tensors,
        numbers,
        value: PhantomData,
    }
}

impl<E: Dims, W: Element, D: Dims, T: Element> Chain<'_, Tensor<E, W>, Tensor<D, T>> {
    /// Returns the result.
    ///
    /// # Panics
    /// Like the separate operators.
    #[track_caller]
    pub fn compute(self) -> Tensor<D, T> {
        Tensor::from_erased(done(fused::new(
            self.program,
            self.tensors,
            self.numbers,
            T::DTYPE,
            D::STATIC,
        )))
    }

    /// Returns the result, or the error of the separate operators.
    ///
    /// # Errors
    /// Like the separate operators.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn try_compute(self) -> Result<Tensor<D, T>> {
        Tensor::try_from_erased(fused::new(
            self.program,
            self.tensors,
            self.numbers,
            T::DTYPE,
            D::STATIC,
        ))
    }

    /// Returns `f` of the result.
    ///
    /// # Panics
    /// Like the separate operators.
    #[track_caller]
    pub fn then<R>(self, f: impl FnOnce(Tensor<D, T>) -> R) -> R {
        f(self.compute())
    }

    /// Returns `f` of the result.
    ///
    /// # Errors
    /// Like the separate operators.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn try_then<R>(self, f: impl FnOnce(Tensor<D, T>) -> Result<R>) -> Result<R> {
        f(self.try_compute()?)
    }

    /// Reduces the result without storing it. `check` is the method that would reduce it; it is never called.
    ///
    /// # Panics
    /// Like the separate operators.
    #[track_caller]
    pub fn reduce<A: Axes, R: Dims, U: Element>(
        self,
        op: Op,
        dims: A,
        _check: impl FnOnce(Tensor<D, T>, A) -> Tensor<R, U>,
    ) -> Tensor<R, U> {
        let _ = dims;
        Tensor::from_erased(done(fused::reduce(
            self.program,
            self.tensors,
            self.numbers,
            T::DTYPE,
            (op, <A as Picking<D>>::PICKED),
            R::STATIC,
        )))
    }

    /// Like [`reduce`](Self::reduce), but returns the error.
    ///
    /// # Errors
    /// Like the separate operators.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn try_reduce<A: Axes, R: Dims, U: Element>(
        self,
        op: Op,
        dims: A,
        _check: impl FnOnce(Tensor<D, T>, A) -> Result<Tensor<R, U>>,
    ) -> Result<Tensor<R, U>> {
        let _ = dims;
        Tensor::try_from_erased(fused::reduce(
            self.program,
            self.tensors,
            self.numbers,
            T::DTYPE,
            (op, <A as Picking<D>>::PICKED),
            R::STATIC,
        ))
    }

    /// Like [`reduce`](Self::reduce), but over an argument that is not dims, so that the method reports the error.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn reduce_at<A, R>(self, _op: Op, dims: A, f: impl FnOnce(Tensor<D, T>, A) -> R) -> R {
        f(self.compute(), dims)
    }

    /// Like [`reduce_at`](Self::reduce_at), but returns the error.
    ///
    /// # Errors
    /// Like the separate operators.
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn try_reduce_at<A, R>(
        self,
        _op: Op,
        dims: A,
        f: impl FnOnce(Tensor<D, T>, A) -> Result<R>,
    ) -> Result<R> {
        f(self.try_compute()?, dims)
    }
}

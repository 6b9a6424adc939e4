//! Functions that `einsum!` calls: one step for each operand, one check for each dim that is
//! written.

use std::marker::PhantomData;

use nomina_core::dims::{
    Aligned, Dim, DimLists, DimOf, Dims, Distinct, EinsumNamed, ListedBy, OfOperand, OrderSpec,
    Others,
};
use nomina_core::{Element, Promote, Promoted, Result};
use smallvec::SmallVec;

use crate::erased::{self, ErasedRef, Known, done};
use crate::tensor::Tensor;

/// The state of an `einsum!`: the dims of the operands so far, the dims that `..` covers, and the
/// dtype of the product.
#[doc(hidden)]
pub struct EinsumTerms<'a, L, R, T> {
    operands: SmallVec<[ErasedRef<'a>; 4]>,
    types: PhantomData<fn() -> (L, R, T)>,
}

/// Starts with the first operand, of which the dims `P` are listed.
#[doc(hidden)]
pub fn einsum_first<P: Dims, D: Dims, T: Element>(
    x: &Tensor<D, T>,
) -> EinsumTerms<'_, (D, ()), Others<(), D, P>, T> {
    EinsumTerms {
        operands: SmallVec::from_slice(&[x.erased()]),
        types: PhantomData,
    }
}

/// Adds an operand, of which the dims `P` are listed.
#[doc(hidden)]
pub fn einsum_times<'a, P: Dims, L, R: Dims, T: Element + Promote<U>, D: Dims, U: Element>(
    mut terms: EinsumTerms<'a, L, R, T>,
    x: &'a Tensor<D, U>,
) -> EinsumTerms<'a, (D, L), Others<R, D, P>, Promoted<T, U>> {
    terms.operands.push(x.erased());
    EinsumTerms {
        operands: terms.operands,
        types: PhantomData,
    }
}

/// Checks that a listed dim belongs to the operand.
#[doc(hidden)]
pub fn einsum_operand<X: DimOf<D>, D: Dims, T: Element>(_: &Tensor<D, T>) {}

/// Checks that every dim of the operand has a name known to rustc.
#[doc(hidden)]
pub fn einsum_named<P: Dims, D: Dims + EinsumNamed<P>, T: Element>(_: &Tensor<D, T>) {}

/// Checks that every dim of the operand is listed.
#[doc(hidden)]
pub fn einsum_all<P: Dims, D: Dims + ListedBy<P>, T: Element>(_: &Tensor<D, T>) {}

/// Checks that a dim of the result belongs to an operand.
#[doc(hidden)]
pub fn einsum_result<X: Dim + OfOperand<L>, L: DimLists, R, T>(_: &EinsumTerms<'_, L, R, T>) {}

/// Computes the product, with the dims `O`.
#[doc(hidden)]
#[must_use]
#[track_caller]
pub fn einsum<O: OrderSpec, L, R: Dims, T: Element>(
    terms: EinsumTerms<'_, L, R, T>,
) -> Tensor<Aligned<R, O>, T>
where
    Aligned<R, O>: Distinct,
{
    Tensor::from_erased(done(erased::einsum::einsum(
        &terms.operands,
        <Aligned<R, O>>::STATIC,
    )))
}

/// Like [`einsum`], but returns the error.
#[doc(hidden)]
#[cfg_attr(debug_assertions, track_caller)]
pub fn try_einsum<O: OrderSpec, L, R: Dims, T: Element>(
    terms: EinsumTerms<'_, L, R, T>,
) -> Result<Tensor<Aligned<R, O>, T>>
where
    Aligned<R, O>: Distinct,
{
    Tensor::try_from_erased(erased::einsum::einsum(
        &terms.operands,
        <Aligned<R, O>>::STATIC,
    ))
}

/// The value of an `einsum!` with mistakes, with the dims that it lists, so that later code has
/// types.
#[doc(hidden)]
#[must_use]
pub fn einsum_stand_in<O: Dims, L, R, T: Element>(_: EinsumTerms<'_, L, R, T>) -> Tensor<O, T> {
    crate::__private::stand_in()
}

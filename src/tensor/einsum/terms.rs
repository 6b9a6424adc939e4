//! What `einsum!` calls: one step for each operand, one check for each dim that is written.

use std::marker::PhantomData;

use nomina_core::dims::{
    Aligned, Dim, DimLists, DimOf, Dims, Distinct, EinsumNamed, ListedBy, OfOperand, OrderSpec,
    Others,
};
use nomina_core::{Element, Promote, Promoted, Result};
use smallvec::SmallVec;

use crate::call::{self, ErasedRef, Known, done};
use crate::tensor::Tensor;

/// The operands of an `einsum!` so far: the lists of their dims, the dims that `..` stands for, and
/// the dtype of their product.
#[doc(hidden)]
pub struct EinsumTerms<'a, L, R, T> {
    operands: SmallVec<[ErasedRef<'a>; 4]>,
    types: PhantomData<fn() -> (L, R, T)>,
}

/// The first operand, of which the dims `P` are listed.
#[doc(hidden)]
pub fn einsum_first<P: Dims, D: Dims, T: Element>(
    x: &Tensor<D, T>,
) -> EinsumTerms<'_, (D, ()), Others<(), D, P>, T> {
    EinsumTerms {
        operands: SmallVec::from_slice(&[x.erased()]),
        types: PhantomData,
    }
}

/// One more operand, of which the dims `P` are listed.
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

/// A dim that is listed is the operand's.
#[doc(hidden)]
pub fn einsum_operand<X: DimOf<D>, D: Dims, T: Element>(_: &Tensor<D, T>) {}

/// Every dim of the operand has a name that rustc knows.
#[doc(hidden)]
pub fn einsum_named<P: Dims, D: Dims + EinsumNamed<P>, T: Element>(_: &Tensor<D, T>) {}

/// Every dim of the operand is listed.
#[doc(hidden)]
pub fn einsum_all<P: Dims, D: Dims + ListedBy<P>, T: Element>(_: &Tensor<D, T>) {}

/// A dim of the result is an operand's.
#[doc(hidden)]
pub fn einsum_result<X: Dim + OfOperand<L>, L: DimLists, R, T>(_: &EinsumTerms<'_, L, R, T>) {}

/// The product, with the dims `O`.
#[doc(hidden)]
#[must_use]
#[track_caller]
pub fn einsum<O: OrderSpec, L, R: Dims, T: Element>(
    terms: EinsumTerms<'_, L, R, T>,
) -> Tensor<Aligned<R, O>, T>
where
    Aligned<R, O>: Distinct,
{
    Tensor::from_erased(done(call::einsum::einsum(
        &terms.operands,
        <Aligned<R, O>>::STATIC,
    )))
}

/// [`einsum`] that returns the error.
#[doc(hidden)]
#[cfg_attr(debug_assertions, track_caller)]
pub fn try_einsum<O: OrderSpec, L, R: Dims, T: Element>(
    terms: EinsumTerms<'_, L, R, T>,
) -> Result<Tensor<Aligned<R, O>, T>>
where
    Aligned<R, O>: Distinct,
{
    Tensor::try_from_erased(call::einsum::einsum(
        &terms.operands,
        <Aligned<R, O>>::STATIC,
    ))
}

/// What an `einsum!` with mistakes is for the lines behind it: of the dims that it lists.
#[doc(hidden)]
#[must_use]
pub fn einsum_stand_in<O: Dims, L, R, T: Element>(_: EinsumTerms<'_, L, R, T>) -> Tensor<O, T> {
    crate::__private::stand_in()
}

//! Writing at an index with the dims of the tensor: `scatter`.
//!
//! [`Tensor::scatter`].

use nomina_core::dims::{Broadcast, DimOf, Dims, Holds, SameRankAs, Sum, position};
use nomina_core::op::Op;
use nomina_core::{Element, IndexElement, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::{Operand as DynOperand, ScatterOptions};

use crate::Tensor;
use crate::erased::gather::{self, at};
use crate::erased::{ErasedRef, Known, OperandRef};
use crate::tensor::operand::{OfScalar, OfTensor, Operand};

/// Values that can be scattered into a tensor of dims `D` and dtype `T`: a tensor with the same
/// dims and dtype, or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be scattered into a tensor of dims {D} and dtype `{T}`",
    label = "expected a tensor of the same dims and dtype, or a number"
)]
pub trait ScatterFrom<D, T> {}
#[diagnostic::do_not_recommend]
impl<D, T, S: Dims> ScatterFrom<D, T> for OfTensor<S, T> where D: Broadcast<S> + SameRankAs<S> {}
impl<D, T, N> ScatterFrom<D, T> for OfScalar<N> {}

fn operand<'a>(src: &OperandRef<'_>, given: Option<&'a DynTensor>) -> DynOperand<'a> {
    match (src, given) {
        (OperandRef::Scalar(value), _) => DynOperand::Scalar(*value),
        (OperandRef::Tensor(_), Some(x)) => DynOperand::Tensor(x),
        (OperandRef::Tensor(_), None) => unreachable!("every tensor was given"),
    }
}

/// # Gather and scatter along a dim
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Writes values, a tensor or one number, at the positions that [`gather`](Self::gather) would
    /// read. If several values have the same position, the last one stays.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let ids = tensor!([[2], [0]]; N, C);
    /// let hot = Tensor::<(N, C)>::zeros([2, 3]).scatter(C, &ids, 1.0);
    /// assert_eq!(hot.to_vec(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin(with = "but adds to or multiplies the present elements, as the options say.")]
    pub fn try_scatter_with<X: DimOf<D>, E: Dims, I: IndexElement, R>(
        &self,
        dim: X,
        index: &Tensor<E, I>,
        src: R,
        options: ScatterOptions,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E>,
        R: Operand,
        R::Kind: ScatterFrom<D, T>,
    {
        let _ = dim;
        let (src, out) = (src.as_operand(), <Sum<D, E>>::STATIC);
        let operands = [Some(self.erased()), Some(index.erased()), src.erased()];
        let operands: Vec<ErasedRef<'_>> = operands.into_iter().flatten().collect();
        Tensor::try_from_erased(gather::call_and_check_sizes(&operands, out, |given| {
            given[0].scatter_with(
                at(position::<X, D>()),
                &given[1],
                operand(&src, given.get(2)),
                options,
            )
        }))
    }

    /// Like [`scatter`](Self::scatter), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin(with = "but adds to or multiplies the present elements, as the options say.")]
    pub fn try_scatter_with_<X: DimOf<D>, E: Dims, I: IndexElement, R>(
        &mut self,
        dim: X,
        index: &Tensor<E, I>,
        src: R,
        options: ScatterOptions,
    ) -> Result<&mut Self>
    where
        D: Broadcast<E> + SameRankAs<E>,
        R: Operand,
        R::Kind: ScatterFrom<D, T>,
    {
        let _ = dim;
        let src = src.as_operand();
        let others = [Some(index.erased()), src.erased()];
        let others: Vec<ErasedRef<'_>> = others.into_iter().flatten().collect();
        gather::in_place(&mut self.erased, D::STATIC, &others, |own, given| {
            own.scatter_with_(
                at(position::<X, D>()),
                &given[0],
                operand(&src, given.get(1)),
                options,
            )
            .map(drop)
        })?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("along/forms.rs");

//! Results stored in an out tensor, for operators with hand-written methods.
//!
//! [`Tensor::addcmul_`], [`Tensor::addcmul_out`].

use nomina_core::dims::{Dims, Holds};
use nomina_core::op::Op;
use nomina_core::{Element, Result, StoreAs};
use nomina_macros::twin;

use super::Tensor;
use super::elementwise::{Dims3, Dtype3};
use super::operand::{Combine, Operand, OutDims, OutDtype};
use crate::erased::{Known, reduce};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Stores a computed tensor in `out`, which must accept the sizes; converts the dtype.
    pub(crate) fn store<O: Dims, U: Element>(
        op: Op,
        computed: Result<Self>,
        out: &mut Tensor<O, U>,
    ) -> Result<()> {
        reduce::store(op, computed?.erased, D::STATIC, &mut out.erased, O::STATIC)
    }

    /// Stores two computed tensors; changes neither out tensor if one does not fit.
    pub(crate) fn store_two<E, V, O, U, P, W>(
        op: Op,
        computed: Result<(Self, Tensor<E, V>)>,
        first: &mut Tensor<O, U>,
        second: &mut Tensor<P, W>,
    ) -> Result<()>
    where
        E: Dims,
        V: Element,
        O: Dims,
        U: Element,
        P: Dims,
        W: Element,
    {
        let (a, b) = computed?;
        let mut new = first.clone();
        Tensor::store(op, Ok(a), &mut new)?;
        Tensor::store(op, Ok(b), second)?;
        *first = new;
        Ok(())
    }

    /// Replaces this tensor by a computed one. Changes nothing on an error.
    pub(crate) fn replace<E: Dims, U: Element>(
        &mut self,
        op: Op,
        computed: Result<Tensor<E, U>>,
    ) -> Result<()> {
        // In place, the result must have the sizes of self: unlike an out tensor, self cannot be
        // resized.
        let computed = computed?;
        crate::erased::view::same_shape(op.name(), self.erased(), computed.erased())?;
        Tensor::store(op, Ok(computed), self)
    }

    /// Like [`addcmul`](Self::addcmul), but in place.
    ///
    /// # Errors
    /// If sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_addcmul_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
    ) -> Result<&mut Self>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
        D: Holds<Dims3<R, S, D, T>>,
        Dtype3<R, S, D, T>: StoreAs<T>,
    {
        let sides = [tensor1.as_operand(), tensor2.as_operand()];
        crate::erased::pointwise::in_place(Op::Addcmul, self.dest(), &sides)?;
        Ok(self)
    }

    /// Like [`addcmul`](Self::addcmul), but writes the result to `out`.
    ///
    /// # Errors
    /// If sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_addcmul_out<R: Operand, S: Operand, O, V>(
        &self,
        tensor1: R,
        tensor2: S,
        out: &mut Tensor<O, V>,
    ) -> Result<()>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
        O: Dims + Holds<Dims3<R, S, D, T>>,
        V: Element,
        Dtype3<R, S, D, T>: StoreAs<V>,
    {
        let sides = [
            self.as_operand(),
            tensor1.as_operand(),
            tensor2.as_operand(),
        ];
        let dims = <Dims3<R, S, D, T>>::STATIC;
        crate::erased::pointwise::into(Op::Addcmul, &sides, dims, &mut out.erased, O::STATIC)
    }
}

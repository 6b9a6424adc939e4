//! Chains of tensors whose names and dtypes are known only at run time. They also end with
//! [`Chain::compute`], [`Chain::then`], [`Chain::reduce`] or [`Chain::reduce_at`].

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{Names, Result};
use nomina_runtime::{DynTensor, Raw, tensor};
use smallvec::SmallVec;

use super::untyped::Failing;
use super::{Chain, Untyped};
use crate::erased::{ErasedRef, Static};

/// The dims of a tensor that carries all its names.
static CARRIED: Static = Static {
    names: &[],
    sizes: &[],
    wild: true,
};

pub(super) fn erased(tensor: &DynTensor) -> ErasedRef<'_> {
    ErasedRef {
        raw: tensor.raw(),
        wild: Some(tensor.names()),
        of: &CARRIED,
    }
}

type Tensors<'a> = SmallVec<[(&'a Raw, Names); 4]>;

impl<'a> Chain<'a, Untyped, Untyped> {
    fn named(&self) -> Tensors<'a> {
        let tensors = self.tensors.iter();
        tensors
            .map(|operand| (operand.raw, operand.names()))
            .collect()
    }

    /// Returns the result.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn compute(self) -> Result<DynTensor> {
        tensor::fused(self.program, &self.named(), self.numbers)
    }

    /// Returns the result.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn try_compute(self) -> Result<DynTensor> {
        self.compute()
    }

    /// Returns `f` of the result.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn then<R>(self, f: impl FnOnce(DynTensor) -> Result<R>) -> Result<R> {
        f(self.compute()?)
    }

    /// Like [`then`](Self::then), with the signature of the typed tensor's method.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn try_then<R>(self, f: impl FnOnce(Failing) -> Result<R>) -> Result<R> {
        f(Failing(self.compute()?))
    }

    /// Reduces the result without storing it. `check` is the method that would reduce it; it is
    /// never called.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn reduce<'d, A: Into<DimArg<'d>>>(
        self,
        op: Op,
        dims: A,
        _check: impl FnOnce(DynTensor, A) -> Result<DynTensor>,
    ) -> Result<DynTensor> {
        let (program, numbers) = (self.program, self.numbers);
        tensor::fused_reduce(program, &self.named(), numbers, op, &dims.into())
    }

    /// Like [`reduce`](Self::reduce), but over names and positions.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn reduce_at<'d, A: Into<DimArg<'d>>>(
        self,
        op: Op,
        dims: A,
        check: impl FnOnce(DynTensor, A) -> Result<DynTensor>,
    ) -> Result<DynTensor> {
        self.reduce(op, dims, check)
    }

    /// Like [`reduce`](Self::reduce), with the signature of the typed tensor's method.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn try_reduce<'d, A: Into<DimArg<'d>>>(
        self,
        op: Op,
        dims: A,
        _check: impl FnOnce(Failing, A) -> Result<DynTensor>,
    ) -> Result<DynTensor> {
        self.reduce(op, dims, |result, _| Ok(result))
    }

    /// Like [`try_reduce`](Self::try_reduce), but over names and positions.
    ///
    /// # Errors
    /// Like the separate operators.
    pub fn try_reduce_at<'d, A: Into<DimArg<'d>>>(
        self,
        op: Op,
        dims: A,
        check: impl FnOnce(Failing, A) -> Result<DynTensor>,
    ) -> Result<DynTensor> {
        self.try_reduce(op, dims, check)
    }
}

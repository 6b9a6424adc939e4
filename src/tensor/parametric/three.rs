//! Elementwise operators on three operands.
//!
//! [`Tensor::addcmul`], [`Tensor::addcdiv`], [`Tensor::lerp`].

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{AddcdivOptions, AddcmulOptions};

use crate::erased::{Known, OperandRef, pointwise};
use crate::tensor::Tensor;
use crate::tensor::elementwise::{Dims3, Dtype3};
use crate::tensor::operand::{Absorb, Combine, Operand, OutDims, OutDtype};

/// # Elementwise operators of three tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds the product of a tensor and a tensor or number.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_addcmul<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [
            self.as_operand(),
            tensor1.as_operand(),
            tensor2.as_operand(),
        ];
        let found = pointwise::new(Op::Addcmul, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::try_from_erased(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// Like [`addcmul`](Self::addcmul), but with `options.value` times the product.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_addcmul_with<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
        options: AddcmulOptions,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [
            self.as_operand(),
            tensor1.as_operand(),
            tensor2.as_operand(),
            OperandRef::Scalar(options.value),
        ];
        let found = pointwise::new(Op::AddcmulValue, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::try_from_erased(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// Like [`addcmul_with`](Self::addcmul_with), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
    #[twin]
    pub fn try_addcmul_with_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
        options: AddcmulOptions,
    ) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        let sides = [
            tensor1.as_operand(),
            tensor2.as_operand(),
            OperandRef::Scalar(options.value),
        ];
        pointwise::in_place(Op::AddcmulValue, self.dest(), &sides)?;
        Ok(self)
    }

    /// Adds the quotient of a tensor and a tensor or number.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with `options.value` times the quotient.")]
    pub fn try_addcdiv_with<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
        options: AddcdivOptions,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [
            self.as_operand(),
            tensor1.as_operand(),
            tensor2.as_operand(),
            OperandRef::Scalar(options.value),
        ];
        let found = pointwise::new(Op::Addcdiv, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::try_from_erased(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// Like [`addcdiv`](Self::addcdiv), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
    #[twin(with = "but with `options.value` times the quotient.")]
    pub fn try_addcdiv_with_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
        options: AddcdivOptions,
    ) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        let sides = [
            tensor1.as_operand(),
            tensor2.as_operand(),
            OperandRef::Scalar(options.value),
        ];
        pointwise::in_place(Op::Addcdiv, self.dest(), &sides)?;
        Ok(self)
    }

    /// Interpolates linearly: the point on the way to `end` at the fraction `weight`, a number or a
    /// tensor.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_lerp<R: Operand, S: Operand>(
        &self,
        end: R,
        weight: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [self.as_operand(), end.as_operand(), weight.as_operand()];
        let found = pointwise::new(Op::Lerp, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::try_from_erased(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// Like [`lerp`](Self::lerp), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
    #[twin]
    pub fn try_lerp_<R: Operand, S: Operand>(&mut self, end: R, weight: S) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        let sides = [end.as_operand(), weight.as_operand()];
        pointwise::in_place(Op::Lerp, self.dest(), &sides)?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("three/forms.rs");

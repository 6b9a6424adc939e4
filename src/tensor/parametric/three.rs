//! Elementwise operators on three operands.
//!
//! [`Tensor::addcmul`], [`Tensor::addcdiv`], [`Tensor::lerp`].

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Result, Scalar};
use nomina_runtime::tensor::{AddcdivOptions, AddcmulOptions};

use crate::call::{Known, Side, ok, pointwise};
use crate::tensor::Tensor;
use crate::tensor::elementwise::{Dims3, Dtype3};
use crate::tensor::operand::{Absorb, Combine, Operand, OutDims, OutDtype};

/// # Elementwise operators of three tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds the product of a tensor and a tensor or number.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn addcmul<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
    ) -> Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        ok(self.try_addcmul(tensor1, tensor2))
    }

    /// [`addcmul`](Self::addcmul) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_addcmul<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [self.side(), tensor1.side(), tensor2.side()];
        let found = pointwise::new(Op::Addcmul, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::give(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// [`addcmul`](Self::addcmul) with the product times a number.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn addcmul_with<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
        options: AddcmulOptions,
    ) -> Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        ok(self.try_addcmul_with(tensor1, tensor2, options))
    }

    /// [`addcmul_with`](Self::addcmul_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
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
            self.side(),
            tensor1.side(),
            tensor2.side(),
            Side::Scalar(options.value),
        ];
        let found = pointwise::new(Op::AddcmulValue, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::give(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// [`addcmul_with`](Self::addcmul_with), in place.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    pub fn addcmul_with_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
        options: AddcmulOptions,
    ) -> &mut Self
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        ok(self.try_addcmul_with_(tensor1, tensor2, options).map(drop));
        self
    }

    /// [`addcmul_with_`](Self::addcmul_with_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
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
        let sides = [tensor1.side(), tensor2.side(), Side::Scalar(options.value)];
        pointwise::in_place(Op::AddcmulValue, self.dest(), &sides)?;
        Ok(self)
    }

    /// Adds the quotient of a tensor and a tensor or number.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn addcdiv<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
    ) -> Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        ok(self.try_addcdiv(tensor1, tensor2))
    }

    /// [`addcdiv`](Self::addcdiv) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_addcdiv<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [
            self.side(),
            tensor1.side(),
            tensor2.side(),
            Side::Scalar(Scalar::Int(1)),
        ];
        let found = pointwise::new(Op::Addcdiv, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::give(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// [`addcdiv`](Self::addcdiv), in place.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    pub fn addcdiv_<R: Operand, S: Operand>(&mut self, tensor1: R, tensor2: S) -> &mut Self
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        ok(self.try_addcdiv_(tensor1, tensor2).map(drop));
        self
    }

    /// [`addcdiv_`](Self::addcdiv_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_addcdiv_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
    ) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        let sides = [tensor1.side(), tensor2.side(), Side::Scalar(Scalar::Int(1))];
        pointwise::in_place(Op::Addcdiv, self.dest(), &sides)?;
        Ok(self)
    }

    /// [`addcdiv`](Self::addcdiv) with the quotient times a number.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn addcdiv_with<R: Operand, S: Operand>(
        &self,
        tensor1: R,
        tensor2: S,
        options: AddcdivOptions,
    ) -> Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        ok(self.try_addcdiv_with(tensor1, tensor2, options))
    }

    /// [`addcdiv_with`](Self::addcdiv_with) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
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
            self.side(),
            tensor1.side(),
            tensor2.side(),
            Side::Scalar(options.value),
        ];
        let found = pointwise::new(Op::Addcdiv, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::give(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// [`addcdiv_with`](Self::addcdiv_with), in place.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    pub fn addcdiv_with_<R: Operand, S: Operand>(
        &mut self,
        tensor1: R,
        tensor2: S,
        options: AddcdivOptions,
    ) -> &mut Self
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        ok(self.try_addcdiv_with_(tensor1, tensor2, options).map(drop));
        self
    }

    /// [`addcdiv_with_`](Self::addcdiv_with_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
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
        let sides = [tensor1.side(), tensor2.side(), Side::Scalar(options.value)];
        pointwise::in_place(Op::Addcdiv, self.dest(), &sides)?;
        Ok(self)
    }

    /// The point on the way to `end` that lies `weight`, a number or a tensor, of the distance along.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn lerp<R: Operand, S: Operand>(
        &self,
        end: R,
        weight: S,
    ) -> Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        ok(self.try_lerp(end, weight))
    }

    /// [`lerp`](Self::lerp) that returns the error.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_lerp<R: Operand, S: Operand>(
        &self,
        end: R,
        weight: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
    {
        let sides = [self.side(), end.side(), weight.side()];
        let found = pointwise::new(Op::Lerp, &sides, <Dims3<R, S, D, T>>::STATIC);
        Tensor::give(pointwise::in_dtype(found, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// [`lerp`](Self::lerp), in place.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    pub fn lerp_<R: Operand, S: Operand>(&mut self, end: R, weight: S) -> &mut Self
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        ok(self.try_lerp_(end, weight).map(drop));
        self
    }

    /// [`lerp_`](Self::lerp_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    pub fn try_lerp_<R: Operand, S: Operand>(&mut self, end: R, weight: S) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
    {
        let sides = [end.side(), weight.side()];
        pointwise::in_place(Op::Lerp, self.dest(), &sides)?;
        Ok(self)
    }
}

// Forms in place and with an out tensor.
include!("three/forms.rs");

//! Elementwise operators with parameters, and with three operands.
//!
//! [`Tensor::round_with`], [`Tensor::gelu_with`], [`Tensor::logit_with`], [`Tensor::nan_to_num`],
//! [`Tensor::threshold`], [`Tensor::div_with`].

pub mod close;
pub mod gamma;
pub mod three;

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Float, Numeric, Real, Result, Scalar, StoreAs};
use nomina_macros::twin;
use nomina_runtime::tensor::{
    DivOptions, GeluOptions, LogitOptions, NanToNumOptions, RoundOptions,
};

use super::Tensor;
use super::operand::{Absorb, Combine, Operand, OutDims, OutDtype};
use crate::call::{Known, OperandRef, pointwise};

/// # Elementwise operators with parameters
impl<D: Dims, T: Element> Tensor<D, T> {
    /// [`round`](Self::round) to some digits; integers take whole numbers only.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([0.126, 2.718]; N);
    /// let y = x.round_with(RoundOptions { decimals: 1 });
    /// assert_eq!(y.to_vec(), [0.1, 2.7]);
    /// let z = x.leaky_relu_with(LeakyReluOptions { negative_slope: 0.2 });
    /// assert_eq!(z.to_vec(), x.to_vec());
    /// ```
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_round_with(&self, options: RoundOptions) -> Result<Tensor<D, T>>
    where
        T: Real + Numeric,
    {
        let (op, numbers) = options.chosen();
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Round.name())))
    }

    /// [`round_with`](Self::round_with), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin]
    pub fn try_round_with_(&mut self, options: RoundOptions) -> Result<&mut Self>
    where
        T: Real + Numeric,
    {
        let (op, numbers) = options.chosen();
        pointwise::with_in_place(op, self.dest(), &numbers)
            .map_err(|error| error.in_op(Op::Round.name()))?;
        Ok(self)
    }

    /// [`gelu`](Self::gelu), exact or by a formula with tanh.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_gelu_with(&self, options: GeluOptions) -> Result<Tensor<D, T>>
    where
        T: Float,
    {
        let (op, numbers) = (options.chosen(), []);
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Gelu.name())))
    }

    /// [`gelu_with`](Self::gelu_with), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin]
    pub fn try_gelu_with_(&mut self, options: GeluOptions) -> Result<&mut Self>
    where
        T: Float,
    {
        let (op, numbers) = (options.chosen(), []);
        pointwise::with_in_place(op, self.dest(), &numbers)
            .map_err(|error| error.in_op(Op::Gelu.name()))?;
        Ok(self)
    }

    /// [`logit`](Self::logit) of elements that are first brought between `eps` and one less it.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_logit_with(&self, options: LogitOptions) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let (op, numbers) = options.chosen();
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Logit.name())))
    }

    /// [`logit_with`](Self::logit_with), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin]
    pub fn try_logit_with_(&mut self, options: LogitOptions) -> Result<&mut Self>
    where
        T: Real,
        T::Float: StoreAs<T>,
    {
        let (op, numbers) = options.chosen();
        pointwise::with_in_place(op, self.dest(), &numbers)
            .map_err(|error| error.in_op(Op::Logit.name()))?;
        Ok(self)
    }

    /// Zero for NaN, the dtype's greatest and least numbers for the infinities.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin(with = "but with the given numbers.")]
    pub fn try_nan_to_num_with(&self, options: NanToNumOptions) -> Result<Tensor<D, T>> {
        let (op, numbers) = (Op::NanToNum, options.numbers(T::DTYPE));
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::NanToNum.name())))
    }

    /// [`nan_to_num`](Self::nan_to_num), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin(with = "but with the given numbers.")]
    pub fn try_nan_to_num_with_(&mut self, options: NanToNumOptions) -> Result<&mut Self> {
        let (op, numbers) = (Op::NanToNum, options.numbers(T::DTYPE));
        pointwise::with_in_place(op, self.dest(), &numbers)
            .map_err(|error| error.in_op(Op::NanToNum.name()))?;
        Ok(self)
    }

    /// `value` where an element is at most `threshold`.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_threshold<S: Into<Scalar>, V: Into<Scalar>>(
        &self,
        threshold: S,
        value: V,
    ) -> Result<Tensor<D, T>>
    where
        T: Real + Numeric,
    {
        let sides = [
            self.side(),
            OperandRef::Scalar(threshold.into()),
            OperandRef::Scalar(value.into()),
        ];
        Tensor::try_from_erased(pointwise::new(Op::Threshold, &sides, D::STATIC))
    }

    /// [`threshold`](Self::threshold), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin]
    pub fn try_threshold_<S: Into<Scalar>, V: Into<Scalar>>(
        &mut self,
        threshold: S,
        value: V,
    ) -> Result<&mut Self>
    where
        T: Real + Numeric,
    {
        let sides = [
            OperandRef::Scalar(threshold.into()),
            OperandRef::Scalar(value.into()),
        ];
        pointwise::in_place(Op::Threshold, self.dest(), &sides)?;
        Ok(self)
    }

    /// [`div`](Self::div), with the quotient rounded; integers stay integers.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows.
    #[twin]
    pub fn try_div_with<R: Operand>(
        &self,
        other: R,
        options: DivOptions,
    ) -> Result<Tensor<OutDims<R, D, T>, OutDtype<R, D, T>>>
    where
        R::Kind: Combine<D, T>,
    {
        let op = options.chosen();
        let found = pointwise::new(op, &[self.side(), other.side()], <OutDims<R, D, T>>::STATIC);
        Tensor::try_from_erased(found.map_err(|error| error.in_op("div")))
    }

    /// [`div_with`](Self::div_with), in place.
    ///
    /// # Errors
    /// Sizes, dtypes or devices that do not fit, or names that only the run time knows; then
    /// nothing has changed.
    #[twin]
    pub fn try_div_with_<R: Operand>(&mut self, other: R, options: DivOptions) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
    {
        let op = options.chosen();
        pointwise::in_place(op, self.dest(), &[other.side()])
            .map_err(|error| error.in_op("div"))?;
        Ok(self)
    }
}

// Forms in place and with an out tensor.
include!("forms.rs");

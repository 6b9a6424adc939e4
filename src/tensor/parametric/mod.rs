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
use crate::erased::{Known, OperandRef, pointwise};

/// # Elementwise operators with parameters
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`round`](Self::round), but to a number of digits; for integers only to whole numbers.
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
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_round_with(&self, options: RoundOptions) -> Result<Tensor<D, T>>
    where
        T: Real + Numeric,
    {
        let (op, numbers) = options.chosen();
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Round.name())))
    }

    /// Like [`round_with`](Self::round_with), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
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

    /// Like [`gelu`](Self::gelu), but exact or by an approximation with tanh.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_gelu_with(&self, options: GeluOptions) -> Result<Tensor<D, T>>
    where
        T: Float,
    {
        let (op, numbers) = (options.chosen(), []);
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Gelu.name())))
    }

    /// Like [`gelu_with`](Self::gelu_with), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
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

    /// Like [`logit`](Self::logit), but first clamps elements to between `eps` and `1 - eps`.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_logit_with(&self, options: LogitOptions) -> Result<Tensor<D, T::Float>>
    where
        T: Real,
    {
        let (op, numbers) = options.chosen();
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::Logit.name())))
    }

    /// Like [`logit_with`](Self::logit_with), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
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

    /// Replaces NaN by zero, and infinities by the greatest and least numbers of the dtype.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with the given numbers.")]
    pub fn try_nan_to_num_with(&self, options: NanToNumOptions) -> Result<Tensor<D, T>> {
        let (op, numbers) = (Op::NanToNum, options.numbers(T::DTYPE));
        let found = pointwise::with(op, self.erased(), &numbers);
        Tensor::try_from_erased(found.map_err(|error| error.in_op(Op::NanToNum.name())))
    }

    /// Like [`nan_to_num`](Self::nan_to_num), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
    #[twin(with = "but with the given numbers.")]
    pub fn try_nan_to_num_with_(&mut self, options: NanToNumOptions) -> Result<&mut Self> {
        let (op, numbers) = (Op::NanToNum, options.numbers(T::DTYPE));
        pointwise::with_in_place(op, self.dest(), &numbers)
            .map_err(|error| error.in_op(Op::NanToNum.name()))?;
        Ok(self)
    }

    /// Replaces elements of at most `threshold` by `value`.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
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
            self.as_operand(),
            OperandRef::Scalar(threshold.into()),
            OperandRef::Scalar(value.into()),
        ];
        Tensor::try_from_erased(pointwise::new(Op::Threshold, &sides, D::STATIC))
    }

    /// Like [`threshold`](Self::threshold), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
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

    /// Like [`div`](Self::div), but rounds the quotient; integers stay integers.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
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
        let found = pointwise::new(
            op,
            &[self.as_operand(), other.as_operand()],
            <OutDims<R, D, T>>::STATIC,
        );
        Tensor::try_from_erased(found.map_err(|error| error.in_op("div")))
    }

    /// Like [`div_with`](Self::div_with), but in place.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match. Nothing is changed
    /// in that case.
    #[twin]
    pub fn try_div_with_<R: Operand>(&mut self, other: R, options: DivOptions) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
    {
        let op = options.chosen();
        pointwise::in_place(op, self.dest(), &[other.as_operand()])
            .map_err(|error| error.in_op("div"))?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("forms.rs");

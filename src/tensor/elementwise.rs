//! Elementwise operators that are not in `generated.rs`: with options, and with three operands.
//!
//! [`Tensor::add_with`], [`Tensor::sub_with`], [`Tensor::rsub`], [`Tensor::rdiv`],
//! [`Tensor::clamp`].

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Number, Numeric, PromoteScalar, Real, Result, WithScalar};
use nomina_macros::twin;

use nomina_runtime::tensor::AddOptions;

use super::Tensor;
use super::operand::{Absorb, Combine, Operand, OutDims, OutDtype};
use crate::erased::{Known, OperandRef, done, pointwise};

/// The dims of an operator on three operands.
pub(super) type Dims3<R, S, D, T> = OutDims<S, OutDims<R, D, T>, OutDtype<R, D, T>>;
/// The common dtype of three operands.
pub(super) type Dtype3<R, S, D, T> = OutDtype<S, OutDims<R, D, T>, OutDtype<R, D, T>>;

/// # Elementwise operators
/// # Elementwise operators
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds `other` times `options.alpha`.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let (x, y) = (tensor!([1., 2.]; N), tensor!([10., 20.]; N));
    /// let z = x.add_with(&y, AddOptions { alpha: 0.5.into(), ..default() });
    /// assert_eq!(z.to_vec(), [6.0, 12.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_add_with<R: Operand>(
        &self,
        other: R,
        options: AddOptions,
    ) -> Result<Tensor<OutDims<R, D, T>, OutDtype<R, D, T>>>
    where
        R::Kind: Combine<D, T>,
    {
        let (op, out) = (Op::Add, <OutDims<R, D, T>>::STATIC);
        let sum = pointwise::add_scaled(op, self.erased(), other.as_operand(), options.alpha, out);
        Tensor::try_from_erased(pointwise::in_dtype(sum, <OutDtype<R, D, T>>::DTYPE))
    }

    /// Subtracts `other` times `options.alpha`.
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_sub_with<R: Operand>(
        &self,
        other: R,
        options: AddOptions,
    ) -> Result<Tensor<OutDims<R, D, T>, OutDtype<R, D, T>>>
    where
        R::Kind: Combine<D, T>,
    {
        let (op, out) = (Op::Sub, <OutDims<R, D, T>>::STATIC);
        let sum = pointwise::add_scaled(op, self.erased(), other.as_operand(), options.alpha, out);
        Tensor::try_from_erased(pointwise::in_dtype(sum, <OutDtype<R, D, T>>::DTYPE))
    }

    /// Subtracts this tensor from a number: `s - &x` for generic code.
    ///
    /// # Panics
    /// If the dtypes do not allow it.
    #[track_caller]
    #[must_use]
    pub fn rsub<S: Number>(&self, number: S) -> Tensor<D, WithScalar<T, S>>
    where
        T: PromoteScalar<S>,
    {
        let sides = [OperandRef::Scalar(number.into()), self.as_operand()];
        Tensor::from_erased(done(pointwise::new(Op::Sub, &sides, D::STATIC)))
    }

    /// Divides a number by this tensor: `s / &x` for generic code.
    ///
    /// # Panics
    /// If the dtypes do not allow it.
    #[track_caller]
    #[must_use]
    pub fn rdiv<S: Number>(&self, number: S) -> Tensor<D, <WithScalar<T, S> as Element>::Float>
    where
        T: PromoteScalar<S>,
    {
        let sides = [OperandRef::Scalar(number.into()), self.as_operand()];
        Tensor::from_erased(done(pointwise::new(Op::Div, &sides, D::STATIC)))
    }

    /// Clamps elements to between `min` and `max`, each a number or a tensor. NaN stays.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([-1., 0.5, 2.]; N).clamp(0.0, 1.0).to_vec(), [0.0, 0.5, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_clamp<R: Operand, S: Operand>(
        &self,
        min: R,
        max: S,
    ) -> Result<Tensor<Dims3<R, S, D, T>, Dtype3<R, S, D, T>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
        T: Real,
    {
        let (min, max) = (Some(min.as_operand()), Some(max.as_operand()));
        let clamped = pointwise::clamp(self.erased(), min, max, <Dims3<R, S, D, T>>::STATIC);
        Tensor::try_from_erased(pointwise::in_dtype(clamped, <Dtype3<R, S, D, T>>::DTYPE))
    }

    /// Like [`clamp`](Self::clamp), but in place.
    ///
    /// # Errors
    /// If sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_clamp_<R: Operand, S: Operand>(&mut self, min: R, max: S) -> Result<&mut Self>
    where
        R::Kind: Absorb<D, T>,
        S::Kind: Absorb<D, T>,
        T: Real + Numeric,
    {
        let sides = [min.as_operand(), max.as_operand()];
        pointwise::in_place(Op::Clamp, self.dest(), &sides)?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("elementwise/forms.rs");

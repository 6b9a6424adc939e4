//! Factories with an out tensor, which determines dims and dtype.
//!
//! [`Tensor::zeros_out`], [`Tensor::ones_out`], [`Tensor::empty_out`], [`Tensor::full_out`],
//! [`Tensor::eye_out`], [`Tensor::rand_out`], [`Tensor::randn_out`], [`Tensor::arange_out`].

use nomina_core::dims::{Dims, Distinct, Matrix, ShapeFor, Vector};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Result};
use nomina_macros::twin;

use super::Tensor;
use super::factory::Bound;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`zeros`](Tensor::zeros), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_zeros_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_zeros(shape);
        Tensor::store(Op::Zeros, made, out)
    }

    /// Like [`ones`](Tensor::ones), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_ones_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_ones(shape);
        Tensor::store(Op::Ones, made, out)
    }

    /// Like [`empty`](Tensor::empty), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_empty_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_empty(shape);
        Tensor::store(Op::Empty, made, out)
    }

    /// Like [`full`](Tensor::full), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_full_out<S: ShapeFor<D>>(shape: S, value: T, out: &mut Self) -> Result<()>
    where
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .try_full(shape, value.to_scalar());
        Tensor::store(Op::Full, made, out)
    }

    /// Like [`eye`](Tensor::eye), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_eye_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        D: Distinct + Matrix,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_eye(shape);
        Tensor::store(Op::Eye, made, out)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`rand`](Tensor::rand), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_rand_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        T: Float,
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_rand(shape);
        Tensor::store(Op::Rand, made, out)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`randn`](Tensor::randn), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the sizes are not those that `out` must keep. Nothing is changed in that case.
    #[twin]
    pub fn try_randn_out<S: ShapeFor<D>>(shape: S, out: &mut Self) -> Result<()>
    where
        T: Inexact,
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .device(out.device())
            .try_randn(shape);
        Tensor::store(Op::Randn, made, out)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`arange`](Self::arange), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If `step` is zero or leads away from `end`, or `out` must keep another size. Nothing is
    /// changed in that case.
    #[twin]
    pub fn try_arange_out<B: Bound<T>>(start: B, end: B, step: B, out: &mut Self) -> Result<()>
    where
        D: Distinct + Vector,
    {
        let made = Self::try_arange(start, end, step);
        let made = made.and_then(|made| made.try_to_device(out.device()));
        Tensor::store(Op::Arange, made, out)
    }
}

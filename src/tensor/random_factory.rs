//! New tensors of random numbers.
//!
//! [`Tensor::randint`], [`Tensor::randperm`], [`Tensor::normal`], [`Tensor::normal_from`].

use std::ops::RangeBounds;

use nomina_core::dims::{Broadcast, Dims, Distinct, Holds, ShapeFor, Sum, Vector};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Numeric, Real, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::random::{Distribution, Generator, range_of};

use super::Tensor;
use super::options::Options;
use crate::erased::factory::Fill;
use crate::erased::{Known, OperandRef, random, reduce};

impl<D: Dims> Tensor<D, i64> {
    /// Draws random whole numbers in a range. For other dtypes, see [`options`](Tensor::options).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let dice: Tensor<(N, C), i64> = Tensor::randint(1..=6, [2, 3]);
    /// assert!(dice.to_vec().iter().all(|eyes| (1..=6).contains(eyes)));
    /// ```
    ///
    /// # Errors
    /// If the range is empty, or memory runs out.
    #[twin]
    pub fn try_randint<S: ShapeFor<D>>(range: impl RangeBounds<i64>, shape: S) -> Result<Self>
    where
        D: Distinct,
    {
        Tensor::<D>::options()
            .dtype::<i64>()
            .try_randint(range, shape)
    }

    /// Returns the numbers from 0 to `n`, excluding `n`, in random order.
    ///
    /// # Errors
    /// If the dim has another size, or memory runs out.
    #[twin]
    pub fn try_randperm(n: usize) -> Result<Self>
    where
        D: Distinct + Vector,
    {
        Tensor::<D>::options().dtype::<i64>().try_randperm(n)
    }
}

impl<D: Dims, T: Element> Options<'_, D, T> {
    /// Like [`Tensor::randint`], in the dtype of the options.
    ///
    /// # Errors
    /// If the range is empty or the dtype does not hold it, the dims cannot have the sizes, memory runs out, or the
    /// device does not exist.
    #[twin]
    pub fn try_randint<S: ShapeFor<D>>(
        mut self,
        range: impl RangeBounds<i64>,
        shape: S,
    ) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: Real,
    {
        let (low, high) = range_of("randint", &range, T::DTYPE)?;
        let fill = Fill::Drawn(Distribution::Integers { low, high }, self.generator.take());
        self.make("randint", &shape.sizes(), fill)
    }

    /// Like [`Tensor::randperm`], in the dtype of the options.
    ///
    /// # Errors
    /// If the dtype does not hold the numbers, the dim has another size, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_randperm(mut self, n: usize) -> Result<Tensor<D, T>>
    where
        D: Distinct + Vector,
        T: Real + Numeric,
    {
        let fill = Fill::Permutation(self.generator.take());
        self.make("randperm", &[n], fill)
    }

    /// Draws normally distributed random numbers.
    ///
    /// # Errors
    /// If `std` is below zero, the dims cannot have the sizes, memory runs out, or the device does not exist.
    #[twin]
    pub fn try_normal<S: ShapeFor<D>>(
        mut self,
        mean: f64,
        std: f64,
        shape: S,
    ) -> Result<Tensor<D, T>>
    where
        D: Distinct,
        T: Inexact,
    {
        let fill = Fill::Drawn(Distribution::Normal { mean, std }, self.generator.take());
        self.make("normal", &shape.sizes(), fill)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`randint`](Tensor::randint), but writes to `out`, which is resized if it has no names.
    ///
    /// # Errors
    /// If the range is empty, the dtype does not hold it, or `out` must keep other sizes. Nothing is changed in that
    /// case.
    #[twin]
    pub fn try_randint_out<S: ShapeFor<D>>(
        range: impl RangeBounds<i64>,
        shape: S,
        out: &mut Self,
    ) -> Result<()>
    where
        T: Real,
        D: Distinct,
    {
        let made = Tensor::<D>::options()
            .dtype::<T>()
            .try_randint(range, shape);
        Tensor::store(Op::Randint, made, out)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`randperm`](Tensor::randperm), but writes to `out`, which is resized if it has no name.
    ///
    /// # Errors
    /// If the dtype does not hold the numbers, or `out` must keep another size. Nothing is changed in that case.
    #[twin]
    pub fn try_randperm_out(n: usize, out: &mut Self) -> Result<()>
    where
        T: Real + Numeric,
        D: Distinct + Vector,
    {
        let made = Tensor::<D>::options().dtype::<T>().try_randperm(n);
        Tensor::store(Op::Randperm, made, out)
    }
}

/// Means and standard deviations for [`Tensor::normal`]: two tensors whose dims unify, or a tensor
/// and a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no mean and standard deviation",
    label = "expected two tensors, or a tensor and a float",
    note = "two numbers need sizes: `Tensor::options().normal(mean, std, sizes)`"
)]
pub trait Moments {
    /// The dims of the result.
    type Dims: Dims;
    /// The dtype of the result: the first tensor's.
    type Dtype: Element;
    #[doc(hidden)]
    fn sides(&self) -> [OperandRef<'_>; 2];
}

#[diagnostic::do_not_recommend]
impl<D, E, T, U> Moments for (&Tensor<D, T>, &Tensor<E, U>)
where
    D: Dims + Broadcast<E>,
    E: Dims,
    T: Inexact,
    U: Float,
{
    type Dims = Sum<D, E>;
    type Dtype = T;
    fn sides(&self) -> [OperandRef<'_>; 2] {
        [self.0.as_operand(), self.1.as_operand()]
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Inexact> Moments for (&Tensor<D, T>, f64) {
    type Dims = D;
    type Dtype = T;
    fn sides(&self) -> [OperandRef<'_>; 2] {
        [self.0.as_operand(), OperandRef::Scalar(self.1.into())]
    }
}

#[diagnostic::do_not_recommend]
impl<D: Dims, T: Float> Moments for (f64, &Tensor<D, T>) {
    type Dims = D;
    type Dtype = T;
    fn sides(&self) -> [OperandRef<'_>; 2] {
        [OperandRef::Scalar(self.0.into()), self.1.as_operand()]
    }
}

/// # Random tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Draws normally distributed random numbers, each with its own mean and standard deviation: tensors whose dims
    /// unify, or a tensor and a number. The dtype is that of the first tensor.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let mean = Tensor::<(N, C)>::zeros([2, 3]);
    /// let x: Tensor<(N, C)> = Tensor::normal(&mean, &tensor!([1., 2., 3.]; C));
    /// assert_eq!(x.shape(), [2, 3]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or a standard deviation is below zero.
    #[twin]
    pub fn try_normal<M, S>(mean: M, std: S) -> Result<Self>
    where
        (M, S): Moments<Dims = D, Dtype = T>,
    {
        let moments = (mean, std);
        let [mean, std] = moments.sides();
        Self::try_from_erased(random::normal(mean, std, D::STATIC, None))
    }

    /// Like [`normal`](Self::normal), but draws from a generator.
    ///
    /// # Errors
    /// If sizes do not match, or a standard deviation is below zero.
    #[twin]
    pub fn try_normal_from<M, S>(mean: M, std: S, generator: &mut Generator) -> Result<Self>
    where
        (M, S): Moments<Dims = D, Dtype = T>,
    {
        let moments = (mean, std);
        let [mean, std] = moments.sides();
        Self::try_from_erased(random::normal(mean, std, D::STATIC, Some(generator)))
    }

    /// Like [`normal`](Self::normal), but writes to `out`.
    ///
    /// # Errors
    /// If sizes do not match, a standard deviation is below zero, or `out` must keep other sizes. Nothing is changed in
    /// that case.
    #[twin]
    pub fn try_normal_out<M, S, O, U>(mean: M, std: S, out: &mut Tensor<O, U>) -> Result<()>
    where
        (M, S): Moments<Dims = D, Dtype = T>,
        O: Dims + Holds<D>,
        T: StoreAs<U>,
        U: Element,
    {
        let made = Self::try_normal(mean, std)?;
        reduce::store(
            Op::Normal,
            made.erased,
            D::STATIC,
            &mut out.erased,
            O::STATIC,
        )
    }
}

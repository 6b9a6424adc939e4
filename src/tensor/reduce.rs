//! Reductions, scans and softmax beside those in `generated.rs`: with options, and what gives a
//! pair.

use std::marker::PhantomData;

use nomina_core::dims::{Axes, Dims, Has, In, NotBehindWild, OneDim, OneOrAll, Without, position};
use nomina_core::op::Op;
use nomina_core::{DType, Element, Error, ErrorKind, Inexact, Real, Result};
use nomina_runtime::call::ReduceOptions as RawOptions;

use nomina_runtime::tensor::VarOptions;

use super::{Tensor, picked};
use crate::call::{Bare, Known, ok, reduce};

/// Options of a reduction: the dtype `U` to compute in, which the result has.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N }
/// let x: Tensor<(N,), i32> = Tensor::from_array([1, 2, 4, 5]);
/// let mean = x.mean_with(N, ReduceOptions::<f64>::default());
/// assert_eq!(mean.item(), 3.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReduceOptions<U> {
    /// The dtype, as a type.
    pub dtype: PhantomData<fn() -> U>,
}

impl<U> Default for ReduceOptions<U> {
    fn default() -> Self {
        Self { dtype: PhantomData }
    }
}

/// What `max` and `min` give over the dims `A`: values and indices, or over `..` the value alone.
pub type Extremes<D, T, A> =
    <A as OneOrAll>::Found<Tensor<Without<D, A>, T>, Tensor<Without<D, A>, i64>>;

fn in_dtype(dtype: DType) -> RawOptions {
    RawOptions {
        dtype: Some(dtype),
        ..RawOptions::default()
    }
}

fn corrected(op: Op, options: VarOptions) -> Result<RawOptions> {
    if options.keepdim {
        let what = "the type says which dims stay, not `keepdim`";
        return Err(Error::new(ErrorKind::Argument, op.name(), what).hint("write `keep(..)`"));
    }
    Ok(RawOptions {
        correction: options.correction,
        ..RawOptions::default()
    })
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// What an extreme's two results become.
    fn extremes<A: OneOrAll>((values, indices): (Bare, Bare)) -> Extremes<D, T, A> {
        A::found(Tensor::wrap(values), || Tensor::wrap(indices))
    }

    /// The greatest element along a dim and where it stands; over `..`, the element alone. Over
    /// several dims, see [`amax`](Self::amax).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 5.], [7., 2.]]; N, C);
    /// let (values, indices) = x.max(C);
    /// assert_eq!((values.to_vec(), indices.to_vec()), (vec![5.0, 7.0], vec![1, 0]));
    /// assert_eq!(x.max(..).item(), 7.0);
    /// ```
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn max<A: OneOrAll>(&self, dim: A) -> Extremes<D, T, A>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let found = reduce::extreme(
            Op::Max,
            self.look(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Self::extremes::<A>(ok(found))
    }

    /// [`max`](Self::max) that returns the error.
    ///
    /// # Errors
    /// A dim without elements.
    pub fn try_max<A: OneOrAll>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let found = reduce::extreme(
            Op::Max,
            self.look(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Ok(Self::extremes::<A>(found?))
    }

    /// The smallest element along a dim and where it stands; over `..`, the element alone. Over
    /// several dims, see [`amin`](Self::amin).
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn min<A: OneOrAll>(&self, dim: A) -> Extremes<D, T, A>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let found = reduce::extreme(
            Op::Min,
            self.look(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Self::extremes::<A>(ok(found))
    }

    /// [`min`](Self::min) that returns the error.
    ///
    /// # Errors
    /// A dim without elements.
    pub fn try_min<A: OneOrAll>(&self, dim: A) -> Result<Extremes<D, T, A>>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let found = reduce::extreme(
            Op::Min,
            self.look(),
            picked::<A, D>(&dim),
            <Without<D, A>>::STATIC,
        );
        Ok(Self::extremes::<A>(found?))
    }

    /// Where the greatest element stands along a dim; over `..`, in row-major order.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn argmax<A: OneOrAll>(&self, dim: A) -> Tensor<Without<D, A>, i64>
    where
        A::Checked: In<D>,
        T: Real,
    {
        ok(self.try_argmax(dim))
    }

    /// [`argmax`](Self::argmax) that returns the error.
    ///
    /// # Errors
    /// A dim without elements.
    pub fn try_argmax<A: OneOrAll>(&self, dim: A) -> Result<Tensor<Without<D, A>, i64>>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let picked = picked::<A, D>(&dim);
        Tensor::give(reduce::place(
            Op::Argmax,
            self.look(),
            picked,
            <Without<D, A>>::STATIC,
        ))
    }

    /// Where the smallest element stands along a dim; over `..`, in row-major order.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn argmin<A: OneOrAll>(&self, dim: A) -> Tensor<Without<D, A>, i64>
    where
        A::Checked: In<D>,
        T: Real,
    {
        ok(self.try_argmin(dim))
    }

    /// [`argmin`](Self::argmin) that returns the error.
    ///
    /// # Errors
    /// A dim without elements.
    pub fn try_argmin<A: OneOrAll>(&self, dim: A) -> Result<Tensor<Without<D, A>, i64>>
    where
        A::Checked: In<D>,
        T: Real,
    {
        let picked = picked::<A, D>(&dim);
        Tensor::give(reduce::place(
            Op::Argmin,
            self.look(),
            picked,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`sum`](Self::sum), computed in and giving the dtype of the options.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn sum_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Tensor<Without<D, A>, U>
    where
        A::Checked: In<D>,
    {
        ok(self.try_sum_with(dims, options))
    }

    /// [`sum_with`](Self::sum_with) that returns the error.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    pub fn try_sum_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>>
    where
        A::Checked: In<D>,
    {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::give(reduce::new(
            Op::Sum,
            self.look(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`mean`](Self::mean), computed in and giving the dtype of the options.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn mean_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Tensor<Without<D, A>, U>
    where
        A::Checked: In<D>,
    {
        ok(self.try_mean_with(dims, options))
    }

    /// [`mean_with`](Self::mean_with) that returns the error.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    pub fn try_mean_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>>
    where
        A::Checked: In<D>,
    {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::give(reduce::new(
            Op::Mean,
            self.look(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`prod`](Self::prod), computed in and giving the dtype of the options.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn prod_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Tensor<Without<D, A>, U>
    where
        A::Checked: In<D>,
    {
        ok(self.try_prod_with(dims, options))
    }

    /// [`prod_with`](Self::prod_with) that returns the error.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    pub fn try_prod_with<A: Axes, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>>
    where
        A::Checked: In<D>,
    {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::give(reduce::new(
            Op::Prod,
            self.look(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`var`](Self::var) with a correction other than 1.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., 3.]; N);
    /// assert_eq!(x.var(N).item(), 2.0);
    /// assert_eq!(x.var_with(N, VarOptions { correction: 0.0, ..default() }).item(), 1.0);
    /// ```
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn var_with<A: Axes>(&self, dims: A, options: VarOptions) -> Tensor<Without<D, A>, T::Real>
    where
        A::Checked: In<D>,
        T: Inexact,
    {
        ok(self.try_var_with(dims, options))
    }

    /// [`var_with`](Self::var_with) that returns the error.
    ///
    /// # Errors
    /// A device that is not there.
    pub fn try_var_with<A: Axes>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T::Real>>
    where
        A::Checked: In<D>,
        T: Inexact,
    {
        let (picked, options) = (picked::<A, D>(&dims), corrected(Op::Var, options)?);
        Tensor::give(reduce::new(
            Op::Var,
            self.look(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`std`](Self::std) with a correction other than 1.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn std_with<A: Axes>(&self, dims: A, options: VarOptions) -> Tensor<Without<D, A>, T::Real>
    where
        A::Checked: In<D>,
        T: Inexact,
    {
        ok(self.try_std_with(dims, options))
    }

    /// [`std_with`](Self::std_with) that returns the error.
    ///
    /// # Errors
    /// A device that is not there.
    pub fn try_std_with<A: Axes>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T::Real>>
    where
        A::Checked: In<D>,
        T: Inexact,
    {
        let (picked, options) = (picked::<A, D>(&dims), corrected(Op::Std, options)?);
        Tensor::give(reduce::new(
            Op::Std,
            self.look(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`softmax`](Self::softmax), computed in and giving the dtype of the options.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn softmax_with<X: OneDim, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Tensor<D, U>
    where
        D: NotBehindWild<X> + Has<X>,
    {
        let _ = (dim, options);
        let at = position::<X, D>();
        ok(Tensor::give(reduce::softmax(
            Op::Softmax,
            self.look(),
            at,
            Some(U::DTYPE),
        )))
    }

    /// [`cumsum`](Self::cumsum), computed in and giving the dtype of the options.
    ///
    /// # Panics
    /// With the text of the error that the `try_` form returns.
    #[track_caller]
    #[must_use]
    pub fn cumsum_with<X: OneDim, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Tensor<D, U>
    where
        D: NotBehindWild<X> + Has<X>,
    {
        let _ = (dim, options);
        let at = position::<X, D>();
        ok(Tensor::give(reduce::scan(
            Op::Cumsum,
            self.look(),
            at,
            Some(U::DTYPE),
        )))
    }
}

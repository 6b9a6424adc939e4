//! Reductions, scans and softmax beside those in `generated.rs`: with options, and what gives a
//! pair.
//!
//! [`Tensor::sum_with`], [`Tensor::mean_with`], [`Tensor::prod_with`], [`Tensor::var_with`],
//! [`Tensor::std_with`], [`Tensor::nanvar_with`], [`Tensor::nanstd_with`], [`Tensor::softmax_with`], [`Tensor::cumsum_with`].

use std::marker::PhantomData;

use nomina_core::dims::{AxesOf, DimOf, Dims, Without, position};
use nomina_core::op::Op;
use nomina_core::{DType, Element, Error, ErrorKind, Float, Inexact, Result};
use nomina_macros::twin;
use nomina_runtime::call::ReduceOptions as RawOptions;

use nomina_runtime::tensor::VarOptions;

use super::{Tensor, picked};
use crate::call::{Erased, Known, reduce};

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
    fn corrected<A: AxesOf<D>>(&self, op: Op, dims: &A, options: VarOptions) -> Result<Erased> {
        let options = corrected(op, options)?;
        let (picked, out) = (picked::<A, D>(dims), <Without<D, A>>::STATIC);
        reduce::new(op, self.erased(), picked, options, out)
    }
}

/// # Reductions
impl<D: Dims, T: Element> Tensor<D, T> {
    /// [`sum`](Self::sum), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_sum_with<A: AxesOf<D>, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>> {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::try_from_erased(reduce::new(
            Op::Sum,
            self.erased(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`mean`](Self::mean), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_mean_with<A: AxesOf<D>, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>> {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::try_from_erased(reduce::new(
            Op::Mean,
            self.erased(),
            picked,
            options,
            <Without<D, A>>::STATIC,
        ))
    }

    /// [`prod`](Self::prod), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_prod_with<A: AxesOf<D>, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>> {
        let _ = options;
        let (picked, options) = (picked::<A, D>(&dims), in_dtype(U::DTYPE));
        Tensor::try_from_erased(reduce::new(
            Op::Prod,
            self.erased(),
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
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_var_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T::Real>>
    where
        T: Inexact,
    {
        Tensor::try_from_erased(self.corrected(Op::Var, &dims, options))
    }

    /// [`std`](Self::std) with a correction other than 1.
    ///
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_std_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T::Real>>
    where
        T: Inexact,
    {
        Tensor::try_from_erased(self.corrected(Op::Std, &dims, options))
    }

    /// [`nanvar`](Self::nanvar) with a correction other than 1.
    ///
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_nanvar_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        Tensor::try_from_erased(self.corrected(Op::Nanvar, &dims, options))
    }

    /// [`nanstd`](Self::nanstd) with a correction other than 1.
    ///
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_nanstd_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<Tensor<Without<D, A>, T>>
    where
        T: Float,
    {
        Tensor::try_from_erased(self.corrected(Op::Nanstd, &dims, options))
    }

    /// [`softmax`](Self::softmax), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_softmax_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = (dim, options);
        let at = position::<X, D>();
        Tensor::try_from_erased(reduce::softmax(
            Op::Softmax,
            self.erased(),
            at,
            Some(U::DTYPE),
        ))
    }

    /// [`cumsum`](Self::cumsum), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_cumsum_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = (dim, options);
        let at = position::<X, D>();
        Tensor::try_from_erased(reduce::scan(Op::Cumsum, self.erased(), at, Some(U::DTYPE)))
    }
}

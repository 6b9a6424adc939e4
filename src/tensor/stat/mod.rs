//! Statistics: norms, moments in pairs, running results with options.
//!
//! [`Tensor::std_mean`], [`Tensor::var_mean`], [`Tensor::aminmax`], [`Tensor::norm_with`],
//! [`Tensor::dist`], [`Tensor::cumprod_with`], [`Tensor::logcumsumexp_with`],
//! [`Tensor::log_softmax_with`], [`Tensor::softmin_with`], [`Tensor::nansum_with`],
//! [`Tensor::nanmean_with`].

pub mod along;

use nomina_core::dims::{AxesOf, Broadcast, DimOf, Dims, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Inexact, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{NormOptions, VarOptions};

use super::{ReduceOptions, Tensor, at, picked};
use crate::call::{Known, reduce, stat};
pub use along::CovOptions;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// The standard deviation over dims, divided by the count less one, and the mean.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 3.], [2., 6.]]; N, C);
    /// let (var, mean) = x.var_mean(C);
    /// assert_eq!((var.to_vec(), mean.to_vec()), (vec![2.0, 8.0], vec![2.0, 4.0]));
    /// ```
    ///
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_std_mean<A: AxesOf<D>>(
        &self,
        dims: A,
    ) -> Result<(Tensor<Without<D, A>, T::Real>, Tensor<Without<D, A>, T>)>
    where
        T: Inexact,
    {
        self.try_std_mean_with(dims, VarOptions::default())
    }

    /// [`std_mean`](Self::std_mean) with a correction other than 1.
    ///
    /// # Errors
    /// `keepdim`, which the type says: write `keep(..)`.
    #[twin]
    pub fn try_std_mean_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<(Tensor<Without<D, A>, T::Real>, Tensor<Without<D, A>, T>)>
    where
        T: Inexact,
    {
        let out = <Without<D, A>>::STATIC;
        let found = stat::moments(
            Op::StdMean,
            self.erased(),
            picked::<A, D>(&dims),
            options,
            out,
        )?;
        Ok((Tensor::from_erased(found.0), Tensor::from_erased(found.1)))
    }

    /// The variance over dims, divided by the count less one, and the mean.
    ///
    /// # Errors
    /// A device that is not there.
    #[twin]
    pub fn try_var_mean<A: AxesOf<D>>(
        &self,
        dims: A,
    ) -> Result<(Tensor<Without<D, A>, T::Real>, Tensor<Without<D, A>, T>)>
    where
        T: Inexact,
    {
        self.try_var_mean_with(dims, VarOptions::default())
    }

    /// [`var_mean`](Self::var_mean) with a correction other than 1.
    ///
    /// # Errors
    /// `keepdim`, which the type says: write `keep(..)`.
    #[twin]
    pub fn try_var_mean_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: VarOptions,
    ) -> Result<(Tensor<Without<D, A>, T::Real>, Tensor<Without<D, A>, T>)>
    where
        T: Inexact,
    {
        let out = <Without<D, A>>::STATIC;
        let found = stat::moments(
            Op::VarMean,
            self.erased(),
            picked::<A, D>(&dims),
            options,
            out,
        )?;
        Ok((Tensor::from_erased(found.0), Tensor::from_erased(found.1)))
    }

    /// The smallest element over dims, and the greatest.
    ///
    /// # Errors
    /// A dim without elements.
    #[twin]
    pub fn try_aminmax<A: AxesOf<D>>(
        &self,
        dims: A,
    ) -> Result<(Tensor<Without<D, A>, T>, Tensor<Without<D, A>, T>)>
    where
        T: Real,
    {
        let out = <Without<D, A>>::STATIC;
        let found = stat::aminmax(self.erased(), picked::<A, D>(&dims), out)?;
        Ok((Tensor::from_erased(found.0), Tensor::from_erased(found.1)))
    }

    /// [`norm`](Self::norm) of another degree: 1, infinity, 0 for the count of what is not zero.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[3., 4.], [-6., 8.]]; N, C);
    /// assert_eq!(x.norm(C).to_vec(), [5.0, 10.0]);
    /// assert_eq!(x.norm_with(C, NormOptions { p: 1.0, ..default() }).to_vec(), [7.0, 14.0]);
    /// ```
    ///
    /// # Errors
    /// `keepdim` or a dtype, which the type says; the greatest or smallest of no elements.
    #[twin]
    pub fn try_norm_with<A: AxesOf<D>>(
        &self,
        dims: A,
        options: NormOptions,
    ) -> Result<Tensor<Without<D, A>, T::Real>>
    where
        T: Inexact,
    {
        let out = <Without<D, A>>::STATIC;
        let picked = picked::<A, D>(&dims);
        Tensor::try_from_erased(stat::norm(self.erased(), picked, options, out))
    }

    /// The Euclidean norm of the difference, as one number. Dims unify from the right.
    ///
    /// # Errors
    /// Sizes that do not broadcast.
    #[twin]
    pub fn try_dist<E: Dims>(&self, other: &Tensor<E, T>) -> Result<Tensor<(), T::Real>>
    where
        D: Broadcast<E>,
        T: Inexact,
    {
        self.try_dist_with(other, NormOptions::default())
    }

    /// [`dist`](Self::dist) of another degree.
    ///
    /// # Errors
    /// Sizes that do not broadcast; a dtype, which the type says.
    #[twin]
    pub fn try_dist_with<E: Dims>(
        &self,
        other: &Tensor<E, T>,
        options: NormOptions,
    ) -> Result<Tensor<(), T::Real>>
    where
        D: Broadcast<E>,
        T: Inexact,
    {
        Tensor::try_from_erased(stat::dist(self.erased(), other.erased(), options))
    }

    /// [`cumprod`](Self::cumprod), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_cumprod_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = options;
        let dim = at(&dim, self);
        Tensor::try_from_erased(reduce::scan(
            Op::Cumprod,
            self.erased(),
            dim,
            Some(U::DTYPE),
        ))
    }

    /// [`logcumsumexp`](Self::logcumsumexp), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_logcumsumexp_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = options;
        let dim = at(&dim, self);
        Tensor::try_from_erased(reduce::scan(
            Op::Logcumsumexp,
            self.erased(),
            dim,
            Some(U::DTYPE),
        ))
    }

    /// [`log_softmax`](Self::log_softmax), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_log_softmax_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = options;
        let dim = at(&dim, self);
        Tensor::try_from_erased(reduce::softmax(
            Op::LogSoftmax,
            self.erased(),
            dim,
            Some(U::DTYPE),
        ))
    }

    /// [`softmin`](Self::softmin), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_softmin_with<X: DimOf<D>, U: Element>(
        &self,
        dim: X,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<D, U>> {
        let _ = options;
        let dim = at(&dim, self);
        Tensor::try_from_erased(reduce::softmax(
            Op::Softmin,
            self.erased(),
            dim,
            Some(U::DTYPE),
        ))
    }

    /// [`nansum`](Self::nansum), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_nansum_with<A: AxesOf<D>, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>> {
        let _ = options;
        let (picked, out) = (picked::<A, D>(&dims), <Without<D, A>>::STATIC);
        let found = reduce::new(
            Op::Nansum,
            self.erased(),
            picked,
            stat::in_dtype(U::DTYPE),
            out,
        );
        Tensor::try_from_erased(found)
    }

    /// [`nanmean`](Self::nanmean), computed in and giving the dtype of the options.
    ///
    /// # Errors
    /// A dtype that the operator does not take.
    #[twin]
    pub fn try_nanmean_with<A: AxesOf<D>, U: Element>(
        &self,
        dims: A,
        options: ReduceOptions<U>,
    ) -> Result<Tensor<Without<D, A>, U>> {
        let _ = options;
        let (picked, out) = (picked::<A, D>(&dims), <Without<D, A>>::STATIC);
        let found = reduce::new(
            Op::Nanmean,
            self.erased(),
            picked,
            stat::in_dtype(U::DTYPE),
            out,
        );
        Tensor::try_from_erased(found)
    }
}

include!("forms.rs");

//! Statistics: norms, pairs of moments.
//!
//! [`Tensor::std_mean`], [`Tensor::var_mean`], [`Tensor::aminmax`], [`Tensor::norm_with`],
//! [`Tensor::dist`].

pub mod along;

use nomina_core::dims::{AxesOf, Broadcast, Dims, Without};
use nomina_core::op::Op;
use nomina_core::{Element, Inexact, Real, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{NormOptions, VarOptions};

use super::{Tensor, picked};
use crate::erased::{Known, stat};
pub use along::CovOptions;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the standard deviation over dims, with the number of elements minus 1 as divisor,
    /// and the mean.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 3.], [2., 6.]]; N, C);
    /// let (var, mean) = x.var_mean(C);
    /// assert_eq!((var.to_vec(), mean.to_vec()), (vec![2.0, 8.0], vec![2.0, 4.0]));
    /// let all = VarOptions { correction: 0.0, ..default() };
    /// assert_eq!(x.var_with(C, all).to_vec(), [1.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// If `options.keepdim` is set: the type determines it, so write `keep(..)`.
    #[twin(with = "but with the correction of the options instead of 1.")]
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

    /// Computes the variance over dims, with the number of elements minus 1 as divisor, and the
    /// mean.
    ///
    /// # Errors
    /// If `options.keepdim` is set: the type determines it, so write `keep(..)`.
    #[twin(with = "but with the correction of the options instead of 1.")]
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

    /// Returns the smallest and the greatest element over dims.
    ///
    /// # Errors
    /// If the dim has no elements.
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

    /// Like [`norm`](Self::norm), but of another degree: 1, infinity, or 0 for the number of
    /// elements that differ from zero.
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
    /// If `options.keepdim` or `options.dtype` is set, since the type determines them, or for the
    /// greatest or smallest of no elements.
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

    /// Computes the Euclidean norm of the difference, as one number. Dims unify from the right.
    ///
    /// # Errors
    /// If sizes do not broadcast, or `options.dtype` is set: the type determines it.
    #[twin(with = "but with the degree `options.p`.")]
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
}

include!("forms.rs");

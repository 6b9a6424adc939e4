//! Statistics: norms, moments in pairs.
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
use crate::call::{Known, stat};
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
    /// let all = VarOptions { correction: 0.0, ..default() };
    /// assert_eq!(x.var_with(C, all).to_vec(), [1.0, 4.0]);
    /// ```
    ///
    /// # Errors
    /// The option `keepdim`, which the type says: write `keep(..)`.
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

    /// The variance over dims, divided by the count less one, and the mean.
    ///
    /// # Errors
    /// The option `keepdim`, which the type says: write `keep(..)`.
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
    /// Sizes that do not broadcast; the option `dtype`, which the type says.
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

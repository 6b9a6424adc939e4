//! Random samples: new tensors whose elements are drawn from individual distributions.
//!
//! [`Tensor::bernoulli`], [`Tensor::bernoulli_from`], [`Tensor::poisson`],
//! [`Tensor::poisson_from`], [`Tensor::rand_like_from`], [`Tensor::randn_like_from`],
//! [`Tensor::randint_like`], [`Tensor::randint_like_from`], [`Tensor::multinomial`],
//! [`Tensor::multinomial_from`].

use std::ops::RangeBounds;

use nomina_core::dims::{DimOf, Dims, Holds, Resizable, SizeOf};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, MemoryFormat, Real, Result, StoreAs};
use nomina_macros::twin;
use nomina_runtime::call;
use nomina_runtime::random::{Distribution, Generator, range_of};
use nomina_runtime::tensor::MultinomialOptions;

use super::{Tensor, at};
use crate::erased::factory::{self, Fill};
use crate::erased::random;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Draws ones with this tensor's elements as probabilities, and zeros otherwise.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([0., 1.]; N).bernoulli().to_vec(), [0.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If an element is not a probability.
    #[twin(from)]
    pub fn try_bernoulli_from(&self, generator: Option<&mut Generator>) -> Result<Self>
    where
        T: Float,
    {
        Tensor::try_from_erased(random::sample(self.erased(), generator, call::bernoulli))
    }

    /// Draws Poisson-distributed random numbers with this tensor's elements as rates.
    ///
    /// # Errors
    /// If a rate is below zero.
    #[twin(from)]
    pub fn try_poisson_from(&self, generator: Option<&mut Generator>) -> Result<Self>
    where
        T: Float,
    {
        Tensor::try_from_erased(random::sample(self.erased(), generator, call::poisson))
    }

    /// Draws uniform random numbers in the sizes, names, dtype and memory order of this tensor,
    /// from a generator.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_rand_like_from(&self, generator: &mut Generator) -> Result<Self>
    where
        T: Float,
    {
        let fill = Fill::Uniform(Some(generator));
        Self::try_from_erased(factory::like(
            "rand_like",
            self.erased(),
            fill,
            None,
            MemoryFormat::Preserve,
        ))
    }

    /// Draws normal random numbers in the sizes, names, dtype and memory order of this tensor, from
    /// a generator.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_randn_like_from(&self, generator: &mut Generator) -> Result<Self>
    where
        T: Inexact,
    {
        let fill = Fill::Normal(Some(generator));
        Self::try_from_erased(factory::like(
            "randn_like",
            self.erased(),
            fill,
            None,
            MemoryFormat::Preserve,
        ))
    }

    /// Draws random whole numbers of a range in the sizes, names, dtype and memory order of this
    /// tensor.
    ///
    /// # Errors
    /// If the range is empty, or the dtype does not hold it.
    #[twin(from)]
    pub fn try_randint_like_from(
        &self,
        range: impl RangeBounds<i64>,
        generator: Option<&mut Generator>,
    ) -> Result<Self>
    where
        T: Real,
    {
        let fill = range_of("randint_like", &range, T::DTYPE)
            .map(|(low, high)| Fill::Drawn(Distribution::Integers { low, high }, generator));
        let keep = MemoryFormat::Preserve;
        Tensor::try_from_erased(
            fill.and_then(|fill| factory::like("randint_like", self.erased(), fill, None, keep)),
        )
    }

    /// Draws `num_samples` distinct indices along a dim with this tensor's elements as weights; the
    /// dim then has that size.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let weights = tensor!([[0., 3., 0., 1.]]; N, C);
    /// assert_eq!(weights.multinomial(2, C).sum(C).to_vec(), [1 + 3]);
    /// ```
    ///
    /// # Errors
    /// If a weight is below zero or not finite, or too few are above zero.
    #[twin(with = "but with options.")]
    pub fn try_multinomial_with<X: DimOf<D>>(
        &self,
        num_samples: usize,
        dim: X,
        options: MultinomialOptions,
    ) -> Result<Tensor<D, i64>>
    where
        T: Float,
        SizeOf<X>: Resizable<X>,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(random::sample(self.erased(), None, |x, g| {
            call::multinomial(x, at, num_samples, options.replacement, g)
        }))
    }

    /// Like [`multinomial`](Self::multinomial), but with options and from a generator.
    ///
    /// # Errors
    /// If a weight is below zero or not finite, or too few are above zero.
    #[twin]
    pub fn try_multinomial_from<X: DimOf<D>>(
        &self,
        num_samples: usize,
        dim: X,
        options: MultinomialOptions,
        generator: &mut Generator,
    ) -> Result<Tensor<D, i64>>
    where
        T: Float,
        SizeOf<X>: Resizable<X>,
    {
        let at = at(&dim, self);
        Tensor::try_from_erased(random::sample(self.erased(), Some(generator), |x, g| {
            call::multinomial(x, at, num_samples, options.replacement, g)
        }))
    }
}

// The forms in place and with an out tensor.
include!("sample/forms.rs");

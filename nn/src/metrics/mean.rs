//! Running means, and perplexity.

use std::marker::PhantomData;

use nomina::dims::{DimOf, Dims, OneDim, Without};
use nomina::dynamic::{CrossEntropyOptions, Reduction};
use nomina::{DType, Float, IndexElement, Real, Result, Tensor, no_grad};
use nomina_macros::twin;

use super::numbers::{IGNORED, check_alike, integers, numbers};

/// A running mean, weighted by counts.
///
/// ```
/// use nomina_nn::metrics::Mean;
/// let mut loss = Mean::default();
/// loss.update(0.5_f32, 64);         // the mean of 64 samples
/// loss.update(1.0_f32, 32);
/// assert!((loss.value() - 2.0 / 3.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    /// Adds the mean of `count` numbers.
    pub fn update(&mut self, mean: impl Into<f64>, count: usize) {
        self.sum += mean.into() * count as f64;
        self.count += count as f64;
    }

    /// Adds a number with a weight.
    pub fn update_weighted(&mut self, value: impl Into<f64>, weight: f64) {
        self.sum += value.into() * weight;
        self.count += weight;
    }

    /// Adds all elements of a tensor.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_update_all<D: Dims, T: Real>(&mut self, values: &Tensor<D, T>) -> Result<()> {
        let values = numbers(&values.to_dyn())?;
        self.sum += values.iter().sum::<f64>();
        self.count += values.len() as f64;
        Ok(())
    }

    /// Returns the mean.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.sum / self.count
    }

    /// Returns the sum of the weights.
    #[must_use]
    pub fn count(&self) -> f64 {
        self.count
    }

    /// Adds the sums of another thread or rank.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.count += other.count;
    }

    /// Forgets all numbers.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

/// The exponential of the mean cross entropy of logits along the dim `C`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::metrics::Perplexity;
/// dims! { N, T, Word }
/// let mut perplexity = Perplexity::new(Word);
/// let guess = Tensor::<(N, T, Word)>::zeros([2, 3, 50]);
/// perplexity.update(&guess, &tensor!([[1, 2, 3], [4, -100, -100]]; N, T));   // -100 is padding
/// assert!((perplexity.value() - 50.0).abs() < 1e-3);
/// assert_eq!(perplexity.entropy().count(), 4.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Perplexity<C> {
    ignored: i64,
    entropy: Mean,
    dim: PhantomData<C>,
}

impl<C: OneDim> Perplexity<C> {
    /// Creates the metric for logits along `dim`.
    #[must_use]
    pub fn new(dim: C) -> Self {
        let _ = dim;
        Self {
            ignored: IGNORED,
            entropy: Mean::default(),
            dim: PhantomData,
        }
    }

    /// Sets the label that is not counted; -100 by default.
    #[must_use]
    pub fn ignoring(mut self, label: i64) -> Self {
        self.ignored = label;
        self
    }

    /// Adds a batch of logits and labels. Logits of 16 bits are converted to `f32`.
    ///
    /// # Errors
    /// If sizes differ, or a label is out of range. Nothing is added then.
    #[twin]
    pub fn try_update<D: Dims, T: Float, I: IndexElement>(
        &mut self,
        logits: &Tensor<D, T>,
        labels: &Tensor<Without<D, C>, I>,
    ) -> Result<()>
    where
        C: DimOf<D>,
    {
        let (mut logits, labels) = (logits.to_dyn(), labels.to_dyn());
        let losses = no_grad(|| {
            if [DType::F16, DType::BF16].contains(&T::DTYPE) {
                logits = logits.to_dtype(DType::F32)?;
            }
            let options = CrossEntropyOptions {
                ignore_index: self.ignored,
                ..CrossEntropyOptions::default()
            };
            logits.cross_entropy_with(&labels, C::default(), Reduction::None, options)
        })?;
        check_alike("Perplexity", &losses, &labels)?;
        let labels = integers(&labels)?;
        // An ignored label has a loss of 0.
        let sum = numbers(&losses)?.iter().sum::<f64>();
        let count = labels
            .iter()
            .filter(|&&label| label != self.ignored)
            .count();
        self.entropy.sum += sum;
        self.entropy.count += count as f64;
        Ok(())
    }

    /// Adds a batch of `count` labels by its mean cross entropy.
    pub fn update_loss(&mut self, loss: impl Into<f64>, count: usize) {
        self.entropy.update(loss, count);
    }

    /// Returns the perplexity.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.entropy.value().exp()
    }

    /// Returns the mean cross entropy.
    #[must_use]
    pub fn entropy(&self) -> Mean {
        self.entropy
    }

    /// Adds the sums of another thread or rank.
    pub fn merge(&mut self, other: &Self) {
        self.entropy.merge(&other.entropy);
    }

    /// Forgets all batches.
    pub fn reset(&mut self) {
        self.entropy.reset();
    }
}

//! Accuracy.

use std::marker::PhantomData;

use nomina::dims::{DimOf, Dims, OneDim, Without};
use nomina::{IndexElement, Real, Result, Tensor, no_grad};
use nomina_macros::twin;

use super::numbers::{IGNORED, check_alike, integers};

/// The share of labels that are among the `k` greatest scores along the dim `C`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::metrics::Accuracy;
/// dims! { N, T, Class }
/// let mut accuracy = Accuracy::new(Class).ignoring(0);
/// let scores = tensor!([[[0., 2., 1.], [0., 1., 2.]]]; N, T, Class);
/// accuracy.update(&scores, &tensor!([[1, 1]]; N, T));
/// accuracy.update(&scores, &tensor!([[1, 0]]; N, T));      // 0 is padding
/// assert_eq!((accuracy.value(), accuracy.count()), (2.0 / 3.0, 3));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Accuracy<C> {
    k: usize,
    ignored: i64,
    right: u64,
    count: u64,
    dim: PhantomData<C>,
}

impl<C: OneDim> Accuracy<C> {
    /// Creates the metric for the greatest score along `dim`.
    #[must_use]
    pub fn new(dim: C) -> Self {
        Self::top(1, dim)
    }

    /// Creates the metric for the `k` greatest scores along `dim`.
    #[must_use]
    pub fn top(k: usize, dim: C) -> Self {
        let _ = dim;
        Self {
            k,
            ignored: IGNORED,
            right: 0,
            count: 0,
            dim: PhantomData,
        }
    }

    /// Sets the label that is not counted; -100 by default.
    #[must_use]
    pub fn ignoring(mut self, label: i64) -> Self {
        self.ignored = label;
        self
    }

    /// Counts a batch.
    ///
    /// # Errors
    /// If sizes differ, or there are fewer than `k` classes. Nothing is counted then.
    #[twin]
    pub fn try_update<D: Dims, T: Real, I: IndexElement>(
        &mut self,
        scores: &Tensor<D, T>,
        labels: &Tensor<Without<D, C>, I>,
    ) -> Result<()>
    where
        C: DimOf<D>,
    {
        let (scores, labels) = (scores.to_dyn(), labels.to_dyn());
        let best = no_grad(|| {
            if self.k == 1 {
                return Ok(vec![scores.argmax(C::default())?]);
            }
            let (_, places) = scores.topk(self.k as i64, C::default())?;
            places.unbind(C::default())
        })?;
        let best = best.iter().map(|places| {
            check_alike("Accuracy", places, &labels)?;
            integers(places)
        });
        let best = best.collect::<Result<Vec<_>>>()?;
        for (at, label) in integers(&labels)?.into_iter().enumerate() {
            if label != self.ignored {
                self.count += 1;
                self.right += u64::from(best.iter().any(|places| places[at] == label));
            }
        }
        Ok(())
    }

    /// Returns the share of all labels so far, from 0 to 1.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.right as f64 / self.count as f64
    }

    /// Returns the number of labels so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds the counts of another thread or rank.
    pub fn merge(&mut self, other: &Self) {
        self.right += other.right;
        self.count += other.count;
    }

    /// Forgets all batches.
    pub fn reset(&mut self) {
        (self.right, self.count) = (0, 0);
    }
}

//! Errors of predicted numbers.

use nomina::dims::Dims;
use nomina::{Real, Result, Tensor};
use nomina_macros::twin;

use super::numbers::{check_alike, numbers};

/// Mean absolute error, mean squared error and R² of predicted numbers.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::metrics::RegressionErrors;
/// dims! { N }
/// let mut errors = RegressionErrors::default();
/// errors.update(&tensor!([2.5, 0.0]; N), &tensor!([3.0, -0.5]; N));      // predictions, targets
/// errors.update(&tensor!([2.0, 8.0]; N), &tensor!([2.0, 7.0]; N));
/// assert_eq!((errors.mean_absolute(), errors.mean_squared()), (0.5, 0.375));
/// assert!((errors.r2() - 0.9486).abs() < 1e-4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RegressionErrors {
    count: f64,
    absolute: f64,
    squared: f64,
    /// The mean of the targets, and the sum of their squared deviations from it.
    mean: f64,
    deviation: f64,
}

impl RegressionErrors {
    /// Adds a batch of predictions and targets, of the same dims.
    ///
    /// # Errors
    /// If sizes differ. Nothing is added then.
    #[twin]
    pub fn try_update<D: Dims, T: Real, U: Real>(
        &mut self,
        predictions: &Tensor<D, T>,
        targets: &Tensor<D, U>,
    ) -> Result<()> {
        let (predictions, targets) = (predictions.to_dyn(), targets.to_dyn());
        check_alike("RegressionErrors", &predictions, &targets)?;
        let targets = numbers(&targets)?;
        let mut batch = Self {
            count: targets.len() as f64,
            ..Self::default()
        };
        batch.mean = targets.iter().sum::<f64>() / batch.count.max(1.0);
        for (prediction, target) in numbers(&predictions)?.into_iter().zip(targets) {
            let error = prediction - target;
            batch.absolute += error.abs();
            batch.squared += error * error;
            batch.deviation += (target - batch.mean).powi(2);
        }
        self.merge(&batch);
        Ok(())
    }

    /// Returns the number of targets.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count as u64
    }

    /// Returns the mean absolute error.
    #[must_use]
    pub fn mean_absolute(&self) -> f64 {
        self.absolute / self.count
    }

    /// Returns the mean squared error.
    #[must_use]
    pub fn mean_squared(&self) -> f64 {
        self.squared / self.count
    }

    /// Returns the root of the mean squared error.
    #[must_use]
    pub fn root_mean_squared(&self) -> f64 {
        self.mean_squared().sqrt()
    }

    /// Returns R², the share of the targets' variance that the predictions explain: 1 for perfect predictions, 0 for
    /// those no better than the mean, NaN for fewer than two targets. If all targets are equal, it is 1 for perfect
    /// predictions and 0 for others.
    #[must_use]
    pub fn r2(&self) -> f64 {
        if self.count < 2.0 {
            f64::NAN
        } else if self.deviation > 0.0 {
            1.0 - self.squared / self.deviation
        } else {
            f64::from(u8::from(self.squared == 0.0))
        }
    }

    /// Adds the sums of another thread or rank. Deviations are combined without cancellation (Chan, Golub and LeVeque,
    /// 1979).
    pub fn merge(&mut self, other: &Self) {
        let count = self.count + other.count;
        if count == 0.0 {
            return;
        }
        let apart = other.mean - self.mean;
        self.deviation += other.deviation + apart * apart * self.count * other.count / count;
        self.mean += apart * other.count / count;
        self.absolute += other.absolute;
        self.squared += other.squared;
        self.count = count;
    }

    /// Forgets all batches.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

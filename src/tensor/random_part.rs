//! Random fills of a part of a tensor.
//!
//! [`TensorMut::uniform_`](crate::TensorMut::uniform_),
//! [`TensorMut::normal_`](crate::TensorMut::normal_),
//! [`TensorMut::log_normal_`](crate::TensorMut::log_normal_),
//! [`TensorMut::exponential_`](crate::TensorMut::exponential_),
//! [`TensorMut::cauchy_`](crate::TensorMut::cauchy_),
//! [`TensorMut::geometric_`](crate::TensorMut::geometric_),
//! [`TensorMut::random_`](crate::TensorMut::random_),
//! [`TensorMut::bernoulli_`](crate::TensorMut::bernoulli_).

use std::ops::RangeBounds;

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Element, Float, Inexact, Numeric, Real};
use nomina_runtime::random::{Distribution, range_of};

use super::TensorMut;
use super::random::Probability;
use crate::call::{ok, random};

/// Random fills; those from a generator are of the whole tensor.
impl<D: Dims, T: Element> TensorMut<'_, D, T> {
    /// [`Tensor::uniform_`](super::Tensor::uniform_) of this part.
    ///
    /// # Panics
    /// When `from` is above `to`, or the dtype holds neither.
    #[track_caller]
    pub fn uniform_(&mut self, from: f64, to: f64) -> &mut Self
    where
        T: Float,
    {
        ok(random::fill(
            Op::Uniform,
            self.dest(),
            Distribution::Uniform { from, to },
            None,
        ));
        self
    }

    /// [`Tensor::normal_`](super::Tensor::normal_) of this part.
    ///
    /// # Panics
    /// When `std` is below zero.
    #[track_caller]
    pub fn normal_(&mut self, mean: f64, std: f64) -> &mut Self
    where
        T: Inexact,
    {
        ok(random::fill(
            Op::NormalInPlace,
            self.dest(),
            Distribution::Normal { mean, std },
            None,
        ));
        self
    }

    /// [`Tensor::log_normal_`](super::Tensor::log_normal_) of this part.
    ///
    /// # Panics
    /// When `std` is not above zero.
    #[track_caller]
    pub fn log_normal_(&mut self, mean: f64, std: f64) -> &mut Self
    where
        T: Float,
    {
        ok(random::fill(
            Op::LogNormal,
            self.dest(),
            Distribution::LogNormal { mean, std },
            None,
        ));
        self
    }

    /// [`Tensor::exponential_`](super::Tensor::exponential_) of this part.
    ///
    /// # Panics
    /// When `lambd` is not above zero.
    #[track_caller]
    pub fn exponential_(&mut self, lambd: f64) -> &mut Self
    where
        T: Float,
    {
        ok(random::fill(
            Op::Exponential,
            self.dest(),
            Distribution::Exponential { lambd },
            None,
        ));
        self
    }

    /// [`Tensor::cauchy_`](super::Tensor::cauchy_) of this part.
    ///
    /// # Panics
    /// When `sigma` is not above zero.
    #[track_caller]
    pub fn cauchy_(&mut self, median: f64, sigma: f64) -> &mut Self
    where
        T: Float,
    {
        ok(random::fill(
            Op::Cauchy,
            self.dest(),
            Distribution::Cauchy { median, sigma },
            None,
        ));
        self
    }

    /// [`Tensor::geometric_`](super::Tensor::geometric_) of this part.
    ///
    /// # Panics
    /// When `p` is not between 0 and 1.
    #[track_caller]
    pub fn geometric_(&mut self, p: f64) -> &mut Self
    where
        T: Real + Numeric,
    {
        ok(random::fill(
            Op::Geometric,
            self.dest(),
            Distribution::Geometric { p },
            None,
        ));
        self
    }

    /// [`Tensor::random_`](super::Tensor::random_) of this part.
    ///
    /// # Panics
    /// When the range is empty, or the dtype does not hold it.
    #[track_caller]
    pub fn random_(&mut self, range: impl RangeBounds<i64>) -> &mut Self
    where
        T: Real,
    {
        ok(
            range_of("random", &range, T::DTYPE).and_then(|(low, high)| {
                random::fill(
                    Op::Random,
                    self.dest(),
                    Distribution::Integers { low, high },
                    None,
                )
            }),
        );
        self
    }

    /// [`Tensor::bernoulli_`](super::Tensor::bernoulli_) of this part.
    ///
    /// # Panics
    /// When a number is no probability, or sizes do not fit.
    #[track_caller]
    pub fn bernoulli_(&mut self, p: impl Probability<D>) -> &mut Self
    where
        T: Real,
    {
        ok(random::bernoulli_(self.dest(), p.probability(), None));
        self
    }
}

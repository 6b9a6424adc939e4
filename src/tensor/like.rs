//! New tensors like another.

use nomina_core::dims::Dims;
use nomina_core::{Element, Float, Inexact, Scalar};

use super::Tensor;
use crate::call::factory::{self, Fill, Place};
use crate::call::{Bare, done};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Zeros in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn zeros_like(&self) -> Self {
        self.like("zeros_like", Fill::Zeros)
    }

    /// Ones in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn ones_like(&self) -> Self {
        self.like("ones_like", Fill::Number(1.into()))
    }

    /// Unspecified elements in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn empty_like(&self) -> Self {
        self.like("empty_like", Fill::Zeros)
    }

    /// Uniform random numbers in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn rand_like(&self) -> Self
    where
        T: Float,
    {
        self.like("rand_like", Fill::Uniform(None))
    }

    /// Normal random numbers in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn randn_like(&self) -> Self
    where
        T: Inexact,
    {
        self.like("randn_like", Fill::Normal(None))
    }

    /// One number in the sizes, names and dtype of this tensor, on its device.
    #[track_caller]
    #[must_use]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Self {
        self.like("full_like", Fill::Number(value.into()))
    }

    #[track_caller]
    fn like(&self, op: &'static str, fill: Fill<'_>) -> Self {
        let place = Place::like(self.look());
        let made = factory::new(op, self.shape(), &UNCHECKED, fill, place);
        Self::wrap(Bare {
            wild: self.look().wild(),
            ..done(made)
        })
    }
}

/// Sizes that a tensor already has need no check.
const UNCHECKED: crate::call::Static = crate::call::Static {
    names: &[],
    sizes: &[],
    wild: false,
};

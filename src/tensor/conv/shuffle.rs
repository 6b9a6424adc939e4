//! Channels into pixels and back, and among each other.
//!
//! [`Tensor::pixel_shuffle`], [`Tensor::pixel_unshuffle`], [`Tensor::channel_shuffle`].

use nomina_core::dims::{DimOf, Dims, Resizable, SizeOf, SpatialOf, Without, position, positions};
use nomina_core::{Element, Result};

use super::Tensor;
use crate::call::{Known, compose, ok};

/// # Shuffled pixels and channels
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Channels become pixels: `factor * factor` of them become so many times as many rows and
    /// columns.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { C, H, W }
    /// let x = tensor!([[[1.]], [[2.]], [[3.]], [[4.]]]; C, H, W);
    /// let y = x.pixel_shuffle(C, (H, W), 2);
    /// assert_eq!((y.shape(), y.to_vec()), (&[1, 2, 2][..], vec![1.0, 2.0, 3.0, 4.0]));
    /// assert!(y.pixel_unshuffle(C, (H, W), 2).equal(&x));
    /// ```
    ///
    /// # Panics
    /// When the channels are no multiple of `factor * factor`.
    #[track_caller]
    #[must_use]
    pub fn pixel_shuffle<X: DimOf<D>, A: SpatialOf<Without<D, X>, 2>>(
        &self,
        channel: X,
        dims: A,
        factor: usize,
    ) -> Self
    where
        SizeOf<X>: Resizable<X>,
    {
        ok(self.try_pixel_shuffle(channel, dims, factor))
    }

    /// [`pixel_shuffle`](Self::pixel_shuffle) that returns the error.
    ///
    /// # Errors
    /// When the channels are no multiple of `factor * factor`.
    pub fn try_pixel_shuffle<X: DimOf<D>, A: SpatialOf<Without<D, X>, 2>>(
        &self,
        channel: X,
        dims: A,
        factor: usize,
    ) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = (channel, dims);
        let (at, spatial) = (position::<X, D>(), positions::<A, D>());
        Self::give(compose::one(&[self.look()], D::STATIC, |x| {
            x[0].pixel_shuffle_by(at, spatial, factor)
        }))
    }

    /// Pixels become channels: the reverse of [`pixel_shuffle`](Self::pixel_shuffle).
    ///
    /// # Panics
    /// When rows or columns are no multiple of `factor`.
    #[track_caller]
    #[must_use]
    pub fn pixel_unshuffle<X: DimOf<D>, A: SpatialOf<Without<D, X>, 2>>(
        &self,
        channel: X,
        dims: A,
        factor: usize,
    ) -> Self
    where
        SizeOf<X>: Resizable<X>,
    {
        ok(self.try_pixel_unshuffle(channel, dims, factor))
    }

    /// [`pixel_unshuffle`](Self::pixel_unshuffle) that returns the error.
    ///
    /// # Errors
    /// When rows or columns are no multiple of `factor`.
    pub fn try_pixel_unshuffle<X: DimOf<D>, A: SpatialOf<Without<D, X>, 2>>(
        &self,
        channel: X,
        dims: A,
        factor: usize,
    ) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = (channel, dims);
        let (at, spatial) = (position::<X, D>(), positions::<A, D>());
        Self::give(compose::one(&[self.look()], D::STATIC, |x| {
            x[0].pixel_unshuffle_by(at, spatial, factor)
        }))
    }

    /// Channels of several groups in turn: with two, the first of the first half, the first of the
    /// second, the second of the first, and so on.
    ///
    /// # Panics
    /// When the channels are no multiple of the groups.
    #[track_caller]
    #[must_use]
    pub fn channel_shuffle<X: DimOf<D>>(&self, channel: X, groups: usize) -> Self {
        ok(self.try_channel_shuffle(channel, groups))
    }

    /// [`channel_shuffle`](Self::channel_shuffle) that returns the error.
    ///
    /// # Errors
    /// When the channels are no multiple of the groups.
    pub fn try_channel_shuffle<X: DimOf<D>>(&self, channel: X, groups: usize) -> Result<Self> {
        let _ = channel;
        let at = position::<X, D>();
        Self::give(compose::one(&[self.look()], D::STATIC, |x| {
            x[0].channel_shuffle_by(at, groups)
        }))
    }
}

//! `pixel_shuffle`, its inverse, and `channel_shuffle`.
//!
//! [`Tensor::pixel_shuffle`], [`Tensor::pixel_unshuffle`], [`Tensor::channel_shuffle`].

use nomina_core::dims::{DimOf, Dims, Resizable, SizeOf, SpatialOf, Without, position, positions};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Tensor;
use crate::erased::{Known, compose};

/// # Shuffled pixels and channels
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Turns channels into pixels: `factor * factor` channels become `factor` times the rows and
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
    /// # Errors
    /// If the channels are not a multiple of `factor * factor`.
    #[twin]
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
        Self::try_from_erased(compose::call_for_tensor(&[self.erased()], D::STATIC, |x| {
            x[0].pixel_shuffle_by(at, spatial, factor)
        }))
    }

    /// Turns pixels into channels: the inverse of [`pixel_shuffle`](Self::pixel_shuffle).
    ///
    /// # Errors
    /// If rows or columns are not a multiple of `factor`.
    #[twin]
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
        Self::try_from_erased(compose::call_for_tensor(&[self.erased()], D::STATIC, |x| {
            x[0].pixel_unshuffle_by(at, spatial, factor)
        }))
    }

    /// Interleaves the channels of groups: with two groups, the first of the first half, the first
    /// of the second half, the second of the first, and so on.
    ///
    /// # Errors
    /// If the channels are not a multiple of the groups.
    #[twin]
    pub fn try_channel_shuffle<X: DimOf<D>>(&self, channel: X, groups: usize) -> Result<Self> {
        let _ = channel;
        let at = position::<X, D>();
        Self::try_from_erased(compose::call_for_tensor(&[self.erased()], D::STATIC, |x| {
            x[0].channel_shuffle_by(at, groups)
        }))
    }
}

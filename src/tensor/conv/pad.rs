//! Padding and resampling.
//!
//! [`Tensor::pad`], [`Tensor::interpolate`].

use nomina_core::dims::{Dims, SizesOf, SpatialOf, places, positions};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{InterpolateMode, InterpolateOptions, PadOptions};

use super::Tensor;
use crate::erased::{Known, compose};

/// # Padding
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Pads dims with zeros before and after, by the pair of counts of each dim; a negative count
    /// removes elements.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { H, W }
    /// let x = tensor!([[1., 2.], [3., 4.]]; H, W);
    /// let y = x.pad((W, H), [(1, 0), (0, -1)]);
    /// assert_eq!(y.to_vec(), [0.0, 1.0, 2.0]);
    /// let options = PadOptions { mode: PadMode::Reflect, ..default() };
    /// assert_eq!(x.pad_with(W, [(0, 1)], options).to_vec(), [1.0, 2.0, 1.0, 3.0, 4.0, 3.0]);
    /// ```
    ///
    /// # Errors
    /// If more elements are removed than exist, or reflected or circular padding is longer than a
    /// dim.
    #[twin(with = "but pads with the number, or the mode, of the options.")]
    pub fn try_pad_with<A: SpatialOf<D, S>, const S: usize>(
        &self,
        dims: A,
        pad: [(i64, i64); S],
        options: PadOptions,
    ) -> Result<Self> {
        let _ = dims;
        let at = positions::<A, D>();
        Self::try_from_erased(compose::call_for_tensor(&[self.erased()], D::STATIC, |x| {
            x[0].pad_by(at, &pad, options)
        }))
    }

    /// Resamples dims to other sizes. PyTorch's `linear`, `bilinear` and `trilinear` are all
    /// [`InterpolateMode::Linear`], along the given number of dims.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { H, W }
    /// let x = tensor!([[1., 2.], [3., 4.]]; H, W);
    /// let wide = x.interpolate((W.of(4),), InterpolateMode::Nearest);
    /// assert_eq!(wide.to_vec(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]);
    /// let one = x.interpolate((H.of(1), W.of(1)), InterpolateMode::Linear);
    /// assert_eq!(one.to_vec(), [2.5]);
    /// ```
    ///
    /// # Errors
    /// If a size is 0, and in smooth modes for a dtype that is not a float.
    #[twin]
    pub fn try_interpolate<Z: SizesOf<D>>(&self, sizes: Z, mode: InterpolateMode) -> Result<Self> {
        let options = InterpolateOptions {
            mode,
            ..InterpolateOptions::default()
        };
        self.try_interpolate_with(sizes, options)
    }

    /// Like [`interpolate`](Self::interpolate), but with options.
    ///
    /// # Errors
    /// If a size is 0, and in smooth modes for a dtype that is not a float.
    #[twin]
    pub fn try_interpolate_with<Z: SizesOf<D>>(
        &self,
        sizes: Z,
        options: InterpolateOptions,
    ) -> Result<Self> {
        let at: Vec<usize> = places::<D, Z::Dims>().iter().copied().flatten().collect();
        let sizes = sizes.sizes();
        Self::try_from_erased(compose::call_for_tensor(&[self.erased()], D::STATIC, |x| {
            x[0].interpolate_by(&at, &sizes, options)
        }))
    }
}

//! Tensors as text, and as HTML.
//!
//! [`Tensor::to_html`], [`Tensor::save_html`], [`Tensor::evcxr_display`].

use std::fmt;
use std::path::Path;

use nomina_core::dims::Dims;
use nomina_core::{Element, Result};
use nomina_runtime::display;

use super::Tensor;

/// Formats the values, abbreviated in the middle for a large tensor, and a closing line:
/// `dims (N=2, C=3), f32`. A scalar is its number alone.
///
/// ```
/// # use nomina::prelude::*;
/// dims! { Time, Lon }
/// let x = tensor!([[1., -2.5], [3., 40.25]]; Time, Lon);
/// assert_eq!(x.to_string(), "[[ 1.   -2.5 ]\n [ 3.   40.25]]\ndims (Time=2, Lon=2), f32");
/// assert_eq!(x.sum(..).to_string(), "41.75");
/// ```
impl<D: Dims, T: Element> fmt::Display for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::values(f, &self.erased.raw, &self.names())
    }
}

/// Like `Display`, but with exponents: `[1.0e+00 2.5e-03]`.
impl<D: Dims, T: Element> fmt::LowerExp for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::scientific(f, &self.erased.raw, &self.names())
    }
}

/// Formats to one line: `dims (N=2, C=3), f32: [1.0, 2.0, …]`.
impl<D: Dims, T: Element> fmt::Debug for Tensor<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        display::line(f, &self.erased.raw, &self.names())
    }
}

/// # As HTML
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns an HTML fragment that shows the tensor: a grid of coloured cells with named axes, sliders
    /// for dims beyond two, a bar of the colours, the value under the pointer, and an image in its own
    /// colours (a dim `Rgb` of 3 or `Rgba` of 4). It loads no other resources. For a large tensor, it
    /// contains regularly spaced elements of each dim, at most 65,536 in total, and says so.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let page = tensor!([[1., 2.], [3., f32::NAN]]; N, C).to_html()?;
    /// assert!(page.contains("dims (N=2, C=2), f32") && page.contains("1 NaN"));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory runs out or the tensor's device fails.
    pub fn to_html(&self) -> Result<String> {
        display::html(&self.erased.raw, &self.names())
    }

    /// Writes a page of [`to_html`](Self::to_html), atomically.
    ///
    /// # Errors
    /// [`ErrorKind::File`](nomina_core::ErrorKind::File) if the file cannot be written; an existing
    /// file then stays unchanged.
    pub fn save_html(&self, path: impl AsRef<Path>) -> Result<()> {
        display::save_html(&self.erased.raw, &self.names(), path.as_ref())
    }

    /// Shows the tensor in an evcxr notebook, which calls this for the last value of a cell.
    pub fn evcxr_display(&self) {
        display::evcxr(&self.erased.raw, &self.names());
    }
}

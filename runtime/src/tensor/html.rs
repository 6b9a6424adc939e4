//! Tensors as HTML.

use std::path::Path;

use nomina_core::Result;

use super::DynTensor;
use crate::display;

impl DynTensor {
    /// Returns an HTML fragment that shows the tensor: a grid of coloured cells with named axes, sliders
    /// for dims beyond two, a bar of the colours, the value under the pointer, and an image in its own
    /// colours (a dim `Rgb` of 3 or `Rgba` of 4). It loads no other resources. For a large tensor, it
    /// contains regularly spaced elements of each dim, at most 65,536 in total, and says so.
    ///
    /// # Errors
    /// If memory runs out or the tensor's device fails.
    pub fn to_html(&self) -> Result<String> {
        display::html(&self.raw, &self.names)
    }

    /// Writes a page of [`to_html`](Self::to_html), atomically.
    ///
    /// # Errors
    /// If the file cannot be written; an existing file then stays unchanged.
    pub fn save_html(&self, path: impl AsRef<Path>) -> Result<()> {
        display::save_html(&self.raw, &self.names, path.as_ref())
    }

    /// Shows the tensor in an evcxr notebook, which calls this for the last value of a cell.
    pub fn evcxr_display(&self) {
        display::evcxr(&self.raw, &self.names);
    }
}

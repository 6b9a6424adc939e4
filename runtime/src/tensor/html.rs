//! Tensors as HTML.

use std::path::Path;

use nomina_core::Result;

use super::DynTensor;
use crate::display;

impl DynTensor {
    /// A fragment of HTML that shows the tensor: a table with axes by name and colours by value, sliders for the dims beyond
    /// two, NaN marked. It loads nothing from elsewhere. Of a large tensor it has every so many-th element of each dim, at most
    /// 32,768 of all, and says so.
    ///
    /// # Errors
    /// If memory runs out or the tensor's device fails.
    pub fn to_html(&self) -> Result<String> {
        display::html(&self.raw, &self.names)
    }

    /// Writes a page of [`to_html`](Self::to_html), which is there as a whole or not at all.
    ///
    /// # Errors
    /// If the system cannot write; what was there before stays then.
    pub fn save_html(&self, path: impl AsRef<Path>) -> Result<()> {
        display::save_html(&self.raw, &self.names, path.as_ref())
    }

    /// Shows the tensor in a notebook of evcxr, which calls this for the last value of a cell.
    pub fn evcxr_display(&self) {
        display::evcxr(&self.raw, &self.names);
    }
}

//! Questions whose answer is no tensor.

use nomina_core::Result;
use nomina_core::rule::DimRef;

use super::{DynTensor, about};

impl DynTensor {
    /// The size of a dim.
    ///
    /// # Errors
    /// When the dim does not exist.
    pub fn size<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<usize> {
        self.position("size", dim.into())
            .map(|position| self.shape()[position])
    }

    /// The distance in elements from one index of a dim to the next.
    ///
    /// # Errors
    /// When the dim does not exist.
    pub fn stride<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<isize> {
        self.position("stride", dim.into())
            .map(|position| self.strides()[position])
    }

    fn position(&self, op: &'static str, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op, &self.names).map_err(|e| about(e, &[self]))
    }

    /// Whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.names.has_names()
    }

    /// Where the first element stands in its buffer, in elements.
    #[must_use]
    pub fn storage_offset(&self) -> usize {
        self.raw.offset()
    }

    /// Whether the elements stand in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.raw.is_contiguous()
    }
}

//! Queries, which return no tensor.

use nomina_core::rule::DimRef;
use nomina_core::{MemoryFormat, Result};

use super::{DynTensor, about};

impl DynTensor {
    /// Returns the size of a dim.
    ///
    /// # Errors
    /// If the dim does not exist.
    pub fn size<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<usize> {
        self.position("size", dim.into())
            .map(|position| self.shape()[position])
    }

    /// Returns the stride of a dim, in elements.
    ///
    /// # Errors
    /// If the dim does not exist.
    pub fn stride<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<isize> {
        self.position("stride", dim.into())
            .map(|position| self.strides()[position])
    }

    fn position(&self, op: &'static str, dim: DimRef<'_>) -> Result<usize> {
        dim.position(op, &self.names).map_err(|e| about(e, &[self]))
    }

    /// Returns whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.names.has_names()
    }

    /// Returns the index of the first element in its buffer.
    #[must_use]
    pub fn storage_offset(&self) -> usize {
        self.raw.offset()
    }

    /// Returns whether the elements are in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.raw.is_contiguous()
    }

    /// Returns whether the elements are in the order of a memory format without gaps; false if the
    /// format is for another number of dims.
    #[must_use]
    pub fn is_contiguous_with(&self, format: MemoryFormat) -> bool {
        self.raw.layout().is_in(format)
    }

    /// Returns the memory format that the strides suggest.
    #[must_use]
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        self.raw.layout().suggested_format()
    }
}

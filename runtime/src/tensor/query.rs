//! Queries, whose result is not a tensor.

use nomina_core::rule::DimRef;
use nomina_core::{MemoryFormat, Result};

use super::{DynTensor, about};

impl DynTensor {
    /// The size of a dim.
    ///
    /// # Errors
    /// If the dim does not exist.
    pub fn size<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<usize> {
        self.position("size", dim.into())
            .map(|position| self.shape()[position])
    }

    /// The distance in elements from one index of a dim to the next.
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

    /// Whether the elements stand in the order of a memory format without gaps; false for a format
    /// of another number of dims.
    #[must_use]
    pub fn is_contiguous_with(&self, format: MemoryFormat) -> bool {
        self.raw.layout().is_in(format)
    }

    /// The memory format that the strides speak for.
    #[must_use]
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        self.raw.layout().suggested_format()
    }
}

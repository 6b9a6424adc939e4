//! Sparse tensors without names.

use crate::Device;
use nomina_core::DType;

use super::Raw;
use crate::shape::Shape;

/// A sparse tensor without names: the coordinates of what is not zero, and the values there.
///
/// The first dims are sparse, the others dense: a value is a block of them. Invariants: indices
/// are `i64`, one row per sparse dim and one column per value, each below its dim's size; both
/// parts are row-major; the product of the sizes is a position. *Coalesced* entries stand in
/// row-major order, each at a place of its own.
#[derive(Clone, Debug)]
pub struct RawCoo {
    shape: Shape,
    indices: Raw,
    values: Raw,
    coalesced: bool,
}

impl RawCoo {
    /// What a kernel made, whose invariants it kept.
    pub(crate) fn from_parts(shape: Shape, indices: Raw, values: Raw, coalesced: bool) -> Self {
        debug_assert_eq!(shape.len() + 1, indices.shape()[0] + values.rank());
        debug_assert_eq!(indices.shape()[1], values.shape()[0]);
        debug_assert!(indices.is_contiguous() && values.is_contiguous());
        Self {
            shape,
            indices,
            values,
            coalesced,
        }
    }

    /// The same places with other values, of any dtype.
    pub(crate) fn with_values(&self, values: Raw) -> Self {
        Self::from_parts(
            self.shape.clone(),
            self.indices.clone(),
            values,
            self.coalesced,
        )
    }

    /// The same entries, which the caller knows to stand in order, each at a place of its own.
    pub(crate) fn marked(self, coalesced: bool) -> Self {
        Self { coalesced, ..self }
    }

    /// Sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of sparse dims, which come first.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        self.indices.shape()[0]
    }

    /// The number of dense dims.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        self.values.rank() - 1
    }

    /// The number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.shape()[0]
    }

    /// The coordinates: one row per sparse dim, one column per entry.
    #[must_use]
    pub fn indices(&self) -> &Raw {
        &self.indices
    }

    /// The values: one block per entry.
    #[must_use]
    pub fn values(&self) -> &Raw {
        &self.values
    }

    /// Whether entries stand in row-major order, each at a place of its own.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.coalesced
    }

    /// The dtype of the values.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.values.device()
    }
}

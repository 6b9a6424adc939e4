//! Sparse tensors without names.

use crate::Device;
use nomina_core::DType;

use super::Raw;
use crate::shape::Shape;

/// A sparse tensor without names: the coordinates of its entries, and their values.
///
/// The first dims are sparse, the others dense: a value is a block of the dense dims. Invariants:
/// indices are `i64`, one row per sparse dim and one column per value, each below its dim's size;
/// both parts are row-major; the product of the sizes is a valid position. *Coalesced* entries are
/// in row-major order, without duplicates.
#[derive(Clone, Debug)]
pub struct RawCoo {
    shape: Shape,
    indices: Raw,
    values: Raw,
    coalesced: bool,
}

impl RawCoo {
    /// Creates a tensor from a kernel's results, which satisfy the invariants.
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

    /// Returns the same coordinates with other values, of any dtype.
    pub(crate) fn with_values(&self, values: Raw) -> Self {
        Self::from_parts(
            self.shape.clone(),
            self.indices.clone(),
            values,
            self.coalesced,
        )
    }

    /// Sets whether the entries are known to be in order and without duplicates.
    pub(crate) fn marked(self, coalesced: bool) -> Self {
        Self { coalesced, ..self }
    }

    /// Returns the sizes, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Returns the number of sparse dims, which come first.
    #[must_use]
    pub fn sparse_dim(&self) -> usize {
        self.indices.shape()[0]
    }

    /// Returns the number of dense dims.
    #[must_use]
    pub fn dense_dim(&self) -> usize {
        self.values.rank() - 1
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.shape()[0]
    }

    /// Returns the coordinates: one row per sparse dim, one column per entry.
    #[must_use]
    pub fn indices(&self) -> &Raw {
        &self.indices
    }

    /// Returns the values: one block per entry.
    #[must_use]
    pub fn values(&self) -> &Raw {
        &self.values
    }

    /// Returns whether entries are in row-major order, without duplicates.
    #[must_use]
    pub fn is_coalesced(&self) -> bool {
        self.coalesced
    }

    /// Returns the dtype of the values.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.values.device()
    }
}

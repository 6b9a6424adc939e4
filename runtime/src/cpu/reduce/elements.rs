//! Operands whose elements are computed when they are read.

use nomina_core::DType;

use crate::memory::NoMemory;

/// A dense operand whose elements are computed when they are read.
pub(crate) trait Make: Sync {
    /// Returns the dtype of the elements.
    fn dtype(&self) -> DType;

    /// Calls `f` with a producer of elements for this thread.
    fn with(
        &self,
        f: &mut dyn FnMut(&mut dyn Elements) -> Result<(), NoMemory>,
    ) -> Result<(), NoMemory>;
}

/// A producer of elements on one thread.
pub(crate) trait Elements {
    /// Writes `n` elements from position `at` on, in memory order; those at `next` are likely to be requested next.
    ///
    /// # Safety
    /// The operand has these elements; there is room for `n` at `to`.
    unsafe fn produce(&mut self, at: usize, n: usize, to: *mut u8, next: usize);
}

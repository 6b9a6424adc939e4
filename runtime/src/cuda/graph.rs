//! A captured region that can be replayed.

use nomina_core::Result;

#[cfg(not(feature = "cuda"))]
use super::absent::Captured;
#[cfg(feature = "cuda")]
use super::capture::Captured;

/// A region captured by [`graph`](super::graph): the device runs all of its kernels after one call of the host.
///
/// It keeps the memory that the region uses. Dropping it waits for the device.
#[derive(Debug)]
pub struct Graph(pub(super) Captured);

impl Graph {
    /// Starts the region again after all work that was started before, on the present contents of the memory that it
    /// reads. It does not wait. An error that a kernel finds is returned by the next wait, as for any call.
    ///
    /// # Errors
    /// Returns an error of the driver, and always an error within the region of another graph.
    pub fn replay(&self) -> Result<()> {
        self.0.replay()
    }
}

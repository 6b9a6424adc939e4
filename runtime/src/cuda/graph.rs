//! A region of a program that is started again as a whole.

use nomina_core::Result;

use super::driver::Captured;

/// What [`graph`](super::graph) captured: all kernels of a region, which the device starts by one call of the host.
///
/// It keeps the memory that the region used. Dropping it waits for the device.
#[derive(Debug)]
pub struct Graph(pub(super) Captured);

impl Graph {
    /// Starts the region again, on what now lies in the memory that it read, after all that was started before. It does
    /// not wait; what a kernel finds wrong is the error of the next wait, as of any call.
    ///
    /// # Errors
    /// What the driver says; within the region of another graph always.
    pub fn replay(&self) -> Result<()> {
        self.0.replay()
    }
}

//! Where a node runs, for values on a device.

use std::sync::atomic::{AtomicU8, Ordering};

/// The operands of a node, as its operator takes them: found at the first run, which tries one after another.
#[derive(Debug, Default)]
pub struct Placement(AtomicU8);

impl Clone for Placement {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.get()))
    }
}

impl Placement {
    /// Operands as they are: sizes and axes stay on the host.
    pub const AS_GIVEN: u8 = 0;
    /// All operands on the device: constants and indices that are made on the host are copied.
    pub const ON_DEVICE: u8 = 1;
    /// All operands on the host, for operators that have no kernel; floats among the results are copied back.
    pub const ON_HOST: u8 = 2;

    /// Returns the placement that was found, or the first one to try.
    pub fn get(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }

    /// Remembers the placement for later runs.
    pub fn set(&self, placement: u8) {
        self.0.store(placement, Ordering::Relaxed);
    }

    /// Returns whether the node has run on the host.
    pub fn is_host(&self) -> bool {
        self.get() == Self::ON_HOST
    }
}

//! State that is kept for each device, and the lock that guards it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of devices a process can use.
pub(super) const DEVICES: usize = 64;

/// Locks a mutex, also if a holder panicked: nothing leaves state half-changed under a lock.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One value for each device, by ordinal. Each is set once and never dropped.
#[derive(Debug)]
pub(super) struct PerDevice<T>([OnceLock<T>; DEVICES]);

impl<T> PerDevice<T> {
    pub(super) const fn new() -> Self {
        Self([const { OnceLock::new() }; DEVICES])
    }

    /// Returns the cell of a device, or `None` if the ordinal is too large.
    pub(super) fn cell(&self, ordinal: usize) -> Option<&OnceLock<T>> {
        self.0.get(ordinal)
    }

    /// Returns the value of a device, if it is set.
    pub(super) fn get(&self, ordinal: usize) -> Option<&T> {
        self.0.get(ordinal)?.get()
    }

    /// Returns the value of an open device, which `init` makes at the first use.
    pub(super) fn get_or_init(&self, ordinal: usize, init: impl FnOnce() -> T) -> &T {
        self.0[ordinal].get_or_init(init)
    }
}

/// A count of calls for each device.
#[derive(Debug)]
pub(super) struct CallCounts([AtomicU64; DEVICES]);

impl CallCounts {
    pub(super) const fn new() -> Self {
        Self([const { AtomicU64::new(0) }; DEVICES])
    }

    /// Counts one more call on an open device.
    pub(super) fn increment(&self, ordinal: usize) {
        self.0[ordinal].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of calls on an open device.
    pub(super) fn get(&self, ordinal: usize) -> u64 {
        self.0[ordinal].load(Ordering::Relaxed)
    }
}

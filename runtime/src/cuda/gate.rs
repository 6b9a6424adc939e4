//! The gate that keeps other threads from a device while one captures a region.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::per_device::lock;

thread_local! {
    /// The number of passes the thread holds.
    static PASSES: Cell<usize> = const { Cell::new(0) };
}

/// Returns a number that identifies the calling thread.
fn thread_id() -> usize {
    PASSES.with(|own| std::ptr::from_ref(own).addr())
}

/// Keeps other threads from a device while one captures.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The thread that captures; 0 for none.
    owner: AtomicUsize,
    /// The number of threads that use the device.
    inside: AtomicUsize,
    closed: Mutex<()>,
    opened: Condvar,
}

/// Permission to use the device. A pass within another of the same thread costs nothing.
#[derive(Debug)]
pub(super) struct GatePass<'a>(Option<&'a Gate>);

impl Gate {
    /// Waits until no other thread captures, and enters.
    pub(super) fn enter(&self) -> GatePass<'_> {
        let before = PASSES.get();
        PASSES.set(before + 1);
        if before > 0 {
            return GatePass(None);
        }
        loop {
            self.inside.fetch_add(1, Ordering::SeqCst);
            let owner = self.owner.load(Ordering::SeqCst);
            if owner == 0 || owner == thread_id() {
                return GatePass(Some(self));
            }
            self.inside.fetch_sub(1, Ordering::SeqCst);
            let mut closed = lock(&self.closed);
            while self.owner.load(Ordering::SeqCst) != 0 {
                let waited = self.opened.wait(closed);
                closed = waited.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Returns whether the calling thread captures.
    pub(super) fn is_mine(&self) -> bool {
        self.owner.load(Ordering::SeqCst) == thread_id()
    }

    /// Closes the gate for all other threads, once those inside have left.
    pub(super) fn close(&self) {
        let change = || {
            let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
            self.owner
                .compare_exchange(0, thread_id(), success, failure)
        };
        while change().is_err() {
            // Another thread captures: wait for its end.
            std::thread::yield_now();
        }
        while self.inside.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }

    /// Opens the gate.
    pub(super) fn open(&self) {
        let _closed = lock(&self.closed);
        self.owner.store(0, Ordering::SeqCst);
        self.opened.notify_all();
    }
}

impl Drop for GatePass<'_> {
    fn drop(&mut self) {
        PASSES.set(PASSES.get() - 1);
        if let Some(gate) = self.0 {
            gate.inside.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

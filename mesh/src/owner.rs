//! The thread of a rank that makes the collectives of a mesh.
//!
//! Collectives are matched by their order. If two threads of a rank made collectives, the other ranks could not know
//! their order, and one thread could receive the other's sums. A mesh therefore belongs to the thread that makes its
//! first collective, until another thread takes it over.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use nomina::{Error, ErrorKind, Result};

/// The thread that a mesh belongs to. Meshes over the same ranks share an owner.
#[derive(Debug, Default)]
pub(crate) struct Owner(Mutex<OwnerState>);

#[derive(Debug, Default)]
struct OwnerState {
    thread: Option<ThreadId>,
    /// The number of collectives that the thread is starting at this moment.
    running: u32,
}

/// A collective that is being started.
#[derive(Debug)]
pub(crate) struct Running<'a>(&'a Owner);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}

fn wrong_thread(op: &'static str, what: &str) -> Error {
    Error::new(ErrorKind::Mesh, op, what).hint(
        "call all collectives of a mesh on one thread: send work there, or, once the other thread has finished, call \
         `mesh.use_on_this_thread()?`",
    )
}

impl Owner {
    fn lock(&self) -> MutexGuard<'_, OwnerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a collective.
    ///
    /// # Errors
    /// If the mesh belongs to another thread. Returns immediately, even if that thread is in a collective.
    pub(crate) fn begin(&self, op: &'static str) -> Result<Running<'_>> {
        let own = thread::current().id();
        let mut state = self.lock();
        if *state.thread.get_or_insert(own) != own {
            return Err(wrong_thread(
                op,
                match state.running {
                    0 => {
                        "another thread of this rank called a collective of this mesh before: the order of two \
                         threads can differ between ranks"
                    }
                    _ => "this mesh is in a collective on another thread of this rank",
                },
            ));
        }
        state.running += 1;
        Ok(Running(self))
    }

    /// Moves the mesh to the calling thread.
    ///
    /// # Errors
    /// If another thread is in a collective.
    pub(crate) fn take_over(&self) -> Result<()> {
        let own = thread::current().id();
        let mut state = self.lock();
        if state.running > 0 && state.thread != Some(own) {
            let what = "this mesh is in a collective on another thread of this rank";
            return Err(wrong_thread("use_on_this_thread", what));
        }
        state.thread = Some(own);
        Ok(())
    }
}

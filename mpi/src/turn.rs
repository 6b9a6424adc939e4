//! The right of one thread at a time to call MPI, and the early end of a program.

use std::cell::Cell;
use std::ffi::c_int;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use mpi::ffi;

static TURN: Mutex<()> = Mutex::new(());

thread_local! {
    static HOLDS: Cell<bool> = const { Cell::new(false) };
}

/// MPI is started and not yet finalized.
static RUNS: AtomicBool = AtomicBool::new(false);

/// A thread is ending the program.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The exit code requested by a thread that does not hold the turn.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// This process's rank and mesh coordinates, for messages.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// The exit code of a program that fails here.
const FAILED: c_int = 1;

/// The exit code of a program in which a thread panics: the code that std uses.
const PANICKED: c_int = 101;

/// The time that a thread waits for the turn before it kills its process.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time for launchers to read the output: after they learn of the end, they may not.
const READ: Duration = Duration::from_millis(100);

/// The right to call MPI, held by one thread at a time.
#[derive(Debug)]
pub(crate) struct Turn(
    #[expect(dead_code, reason = "released when dropped")] MutexGuard<'static, ()>,
);

impl Turn {
    pub(crate) fn take() -> Self {
        Self::new(TURN.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns `None` if another thread has it.
    pub(crate) fn try_take() -> Option<Self> {
        match TURN.try_lock() {
            Ok(guard) => Some(Self::new(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Self::new(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn new(guard: MutexGuard<'static, ()>) -> Self {
        HOLDS.set(true);
        Self(guard)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HOLDS.set(false);
    }
}

/// Installs the hooks that end the program on all ranks after a panic, and report an early exit.
pub(crate) fn begin() {
    RUNS.store(true, SeqCst);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called while a process exits. If it cannot be registered, only the launcher notices
    // the exit.
    unsafe {
        on_exit(exits, std::ptr::null_mut())
    };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let runs = RUNS.load(SeqCst);
        if runs {
            let text = info.payload_as_str().unwrap_or("something without a text");
            say(&format!("panicked: {text}"));
        }
        before(info);
        if runs {
            end(PANICKED);
        }
    }));
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
unsafe extern "C" {
    /// `atexit` of C with the exit code.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
}

/// Ends all ranks with the exit code. Launchers themselves report the code of a process that they killed, or none.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn exits(code: c_int, _: *mut c_void) {
    if RUNS.load(SeqCst) && !ENDS.load(SeqCst) {
        say("the process ends before MPI does");
        end(code);
    }
}

/// Marks MPI as about to be finalized.
pub(crate) fn finish() {
    RUNS.store(false, SeqCst);
}

/// Sets this process's description in messages: its rank, and its coordinates in a mesh.
pub(crate) fn stands(at: String) {
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = at;
}

/// Prints a line to stderr, prefixed with this process's description.
pub(crate) fn say(text: &str) {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("nomina-mpi: {}: {text}", *place);
}

/// Ends the program on all ranks because it cannot continue.
pub(crate) fn fail(what: &str) -> ! {
    say(what);
    end(FAILED)
}

/// Ends the program on all ranks.
pub(crate) fn end(code: c_int) -> ! {
    // Zero would mean success.
    let code = if code == 0 { FAILED } else { code };
    if !RUNS.load(SeqCst) {
        std::process::exit(code);
    }
    if !HOLDS.get() {
        if ENDS.swap(true, SeqCst) {
            // Another thread is ending the program, with the code of the first failure.
            loop {
                std::thread::park();
            }
        }
        // The thread that holds the turn checks this between two calls.
        ASKED.store(code, SeqCst);
        let step = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        while waited < PATIENCE {
            if let Some(turn) = Turn::try_take() {
                // Never released, so that no other thread calls MPI from now on.
                std::mem::forget(turn);
                abort(code);
            }
            std::thread::sleep(step);
            waited += step;
        }
        // The launcher ends the other ranks when it sees this.
        std::process::abort();
    }
    abort(code)
}

/// Ends the program if another thread has asked for it. Called by the holder of the turn.
pub(crate) fn look() {
    let code = ASKED.load(SeqCst);
    if code != 0 {
        abort(code);
    }
}

fn abort(code: c_int) -> ! {
    ENDS.store(true, SeqCst);
    std::thread::sleep(READ);
    // SAFETY: MPI is running, and this thread holds the turn.
    unsafe {
        ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code);
        libc::_exit(code)
    }
}

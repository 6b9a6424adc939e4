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
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
}

/// MPI is started and not yet finalized.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// A thread is ending the program.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// The exit code requested by a thread that does not hold the turn.
static REQUESTED_CODE: AtomicI32 = AtomicI32::new(0);

/// This process's rank and mesh coordinates, for messages.
static LABEL: Mutex<String> = Mutex::new(String::new());

/// The exit code of a program that fails here.
const FAILED: c_int = 1;

/// The exit code of a program in which a thread panics: the code that std uses.
const PANICKED: c_int = 101;

/// The time that a thread waits for the turn before it kills its process.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time for launchers to read the output: after they learn of the end, they may not.
const OUTPUT_GRACE: Duration = Duration::from_millis(100);

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
        HAS_TURN.set(true);
        Self(guard)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HAS_TURN.set(false);
    }
}

/// Installs the hooks that end the program on all ranks after a panic, and report an early exit.
pub(crate) fn install_hooks() {
    IS_RUNNING.store(true, SeqCst);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called while a process exits. If it cannot be registered, only the launcher notices
    // the exit.
    unsafe {
        on_exit(on_process_exit, std::ptr::null_mut())
    };
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let runs = IS_RUNNING.load(SeqCst);
        if runs {
            let text = info.payload_as_str().unwrap_or("something without a text");
            print_line(&format!("panicked: {text}"));
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
extern "C" fn on_process_exit(code: c_int, _: *mut c_void) {
    if IS_RUNNING.load(SeqCst) && !IS_ENDING.load(SeqCst) {
        print_line("the process ends before MPI does");
        end(code);
    }
}

/// Marks MPI as about to be finalized.
pub(crate) fn mark_finalizing() {
    IS_RUNNING.store(false, SeqCst);
}

/// Sets this process's description in messages: its rank, and its coordinates in a mesh.
pub(crate) fn set_label(label: String) {
    *LABEL.lock().unwrap_or_else(PoisonError::into_inner) = label;
}

/// Prints a line to stderr, prefixed with this process's description.
pub(crate) fn print_line(text: &str) {
    let label = LABEL.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("nomina-mpi: {}: {text}", *label);
}

/// Ends the program on all ranks because it cannot continue.
pub(crate) fn fail(what: &str) -> ! {
    print_line(what);
    end(FAILED)
}

/// Ends the program on all ranks.
pub(crate) fn end(code: c_int) -> ! {
    // Zero would mean success.
    let code = if code == 0 { FAILED } else { code };
    if !IS_RUNNING.load(SeqCst) {
        std::process::exit(code);
    }
    if !HAS_TURN.get() {
        if IS_ENDING.swap(true, SeqCst) {
            // Another thread is ending the program, with the code of the first failure.
            loop {
                std::thread::park();
            }
        }
        // The thread that holds the turn checks this between two calls.
        REQUESTED_CODE.store(code, SeqCst);
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
pub(crate) fn end_if_requested() {
    let code = REQUESTED_CODE.load(SeqCst);
    if code != 0 {
        abort(code);
    }
}

fn abort(code: c_int) -> ! {
    IS_ENDING.store(true, SeqCst);
    std::thread::sleep(OUTPUT_GRACE);
    // SAFETY: MPI is running, and this thread holds the turn.
    unsafe {
        ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code);
        libc::_exit(code)
    }
}

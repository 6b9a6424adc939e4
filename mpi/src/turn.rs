//! Whose turn it is to call MPI, and how a program ends before its time.

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

/// Between the start of MPI and its end.
static RUNS: AtomicBool = AtomicBool::new(false);

/// A thread ends the program.
static ENDS: AtomicBool = AtomicBool::new(false);

/// The code that a thread without the turn wants the program to end with.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// Where this process stands, for people who read what it says.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// What a program ends with that fails here.
const FAILED: c_int = 1;

/// What a program ends with in which a thread panics, as one of threads does.
const PANICKED: c_int = 101;

/// How long a thread waits for the turn before it ends its process alone.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long launchers get to read what was said: once they know of the end, they may not.
const READ: Duration = Duration::from_millis(100);

/// The right to call MPI, of one thread at a time.
#[derive(Debug)]
pub(crate) struct Turn(
    #[expect(dead_code, reason = "released when dropped")] MutexGuard<'static, ()>,
);

impl Turn {
    pub(crate) fn take() -> Self {
        Self::new(TURN.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `None` where another thread has it.
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

/// From now on panics end the program on all ranks, and an exit says whose it was.
pub(crate) fn begin() {
    RUNS.store(true, SeqCst);
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a function that may be called when a process ends. Without room for it, the launcher alone sees
    // that this one did.
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
    /// As `atexit` of C, with the code.
    fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
}

/// Launchers give the code of a process that was killed since another one went away, or none.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
extern "C" fn exits(code: c_int, _: *mut c_void) {
    if RUNS.load(SeqCst) && !ENDS.load(SeqCst) {
        say("the process ends before MPI does");
        end(code);
    }
}

/// From now on MPI is not called any more.
pub(crate) fn finish() {
    RUNS.store(false, SeqCst);
}

/// Where this process stands from now on: its rank, and its coordinates in a mesh.
pub(crate) fn stands(at: String) {
    *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = at;
}

/// A line on stderr that says who says it.
pub(crate) fn say(text: &str) {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner);
    eprintln!("nomina-mpi: {}: {text}", *place);
}

/// Ends the program on all ranks, since it cannot go on.
pub(crate) fn fail(what: &str) -> ! {
    say(what);
    end(FAILED)
}

/// Ends the program on all ranks.
pub(crate) fn end(code: c_int) -> ! {
    // Zero would say that all went well.
    let code = if code == 0 { FAILED } else { code };
    if !RUNS.load(SeqCst) {
        std::process::exit(code);
    }
    if !HOLDS.get() {
        if ENDS.swap(true, SeqCst) {
            // Another thread ends the program, with the code of what failed first.
            loop {
                std::thread::park();
            }
        }
        // Whoever has the turn looks at this between two calls.
        ASKED.store(code, SeqCst);
        let step = Duration::from_millis(1);
        let mut waited = Duration::ZERO;
        while waited < PATIENCE {
            if let Some(turn) = Turn::try_take() {
                // Kept: nobody else calls MPI from now on.
                std::mem::forget(turn);
                abort(code);
            }
            std::thread::sleep(step);
            waited += step;
        }
        // The launcher ends the others when it sees this.
        std::process::abort();
    }
    abort(code)
}

/// Ends the program where another thread asked for it. Called by whoever has the turn.
pub(crate) fn look() {
    let code = ASKED.load(SeqCst);
    if code != 0 {
        abort(code);
    }
}

fn abort(code: c_int) -> ! {
    ENDS.store(true, SeqCst);
    std::thread::sleep(READ);
    // SAFETY: MPI runs, and it is this thread's turn.
    unsafe {
        ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code);
        libc::_exit(code)
    }
}

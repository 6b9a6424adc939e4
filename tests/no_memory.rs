//! Running out of memory is an error, at every allocation of a call.
//!
//! An allocator refuses the first large allocation of a call and all later ones, then all from the
//! second on, and so forth until the call succeeds. Each failed call must return an error and leave
//! its arguments unchanged. Code that does not expect the failure aborts the process, so the calls
//! run in a child process.

#[allow(
    dead_code,
    reason = "what is expected of a case is not read from it here"
)]
#[path = "conformance/case.rs"]
mod case;
#[allow(dead_code, reason = "inputs are only made longer here")]
#[path = "rows/inputs.rs"]
mod inputs;
#[path = "rows/recorded.rs"]
mod recorded;

#[path = "no_memory/allocator.rs"]
mod allocator;
#[path = "no_memory/gradient_functions.rs"]
mod gradient_functions;
#[path = "no_memory/gradients.rs"]
mod gradients;
#[path = "no_memory/in_place.rs"]
mod in_place;
#[path = "no_memory/loops.rs"]
mod loops;
#[path = "no_memory/rows.rs"]
mod rows;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use nomina::{ErrorKind, Result};

#[global_allocator]
static ALLOCATOR: allocator::Refusing = allocator::Refusing;

/// Tells the parent process which call runs next.
fn tell(what: &str) {
    let mut out = std::io::stderr();
    writeln!(out, "next: {what}").expect("a parent that listens");
}

/// Repeats a call with ever more memory until it succeeds. Returns how often memory ran out, or a
/// description of the failure.
fn until_it_succeeds<A, R>(
    mut arguments: impl FnMut() -> Result<A>,
    mut call: impl FnMut(A) -> Result<R>,
) -> std::result::Result<usize, String> {
    for allowed in 0..4000 {
        let args = arguments().map_err(|error| error.to_string())?;
        let call = || allocator::with_only(allowed, || call(args));
        let attempt = catch_unwind(AssertUnwindSafe(call));
        let (result, refused) = attempt.map_err(|_| "panics".to_owned())?;
        match result {
            Ok(_) if !refused => return Ok(allowed),
            // The call has a fallback.
            Ok(_) => {}
            // The error names the operator, or the step of it that allocates.
            Err(error)
                if !refused || error.kind() != ErrorKind::Memory || error.op().is_empty() =>
            {
                return Err(format!("{:?}: {error}", error.kind()));
            }
            Err(_) => {}
        }
    }
    Err("never succeeds".to_owned())
}

/// Runs a test of this file in a child process, where `NOMINA_CACHE` keeps no blocks.
fn alone(test: &str, run: impl FnOnce()) {
    const ALONE: &str = "NOMINA_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return run();
    }
    let this = std::env::current_exe().expect("this test's program");
    let output = Command::new(this)
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(ALONE, "1")
        .env("NOMINA_CACHE", "0")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .expect("this test's program runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || !said.contains("1 passed") {
        let last = told.lines().rev().take(12).collect::<Vec<_>>();
        let last: String = last.iter().rev().map(|line| format!("{line}\n")).collect();
        panic!("{}\n{last}", output.status);
    }
    print!("{said}");
}

#[test]
fn every_row_survives_without_memory() {
    alone("every_row_survives_without_memory", rows::all);
}

#[test]
fn in_place_changes_nothing_without_memory() {
    alone("in_place_changes_nothing_without_memory", in_place::all);
}

#[test]
fn gradients_stay_as_they_were_without_memory() {
    alone("gradients_stay_as_they_were_without_memory", gradients::all);
}

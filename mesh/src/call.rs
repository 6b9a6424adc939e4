//! Helpers of the typed calls.

use nomina::{Error, Result};

/// Returns the value, or panics at the user's line.
#[track_caller]
pub(crate) fn ok<V>(result: Result<V>) -> V {
    match result {
        Ok(value) => value,
        Err(error) => fail(&error),
    }
}

#[cold]
#[track_caller]
fn fail(error: &Error) -> ! {
    panic!("{error}")
}

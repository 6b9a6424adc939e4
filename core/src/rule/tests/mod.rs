//! Tests of cases without a recorded call: the texts of errors, kinds that PyTorch has no named
//! form of, and cases where PyTorch is wrong.

mod contract;
mod dims;
mod joins;
mod moves;
mod order;
mod sizes;
mod unify;

use crate::error::{Error, ErrorKind};
use crate::name::{Name, Names};

/// Parses names: `n("N _ C")`.
fn n(text: &str) -> Names {
    let name = |text: &str| (text != "_").then(|| Name::new(text).expect("a name"));
    Names::new(text.split_ascii_whitespace().map(name)).expect("distinct names")
}

/// Returns the text of an error, and its kind.
#[track_caller]
fn fails<T: core::fmt::Debug>(result: crate::Result<T>, kind: ErrorKind, text: &str) -> Error {
    let error = result.expect_err("an error");
    assert_eq!(
        (error.kind(), alloc::format!("{error}").as_str()),
        (kind, text)
    );
    error
}

/// Returns the kind of an error.
#[track_caller]
fn kind<T: core::fmt::Debug>(result: crate::Result<T>) -> ErrorKind {
    result.expect_err("an error").kind()
}

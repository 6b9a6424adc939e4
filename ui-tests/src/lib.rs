//! What rustc says to mistakes: one folder per rule, one file per mistake, the expected text
//! beside it. See `tests/ui.rs`, and `docs/errors.md`, which is made of them.

pub mod catalogue;

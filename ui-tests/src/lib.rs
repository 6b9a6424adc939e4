//! What rustc says to mistakes: one folder per rule, one file per mistake, the expected text
//! beside it. See `tests/ui.rs`.

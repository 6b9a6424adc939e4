//! Compiler output for mistakes: one folder per rule, one file per mistake, with the expected text
//! next to it. See `tests/ui.rs`, and `docs/errors.md`, which is generated from them.

pub mod catalogue;

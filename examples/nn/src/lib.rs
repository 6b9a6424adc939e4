//! The examples of networks; see `digits.rs`.

//! The sentence encoder; see `minilm.rs`.

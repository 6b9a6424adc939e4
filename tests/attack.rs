//! Hostile calls, run here with overflow checks; `cargo xtask check` runs the same files in release, from a crate
//! outside the workspace.

#[path = "attack/tests/call.rs"]
mod call;
#[path = "attack/tests/layers.rs"]
mod layers;
#[path = "attack/tests/macros.rs"]
mod macros;
#[path = "attack/tests/matrices.rs"]
mod matrices;
#[path = "attack/tests/names.rs"]
mod names;
#[path = "attack/tests/sizes.rs"]
mod sizes;
#[path = "attack/tests/slopes.rs"]
mod slopes;
#[path = "attack/tests/sums.rs"]
mod sums;
#[path = "attack/tests/tape.rs"]
mod tape;
#[path = "attack/tests/threads.rs"]
mod threads;
#[path = "attack/tests/values.rs"]
mod values;

//! A sentence encoder.
fn main() {}

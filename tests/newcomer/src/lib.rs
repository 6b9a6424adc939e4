//! Empty: see the tests, and the example `speed`.

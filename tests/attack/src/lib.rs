//! Hostile calls; the tests are in `tests/`.

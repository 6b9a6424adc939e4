//! What hostile callers tried; the tests are in `tests/`.

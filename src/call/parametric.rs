//! Elementwise functions with parameters.

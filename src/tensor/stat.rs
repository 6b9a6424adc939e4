//! Norms, moments and running results.

//! The number of features that kernels support.

/// The most features of a head in kernels that multiply by tensor cores; others have half of it.
pub(super) const MOST_FEATURES: usize = 128;

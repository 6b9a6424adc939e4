//! Statistics: norms, moments, running results.

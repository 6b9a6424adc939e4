//! Random fills.

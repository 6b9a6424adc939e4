//! Data in batches.

//! Indexing.

//! Elements by index.

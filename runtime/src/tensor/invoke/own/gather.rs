//! Indexing: by position, by index tensors, by masks.

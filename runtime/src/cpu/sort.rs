//! Sorting and selection.

//! Sorting and order statistics.

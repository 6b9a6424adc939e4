//! Sorting, order statistics, counting.

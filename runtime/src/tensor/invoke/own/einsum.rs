//! Products by letters, by names and of several operands.

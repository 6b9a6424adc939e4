//! Kernels that move elements by position, or compare them elementwise.

mod select;

pub(crate) use select::{Selection, count, same_elements, scatter};

//! Kernels that move elements by position, or compare them one by one.

mod select;

pub(crate) use select::{Selection, count, same_elements, scatter};

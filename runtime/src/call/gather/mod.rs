//! Gathers and scatters.

mod indices;
mod many;
mod mask;
mod pick;
mod reduced;
mod update;

#[cfg(test)]
mod tests;

pub(super) use indices::bounds;
pub use many::{from_mask, index, index_put};
pub use mask::{masked_scatter, nonzero};
pub use pick::{classes, gather, index_select, one_hot, take, unravel};
pub use reduced::{ScatterReduce, Target, reduced};
pub use update::{index_update, put, scatter};

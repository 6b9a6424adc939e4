//! Indexing: by index tensors, by masks, by name.

mod add;
mod along;
mod part;
mod place;
mod reduce;
mod select;
mod slices;

pub use along::ScatterFrom;

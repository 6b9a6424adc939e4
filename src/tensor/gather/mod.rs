//! Indexing: by index tensors, by masks, by name.

mod add;
mod along;
mod many;
mod part;
mod place;
mod reduce;
mod select;
mod slices;

pub use along::ScatterFrom;
pub use many::{EachPoint, Points, PointsOf};

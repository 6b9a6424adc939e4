//! Indexing: by index tensors, by masks, by name.

pub mod add;
pub mod along;
pub mod at_mut;
pub mod many;
pub mod place;
pub mod reduce;
pub mod select;
pub mod slices;

pub use along::ScatterFrom;
pub use many::{EachPoint, Points, PointsOf};

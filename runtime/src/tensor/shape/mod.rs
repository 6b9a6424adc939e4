//! Moving, repeating, splitting, joining and rearranging elements.

mod complex;
mod diagonal;
mod grid;
mod join;
mod moves;
mod range;
mod reshape;
mod split;

pub use diagonal::{DiagEmbedOptions, DiagonalOptions, Rot90Options};
pub use grid::{Indexing, MeshgridOptions, VanderOptions};
pub use moves::Repeats;
pub use range::{HammingOptions, KaiserOptions, LogspaceOptions, WindowOptions};
pub use split::Sections;

//! Placements: what the ranks of a mesh have of a tensor, in types and as values.
//!
//! A mesh has axes, and along each of them a tensor is in one [`State`]. `mesh!` makes a type of a mesh, generic over one
//! state an axis, which is a [`Placement`]: `Grid<Split<Batch>, Whole>`. An operator goes by its row's
//! [`Spread`](crate::op::Spread), for each axis on its own.
//!
//! | along an axis | the pieces of the ranks | its gradient |
//! |---|---|---|
//! | [`Whole`] | are equal, and each rank does something else with its own | [`Pending`] |
//! | [`Synced`] | are equal, and so is what all ranks do with them, and their gradients | [`Synced`] |
//! | [`Split<N>`](Split) | follow each other along dim `N`, in the order of ranks | [`Split<N>`](Split) |
//! | [`Pending`] | are yet to be combined: their sum is the value | [`Whole`] |
//! | [`Own`] | are anything | [`Own`] |
//!
//! As in [`dims`](crate::dims), functions are total, and checks compute nothing: they fold their questions into the first thing
//! that is wrong, a [`Verdict`], and ask once whether that is [`Accepted`](crate::dims::Accepted). What is asked of types here is
//! asked of values in [`value`], by the same names, and a test compares all cases.

mod combine;
mod fault;
mod index;
mod placement;
mod rules;
mod state;
pub mod value;

pub use combine::{ByAll, ByAny, ByMax, ByMin, ByProduct, BySum, Combine, Combiner};
pub use fault::*;
pub use index::{At0, At1, At2, At3, AxisIndex};
pub use placement::{
    AxisOf, Dual, Layout, MeshAxis, NoAxis, NoMesh, Place, Placement, Set, SplitIf, StateAt,
};
pub use rules::*;
pub use state::{
    InPointwise, InProducts, InQuotients, InSums, Mode, Own, Pending, Split, State, Synced, Whole,
};

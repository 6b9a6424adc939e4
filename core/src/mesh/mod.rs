//! Placements: the part of a tensor held by each rank of a mesh, in types and as values.
//!
//! A mesh has axes, and along each of them a tensor is in one [`State`]. `mesh!` declares a mesh type, generic over one
//! state per axis, which is a [`Placement`]: `Grid<Split<Batch>, Whole>`. An operator follows its row's
//! [`Spread`](crate::op::Spread), for each axis separately.
//!
//! | along an axis | the pieces of the ranks | its gradient |
//! |---|---|---|
//! | [`Whole`] | are equal, and each rank uses its own differently | [`Pending`] |
//! | [`Synced`] | are equal, all ranks use them equally, and their gradients are equal | [`Synced`] |
//! | [`Split<N>`](Split) | are consecutive along dim `N`, in rank order | [`Split<N>`](Split) |
//! | [`Pending`] | are partial sums, whose sum is the value | [`Whole`] |
//! | [`Own`] | are unrelated | [`Own`] |
//!
//! Like in [`dims`](crate::dims), functions are total, and checks compute nothing: they fold their questions into the
//! first fault, a [`Verdict`], and ask once whether that is [`Accepted`](crate::dims::Accepted). The checks of types
//! have counterparts for values in [`value`], with the same names but without `Is`, and a test compares all cases.

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

//! Named tensors over a mesh of processes: placements in the type, collectives as the only conversions.
//!
//! [`mesh!`] declares the axes of a mesh, and [`layout!`] which dim each axis splits. A [`Sharded`] tensor has its
//! placement in its type, so rustc refuses a forgotten all-reduce. **A call communicates if and only if it names a mesh
//! axis.** `across(X)` works on the pieces and leaves a pending sum, `X.via(Axis)` runs an algorithm over a split dim; all
//! other calls work on each rank's own piece.
//!
//! ```
//! use nomina_mesh::prelude::*;
//! dims! { Batch, Embed, Hidden }
//! mesh! { Grid: Data, Model }
//! layout! { Train on Grid: Batch => Data, Hidden => Model }
//! type On<D> = Sharded<D, Place<Train, D>>;
//!
//! let sums = Grid::threads([2, 2], |mesh| {
//!     let x: On<(Batch, Embed)> = mesh.randn([8, 4])?;
//!     let w1: On<(Embed, Hidden)> = mesh.randn([4, 6])?;
//!     let w2: On<(Hidden, Embed)> = mesh.randn([6, 4])?;
//!     // Split by columns, then by rows: one all-reduce per layer.
//!     let h: On<(Batch, Hidden)> = x.contract(&w1, Embed).relu();
//!     let y: On<(Batch, Embed)> = h.contract(&w2, across(Hidden)).all_reduce(Model);
//!     Ok(y.sum(across(Batch)).sum(Embed).all_reduce(Data).item())
//! })?;
//! assert!(sums.iter().all(|sum| *sum == sums[0]));
//! # Ok::<(), nomina::Error>(())
//! ```
//!
//! The ranks of `Grid::threads` are threads, for tests and small machines; `Grid::alone` is a single rank, `Grid::start`
//! takes the processes of `nomina-mpi`, and `Grid::simulate` sends nothing and lists what a step would send.
//!
//! | | |
//! |---|---|
//! | [`prelude`] | everything that a program on a mesh needs, including nomina's own prelude |
//! | [`Mesh`] | a rank's view of the mesh: its position, and constructors of tensors |
//! | [`Sharded`] | the typed tensor on a mesh; its operators are those of a `Tensor` that the placement allows |
//! | [`DynSharded`] | the same rules at run time |
//! | [`Whole`], [`Synced`], [`Split`], [`Pending`], [`Own`] | the states of a tensor along an axis |
//! | [`Place`], [`placement`] | the placement that a layout gives to dims, and bounds for generic code |
//! | [`convert`] | the conversions: `all_reduce`, `reduce_scatter`, `all_gather`, `all_to_all`, `cut` and others |
//! | [`claim`] | code on a rank's own piece, and the way back |
//! | [`optim`] | optimizers whose state is sharded |
//! | [`Plan`], [`Collective`] | the messages of a step on a simulated mesh, and their time |
//! | [`Engine`], [`Ranks`] | the traits of what carries the messages |
//!
//! # Features
//!
//! None is on by default.
//!
//! - `safetensors`: checkpoints of one file per rank, which any other mesh can read.
//! - `data`: variables of netCDF and zarr datasets, of which each rank reads its box.
//! - `zarr`: arrays to which each rank writes its own chunks.
//! - `nccl`: tensors on CUDA devices, exchanged by NCCL, which is loaded when a mesh first uses it.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "data", feature = "zarr"))]
mod boxes;
mod buckets;
mod call;
mod check;
pub mod claim;
pub mod convert;
#[cfg(feature = "data")]
pub mod dataset;
mod dynamic;
mod factory;
#[cfg(any(feature = "safetensors", feature = "zarr"))]
mod folder;
mod identity;
mod load;
mod mesh;
mod metadata;
#[cfg(feature = "nccl")]
mod nccl;
pub mod optim;
mod origin;
mod outcome;
mod owner;
mod partition;
mod plan;
pub mod prelude;
mod queue;
mod ranks;
mod rng;
#[cfg(feature = "safetensors")]
pub mod safetensors;
pub mod sharded;
mod shared;
mod split_dim;
mod threads;
#[cfg(feature = "zarr")]
pub mod zarr;

// `#[twin]` expands to `crate::ok`.
use call::ok;
pub use claim::EachOwn;
pub use dynamic::{ClassOptions, DimVia, DynSharded, IntoShardedOperand, Over, ShardedOperand};
pub use mesh::{Engine, Mesh};
pub use nomina_core::mesh::{Across, Combine, Own, Pending, Place, Split, Synced, Whole, across};
pub use nomina_macros::{layout, mesh};
#[doc(hidden)]
pub use origin::Origin;
pub use partition::part;
pub use plan::{Collective, Plan, sent};
pub use ranks::{Alone, Job, Ranks, Ticket, timeout};
pub use sharded::along::{Along, AlongDim, Via, ViaAxis};
pub use sharded::entropy::CrossEntropyOptions;
pub use sharded::layers::{cat, try_cat};
pub use sharded::{Sharded, operand};
pub use threads::threads;

/// Bounds for generic code: states, placements, and the requirements of operators.
pub use nomina_core::mesh as placement;

/// Items that the macros refer to.
#[doc(hidden)]
pub mod __private {
    pub use std::vec::Vec;

    pub use nomina::Result;
    pub use nomina::dims::Dims;
    pub use nomina_core::mesh::value::StaticPlace;
    pub use nomina_core::mesh::{
        At0, At1, At2, At3, Layout, MeshAxis, NoAxis, Placement, Set, SplitIf, State, StateAt,
        Whole,
    };

    pub use crate::mesh::{Engine, Mesh};
    pub use crate::threads::threads;
}

/// The guide to meshes; its snippets run as doc tests.
#[cfg(all(doctest, feature = "safetensors", feature = "zarr"))]
#[doc = include_str!("../../docs/mesh.md")]
pub struct Meshes;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

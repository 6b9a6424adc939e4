//! Named tensors over a mesh of processes.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
mod boxes;
mod call;
mod check;
pub mod claim;
pub mod convert;
mod dynamic;
mod factory;
#[cfg(any(feature = "safetensors", feature = "zarr"))]
mod folder;
mod frame;
mod identity;
mod load;
mod mesh;
#[cfg(feature = "nccl")]
mod nccl;
pub mod optim;
mod origin;
mod owner;
mod parts;
mod plan;
pub mod prelude;
mod queue;
mod ranks;
#[cfg(feature = "safetensors")]
pub mod safetensors;
mod settle;
pub mod sharded;
mod threads;
#[cfg(feature = "zarr")]
pub mod zarr;

pub use boxes::part;
pub use claim::EachOwn;
pub use dynamic::{ClassOptions, DimVia, DynSharded, Over};
pub use mesh::{Engine, Mesh};
pub use nomina_core::mesh::{Across, Combine, Own, Pending, Place, Split, Synced, Whole, across};
pub use nomina_macros::{layout, mesh};
#[doc(hidden)]
pub use origin::Origin;
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

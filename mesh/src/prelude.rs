//! The items that programs import by `use nomina_mesh::prelude::*;`, including nomina's own prelude.

pub use nomina::prelude::*;

pub use crate::{
    Mesh, Own, Pending, Place, Sharded, Split, Synced, ViaAxis, Whole, across, layout, mesh,
};

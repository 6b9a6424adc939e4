//! What programs import: `use nomina_mesh::prelude::*;`, nomina's own prelude included.

pub use nomina::prelude::*;

pub use crate::{
    Mesh, Own, Pending, Place, Sharded, Split, Synced, ViaAxis, Whole, across, layout, mesh,
};

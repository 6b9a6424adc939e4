//! A layout that does not say of which mesh.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data }
layout! { Train Grid: Batch => Data }

fn main() {}
// fix: layout! { Train on Grid: Batch => Data }

//! A mesh without an axis.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: }

fn main() {}
// fix: mesh! { Grid: Data }

//! A mesh with more axes than a placement has states.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: A, B, C, D, E }

fn main() {}
// fix: mesh! { Grid: A, B, C, D }

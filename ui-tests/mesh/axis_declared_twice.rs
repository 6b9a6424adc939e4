//! One name for two axes.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data, Data }

fn main() {}
// fix: mesh! { Grid: Data, Model }

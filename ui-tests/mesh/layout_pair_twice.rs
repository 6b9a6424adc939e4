//! A layout that says one thing twice.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data }
layout! { Train on Grid: Batch => Data, Batch => Data }

fn main() {}
// fix: layout! { Train on Grid: Batch => Data, Hidden => Data }

//! A state where a placement belongs.
use nomina_mesh::prelude::*;
dims! { Batch }
mesh! { Grid: Data, Model }

fn rows(x: &Sharded<(Batch,), Whole>) {
    let _ = x;
}

fn main() {
    let _ = rows;
}
// fix: fn rows(x: &Sharded<(Batch,), Grid<Whole, Whole>>) {

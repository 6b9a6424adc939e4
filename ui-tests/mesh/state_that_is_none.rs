//! A dim where a state belongs.
use nomina_mesh::prelude::*;
dims! { Batch }
mesh! { Grid: Data, Model }

fn rows(x: &Sharded<(Batch,), Grid<Batch, Whole>>) {
    let _ = x;
}

fn main() {
    let _ = rows;
}
// fix: fn rows(x: &Sharded<(Batch,), Grid<Split<Batch>, Whole>>) {

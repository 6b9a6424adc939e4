//! A sum that is pending, and parts of a tensor.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let y: Sharded<(Embed,), Grid<Whole, Split<Embed>>> = mesh.zeros([3]).unwrap();
    let _ = x + y;
}
// fix: let _ = x.reduce_scatter(Model, Embed) + y;

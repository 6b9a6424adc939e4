//! A part of what is not whole yet.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let _ = x.cut(Model, Embed);
}
// fix: let _ = x.reduce_scatter(Model, Embed);

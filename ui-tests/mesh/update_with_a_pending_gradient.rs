//! A step with a gradient that was not reduced.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let mut w: Sharded<(Embed,), Grid<Whole, Whole>> = mesh.zeros([3]).unwrap();
    let g: Sharded<(Embed,), Grid<Pending, Whole>> = mesh.zeros([3]).unwrap();
    w -= &g;
}
// fix: w -= &g.all_reduce(Data);

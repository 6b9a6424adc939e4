//! A layer that forgets to finish its sum.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let _: Sharded<(Embed,), Grid<Whole, Whole>> = x;
}
// fix: let _: Sharded<(Embed,), Grid<Whole, Whole>> = x.all_reduce(Model);

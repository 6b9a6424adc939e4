//! What is not linear, of a part of a sum.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let _ = x.exp();
}
// fix: let _ = x.all_reduce(Model).exp();

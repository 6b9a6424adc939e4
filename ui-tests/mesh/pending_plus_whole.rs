//! A sum that is pending, and a bias that each rank would add.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let y: Sharded<(Embed,), Grid<Whole, Whole>> = mesh.zeros([3]).unwrap();
    let _ = x + y;
}
// fix: let _ = x.all_reduce(Model) + y;

//! A product of two sums, neither of which is finished.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Embed,), Grid<Whole, Pending>> = mesh.zeros([3]).unwrap();
    let _ = &x * &x;
}
// fix: let _ = &x * &x.all_reduce(Model);

//! A tensor without mesh: each rank has its own.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let t: Tensor<(Embed,)> = Tensor::zeros([3]);
    let _ = x + &t;
}
// fix: let _ = x + mesh.whole(t);

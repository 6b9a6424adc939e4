//! What a rank computed for itself, beside a part of a tensor.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let y = mesh.own(Tensor::<(Embed,)>::zeros([3]));
    let _ = x + y;
}
// fix: let _ = x + y.broadcast(Data, 0).broadcast(Model, 0);

//! `via` one of the two axes that split a dim: each rank would see a part of it.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch,), Grid<Split<Batch>, Split<Batch>>> = mesh.zeros([8]).unwrap();
    let _ = x.softmax(Batch.via(Model));
}
// fix: let _ = x.all_gather(Model).softmax(Batch.via(Data));

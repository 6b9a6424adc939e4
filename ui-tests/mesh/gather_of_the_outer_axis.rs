//! A dim that two axes split, gathered from the outside.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch,), Grid<Split<Batch>, Split<Batch>>> = mesh.zeros([8]).unwrap();
    let _ = x.all_gather(Data);
}
// fix: let _ = x.all_gather(Model).all_gather(Data);

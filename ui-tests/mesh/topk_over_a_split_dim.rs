//! The greatest elements along a dim of which each rank has a part.
use nomina_mesh::prelude::*;
dims! { Batch, Vocab }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Vocab), Grid<Split<Batch>, Split<Vocab>>> = mesh.zeros([2, 4]).unwrap();
    let _ = x.topk(2, Vocab);
}
// fix: let _ = x.topk(2, Vocab.via(Model));

//! A cross entropy over classes of which each rank has a part.
use nomina_mesh::prelude::*;
dims! { Batch, Vocab }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let logits: Sharded<(Batch, Vocab), Grid<Split<Batch>, Split<Vocab>>> = mesh.zeros([2, 4]).unwrap();
    let targets: Sharded<(Batch,), Grid<Split<Batch>, Whole>, i64> = mesh.zeros([2]).unwrap();
    let _ = logits.cross_entropy(&targets, Vocab);
}
// fix: let _ = logits.cross_entropy(&targets, Vocab.via(Model));

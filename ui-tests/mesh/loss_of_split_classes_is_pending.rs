//! A loss of split classes, read before it is the sum over ranks.
use nomina_mesh::prelude::*;
dims! { Batch, Vocab }
mesh! { Line: Model }

fn main() {
    let mesh = Line::alone();
    let logits: Sharded<(Batch, Vocab), Line<Split<Vocab>>> = mesh.zeros([2, 4]).unwrap();
    let targets: Sharded<(Batch,), Line<Whole>, i64> = mesh.zeros([2]).unwrap();
    let loss = logits.cross_entropy(&targets, Vocab.via(Model));
    let _ = loss.item();
}
// fix: let _ = loss.all_reduce(Model).item();

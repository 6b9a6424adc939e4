//! `via` an axis that does not split the dim.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let _ = x.softmax(Embed.via(Model));
}
// fix: let _ = x.softmax(Embed);

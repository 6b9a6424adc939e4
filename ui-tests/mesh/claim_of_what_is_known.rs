//! A claim of what the pieces are together, where that is known.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let _: Sharded<(Batch, Embed), Grid<Whole, Whole>> = x.claim(&[2, 3]).unwrap();
}
// fix: let _: Sharded<(Batch, Embed), Grid<Whole, Whole>> = x.all_gather(Data);

//! Several dims as one, of which the split one is not the first.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Whole, Split<Embed>>> = mesh.zeros([2, 3]).unwrap();
    let _ = x.flatten((Batch, Embed), Hidden);
}
// fix: let _ = x.all_gather(Model).flatten((Batch, Embed), Hidden);

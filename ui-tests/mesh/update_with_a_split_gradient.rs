//! A step with a part of a gradient, of a tensor that is whole.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let mut w: Sharded<(Batch, Embed), Grid<Whole, Whole>> = mesh.zeros([2, 3]).unwrap();
    let g: Sharded<(Embed,), Grid<Split<Embed>, Whole>> = mesh.zeros([3]).unwrap();
    w -= &g;
}
// fix: w -= &g.all_gather(Data);

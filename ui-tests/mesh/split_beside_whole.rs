//! All of a dim beside a part of it.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let y: Sharded<(Batch, Embed), Grid<Whole, Whole>> = mesh.zeros([2, 3]).unwrap();
    let _ = x + y;
}
// fix: let _ = x + y.cut(Data, Batch);

//! An axis of another mesh.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    mesh! { Line: Rank }
    let _ = x.all_gather(Rank);
}
// fix: let _ = x.all_gather(Data);

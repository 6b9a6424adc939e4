//! Two operands of which the ranks have parts of different dims.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let y: Sharded<(Batch, Embed), Grid<Split<Embed>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let _ = x + y;
}
// fix: let _ = x + y.all_to_all(Data, Batch);

//! A state where a placement belongs.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let _ = mesh;
    let _: Option<Sharded<(Batch,), Whole>> = None;
}
// fix: let _: Option<Sharded<(Batch,), Grid<Whole, Whole>>> = None;

//! Windows along two dims, of one of which each rank has a part.
use nomina_mesh::prelude::*;
dims! { Batch, Height, Width }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let image: Sharded<(Batch, Height, Width), Grid<Split<Batch>, Split<Height>>> = mesh.zeros([2, 4, 4]).unwrap();
    let _ = image.max_pool2d((Height, Width), [2, 2]);
}
// fix: let _ = image.max_pool2d((Height.via(Model), Width), [2, 2]);

//! A parameter whose gradient is the sum over ranks, which nobody wrote.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let x: Sharded<(Batch, Embed), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 3]).unwrap();
    let b = mesh.parameter(Tensor::<(Embed,)>::zeros([3])).unwrap();
    let _ = x + b;
}
// fix: let _ = x + b.whole(Data).whole(Model);

//! A loss of which each rank has a copy: each would count.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let w = mesh.parameter(Tensor::<(Embed,)>::zeros([3])).unwrap().whole(Data).whole(Model);
    let loss: Sharded<(), Grid<Whole, Whole>> = w.square().sum(..);
    loss.backward();
}
// fix: loss.pend(Data).pend(Model).backward();

//! Parts that go round, of a dim of which the other factor has parts, too.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let h: Sharded<(Batch, Hidden), Grid<Split<Batch>, Split<Hidden>>> = mesh.zeros([2, 4]).unwrap();
    let w: Sharded<(Hidden, Embed), Grid<Whole, Split<Hidden>>> = mesh.zeros([4, 3]).unwrap();
    let _ = h.contract(&w, Hidden.via(Model));
}
// fix: let _ = h.contract(&w, across(Hidden)).all_reduce(Model);

//! A product across a dim that only one operand splits.
use nomina_mesh::prelude::*;
dims! { Batch, Embed, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let h: Sharded<(Batch, Hidden), Grid<Split<Batch>, Split<Hidden>>> = mesh.zeros([2, 4]).unwrap();
    let w: Sharded<(Hidden, Embed), Grid<Whole, Whole>> = mesh.zeros([4, 3]).unwrap();
    let _ = h.contract(&w, across(Hidden));
}
// fix: let _ = h.contract(&w.cut(Model, Hidden), across(Hidden)).all_reduce(Model);

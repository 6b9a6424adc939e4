//! `via` of a sum, whose result is pending and finished by a conversion.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let h: Sharded<(Batch, Hidden), Grid<Split<Batch>, Split<Hidden>>> = mesh.zeros([2, 4]).unwrap();
    let _ = h.sum(Hidden.via(Model));
}
// fix: let _ = h.sum(across(Hidden)).all_reduce(Model);

//! A logarithm of sums over a dim of which each rank has a part.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let h: Sharded<(Batch, Hidden), Grid<Split<Batch>, Split<Hidden>>> = mesh.zeros([2, 4]).unwrap();
    let _ = h.logsumexp(Hidden);
}
// fix: let _ = h.logsumexp(Hidden.via(Model));

//! A name as text, where a dim, or one via a mesh axis, belongs.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let h: Sharded<(Batch, Hidden), Grid<Split<Batch>, Whole>> = mesh.zeros([2, 4]).unwrap();
    let _ = h.logsumexp("Hidden");
}
// fix: let _ = h.logsumexp(Hidden);

//! A mesh where a layout belongs.
use nomina_mesh::prelude::*;
dims! { Batch, Hidden }
mesh! { Grid: Data }
type On<D> = Sharded<D, Place<Grid, D>>;

fn main() {
    let _: Option<On<(Batch,)>> = None;
}
// fix: layout! { Train on Grid: Batch => Data }
// fix: type On<D> = Sharded<D, Place<Train, D>>;

//! Rows of a table of which each rank has some.
use nomina_mesh::prelude::*;
dims! { Batch, Vocab, Embed }
mesh! { Grid: Data, Model }

fn main() {
    let mesh = Grid::alone();
    let table: Sharded<(Vocab, Embed), Grid<Whole, Split<Vocab>>> = mesh.zeros([4, 3]).unwrap();
    let ids: Sharded<(Batch,), Grid<Split<Batch>, Whole>, i64> = mesh.zeros([2]).unwrap();
    let _ = table.embedding(Vocab, &ids);
}
// fix: let _ = table.embedding(Vocab.via(Model), &ids);

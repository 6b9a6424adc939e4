//! A small GPT trained on a mesh: `cargo run --release --example charlm_mesh [-- --mesh 2x2 --steps 60]`. The first
//! size is that of axis `Data`, which splits the batch; the second is that of axis `Model`, which splits heads and
//! inner features.
//!
//! Ranks are threads here; the same function also trains on processes. Prints the loss on held-out pages, in nats per
//! character, which is the same for every mesh except for the order of additions.

#[path = "charlm/model.rs"]
#[expect(dead_code, reason = "this program makes up no text")]
mod model;
#[path = "charlm/sharded.rs"]
#[expect(dead_code, reason = "this program plans no step")]
mod sharded;

use model::Text;
use sharded::{Grid, RUN, Run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |name: &str| std::env::args().skip_while(|arg| arg != name).nth(1);
    let mesh = argument("--mesh").unwrap_or_else(|| "2x2".to_owned());
    let (data, parts) = mesh.split_once('x').ok_or("a mesh is written 2x2")?;
    let sizes = [data.parse()?, parts.parse()?];
    let steps = argument("--steps").map_or(Ok(RUN.steps), |steps| steps.parse())?;
    let run = Run { steps, ..RUN };
    let text = Text::new(include_str!("../data/classics.txt"), 4096);
    let losses = Grid::threads(sizes, |mesh| sharded::train(&mesh, &text, run))?;
    let [before, after] = losses[0];
    println!(
        "{mesh}: held out, before: {before:.4} nats a character, after {steps} steps: {after:.4}"
    );
    Ok(())
}

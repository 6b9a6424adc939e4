//! The small GPT of `examples/nn/charlm_mesh.rs` on processes: `mpiexec -n 4 cargo run --release --example charlm_mesh [-- --mesh 2x2 --steps 60]`.
//!
//! Prints the loss of held-out pages, in nats per character. It equals that of a single process, up to the order of
//! additions.

#[path = "../../examples/nn/charlm/model.rs"]
#[expect(dead_code, reason = "this program makes up no text")]
mod model;
#[path = "../../examples/nn/charlm/sharded.rs"]
#[expect(dead_code, reason = "this program plans no step")]
mod sharded;

use model::Text;
use nomina_mpi::Mpi;
use sharded::{Grid, RUN, Run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |name: &str| std::env::args().skip_while(|arg| arg != name).nth(1);
    let mesh = argument("--mesh").unwrap_or_else(|| "0x1".to_owned());
    let (data, parts) = mesh.split_once('x').ok_or("a mesh is written 2x2")?;
    let sizes = [data.parse()?, parts.parse()?];
    let steps = argument("--steps").map_or(Ok(RUN.steps), |steps| steps.parse())?;
    let mesh = Grid::start(&Mpi::start()?, sizes)?;
    let text = Text::new(include_str!("../../examples/data/classics.txt"), 4096);
    let [before, after] = sharded::train(&mesh, &text, Run { steps, ..RUN })?;
    if mesh.is_first() {
        println!(
            "{mesh:?}: held out, before: {before:.4} nats a character, after {steps} steps: {after:.4}"
        );
    }
    Ok(())
}

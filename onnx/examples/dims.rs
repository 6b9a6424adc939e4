//! Prints a model's inputs, outputs and dims: each class of dims with its name, sizes, source and first places; at the end, how many
//! names the results of nodes have, and the share that says something.
//!
//! `cargo run -p nomina-onnx --example dims -- model.onnx…`

use nomina_onnx::Model;

fn main() -> nomina_core::Result<()> {
    for path in std::env::args().skip(1) {
        let model = Model::open(&path)?;
        println!("{path}: opset {}, {} nodes", model.opset(), model.nodes());
        model
            .inputs()
            .iter()
            .for_each(|port| println!("  in   {port}"));
        model
            .outputs()
            .iter()
            .for_each(|port| println!("  out  {port}"));
        for dim in model.dims() {
            let sizes: Vec<_> = dim.sizes.iter().map(ToString::to_string).collect();
            let (sizes, places) = (sizes.join("|"), dim.places.join(", "));
            println!("  {:<24} {:<10} {sizes:<16} {places}", dim.name, dim.source);
        }
        let names = model.dims().iter().filter(|dim| dim.activations > 0);
        let (all, good) = names.fold((0, 0), |(all, good), dim| {
            (all + 1, good + usize::from(dim.meaningful))
        });
        println!(
            "{all} names of activations, {} % meaningful",
            100 * good / all.max(1)
        );
    }
    Ok(())
}

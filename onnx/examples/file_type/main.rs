//! Tells the type of files by their bytes, by magika.
//!
//! ```sh
//! python3 scripts/onnx_models.py fetch target/models
//! cargo run --release -p nomina-onnx --example file_type -- target/models/magika__models_standard_v3_3_model/model.onnx *
//! ```

mod classifier;

use std::error::Error;

use nomina_onnx::Model;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let model = args.next().ok_or("usage: file_type MODEL.onnx FILE…")?;
    let model = Model::open(model)?;
    let files: Vec<String> = args.collect();
    let contents = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    for (file, guess) in files.iter().zip(classifier::classify(&model, &contents)?) {
        println!("{file}: {} ({:.0} %)", guess.kind, 100.0 * guess.score);
    }
    Ok(())
}

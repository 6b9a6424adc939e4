//! Reads the text in a picture, by PP-OCR.
//!
//! ```sh
//! python3 scripts/onnx_models.py fetch target/models
//! models=target/models/rapidocr_onnxruntime__models_ch_PP-OCRv4
//! cargo run --release -p nomina-onnx --example read_text -- ${models}_det_infer/model.onnx ${models}_rec_infer/model.onnx page.png
//! ```
//!
//! Lines run from left to right and are not rotated; letters are Chinese and Latin. Prints each line with its place and its score.

mod boxes;
mod letters;
mod reader;

use std::error::Error;

use nomina::prelude::*;
use nomina_io::png;
use reader::Reader;

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [finder, reader, file] = &args[..] else {
        return Err("usage: read_text FINDER.onnx READER.onnx PICTURE.png".into());
    };
    let picture: DynTensor = png::load(file)?;
    let picture = reader::colours(&picture)?;
    for line in Reader::open(finder, reader)?.read(&picture)? {
        let (rows, columns) = (&line.place.rows, &line.place.columns);
        println!(
            "{:4}..{:<4} {:4}..{:<4} {:3.0} %  {}",
            rows.start,
            rows.end,
            columns.start,
            columns.end,
            100.0 * line.score,
            line.text
        );
    }
    Ok(())
}

//! Models as Rust: the emitted text compiles, and equals the interpreter.
//!
//! `NOMINA_IMPORT=FOLDER=OUT` imports all models of a folder instead, for `scripts/onnx_models.py import`.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_io::safetensors;
use nomina_onnx::{ImportOptions, import};

fn write(file: &Path, out: &Path, sizes: BTreeMap<String, Vec<usize>>) -> nomina::Result<String> {
    let (model, imported) = import(
        file,
        &ImportOptions {
            sizes,
            ..Default::default()
        },
    )?;
    std::fs::create_dir_all(out).unwrap();
    std::fs::write(out.join("mod.rs"), &imported.text).unwrap();
    std::fs::write(out.join("tests.rs"), &imported.tests).unwrap();
    safetensors::save(out.join("weights.safetensors"), imported.weights)?;
    safetensors::save(out.join("sample.safetensors"), imported.sample)?;
    Ok(format!(
        "{} nodes, {} operators, {} names, {} lines",
        model.nodes(),
        imported.operators,
        imported.dims.len(),
        imported.text.lines().count()
    ))
}

/// Imports all models of a folder, with sizes from `sizes` files beside them: a line `input=1x2x3` for each input.
#[test]
fn a_folder() {
    let Ok(folders) = std::env::var("NOMINA_IMPORT") else {
        return;
    };
    let (from, to) = folders.split_once('=').unwrap();
    let mut models: Vec<_> = std::fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    models.sort();
    for model in models {
        let sizes = std::fs::read_to_string(model.join("sizes")).unwrap_or_default();
        let sizes = sizes.lines().filter_map(|line| {
            let (input, sizes) = line.rsplit_once('=')?;
            let sizes = sizes
                .split('x')
                .filter(|size| !size.is_empty())
                .map(|size| size.parse().unwrap());
            Some((input.to_owned(), sizes.collect()))
        });
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        let start = std::time::Instant::now();
        match write(
            &model.join("model.onnx"),
            &Path::new(to).join(&name),
            sizes.collect(),
        ) {
            Ok(report) => println!("{name}: {report}, {:.1} s", start.elapsed().as_secs_f64()),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

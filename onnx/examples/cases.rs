//! Runs folders in ONNX's test layout: `model.onnx`, `test_data_set_*/input_*.pb`, `output_*.pb`.
//!
//! `cargo run --release -p nomina-onnx --example cases -- DIR…`; a folder without a model is searched. Ends with
//! `N passed, N refused, N failed`; a line for each says by how much the results differ, relative to the largest element. Floats may differ by 1e-3, or by 1e-5 of the largest element.

#[path = "../tests/node/mod.rs"]
mod node;

use std::fs;
use std::path::{Path, PathBuf};

use node::{DataSet, Miss, check};
use nomina_onnx::Model;

fn main() {
    let (mut passed, mut refused, mut failed) = (0, 0, 0);
    let mut folders = Vec::new();
    std::env::args()
        .skip(1)
        .for_each(|folder| find(Path::new(&folder), &mut folders));
    folders.sort();
    for folder in &folders {
        match case(folder) {
            Ok(difference) => {
                passed += 1;
                println!("passed  {}: {difference:.1e}", folder.display());
            }
            Err(Miss::Refused(error)) => {
                refused += 1;
                println!("refused {}: {error}", folder.display());
            }
            Err(Miss::Failed(what)) => {
                failed += 1;
                println!("FAILED  {}: {what}", folder.display());
            }
        }
    }
    println!("{passed} passed, {refused} refused, {failed} failed");
    std::process::exit(i32::from(failed > 0));
}

fn find(folder: &Path, all: &mut Vec<PathBuf>) {
    if folder.join("model.onnx").is_file() {
        return all.push(folder.to_owned());
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            find(&entry.path(), all);
        }
    }
}

/// The files `input_0.pb`, `input_1.pb` and so on.
fn messages(folder: &Path, kind: &str) -> Vec<Vec<u8>> {
    let files = (0..).map(|at| fs::read(folder.join(format!("{kind}_{at}.pb"))));
    files.map_while(Result::ok).collect()
}

/// Returns the largest difference, relative to the largest element.
fn case(folder: &Path) -> Result<f64, Miss> {
    let model = Model::open(folder.join("model.onnx"))?;
    let inside = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let sets = inside.filter(|path| path.join("output_0.pb").is_file());
    let sets: Vec<_> = sets
        .map(|set| DataSet {
            inputs: messages(&set, "input"),
            outputs: messages(&set, "output"),
        })
        .collect();
    // The order of sums adds up over the layers of a whole model.
    check(&model, &sets, 1e-5)
}

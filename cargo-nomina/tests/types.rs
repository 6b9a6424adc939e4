//! `cargo nomina types`: its texts for files of every format, which are compiled here and open the files.
//!
//! `NOMINA_RECORD=1 cargo test --workspace --test types` writes the texts again.
#![cfg(feature = "types")]

use std::path::{Path, PathBuf};
use std::process::Command;

use nomina::prelude::*;

#[path = "types/arrays.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod arrays;
#[path = "types/blocks.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod blocks;
#[path = "types/checkpoint.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod checkpoint;
#[path = "types/foreign.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod foreign;
#[path = "types/made.rs"]
#[allow(dead_code, reason = "text as the command prints it")]
mod made;
#[path = "types/named.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod named;
#[path = "types/north.rs"]
#[allow(dead_code, reason = "text as the command prints it")]
mod north;
#[path = "types/packed.rs"]
#[allow(dead_code, non_snake_case, reason = "text as the command prints it")]
mod packed;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../io/tests/data")
        .join(name)
}

/// Returns a file of nomina-data's tests.
fn dataset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../data/tests/data")
        .join(name)
}

fn printed(args: &[&str], file: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"));
    let output = command.arg("types").args(args).arg(file).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the tokens of a text. rustfmt changes spaces and commas before brackets.
fn tokens(text: &str) -> String {
    let tokens: proc_macro2::TokenStream = text.parse().unwrap();
    let text = tokens.to_string().replace([' ', '\n'], "");
    text.replace(",)", ")")
        .replace(",>", ">")
        .replace(",}", "}")
}

/// Checks that the command prints the text that is compiled here.
fn same(args: &[&str], file: &Path, module: &str) {
    let found = printed(args, file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/types")
        .join(module);
    if std::env::var_os("NOMINA_RECORD").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(tokens(&found) == tokens(&committed), "{module}:\n{found}");
}

#[test]
fn a_checkpoint_of_pytorch() {
    let file = data("pth/checkpoint.pt");
    same(&[], &file, "checkpoint.rs");
    use checkpoint::{Checkpoint, Model0In, Model0Out};
    let all = Checkpoint::open(&file).unwrap();
    let w: &Tensor<(Model0Out, Model0In)> = &all.model.layer_0.weight;
    assert_eq!(w.shape(), [4, 3]);
    // The bias has the dim of the outputs, so that it can be added.
    let x = Tensor::<(Model0In,)>::ones([3]);
    let y: Tensor<(Model0Out,)> = x.contract(w, Model0In) + &all.model.layer_0.bias;
    assert_eq!(y.size(Model0Out), 4);
    assert_eq!(all.model.layer_1.num_batches_tracked.item(), 6);
    assert!(Checkpoint::open(data("pth/state.pth")).is_err());
}

#[test]
fn names_and_dtypes_of_a_safetensors_file() {
    let file = data("python.safetensors");
    same(&["--name", "Fields"], &file, "named.rs");
    use named::{Fields, Lat, Lon, Time};
    let all = Fields::open(&file).unwrap();
    let field: &Tensor<(Time, Lat, Lon), bf16> = &all.bfloat16;
    assert_eq!((field.size(Lat), field.size(Lon)), (3, 4));
}

#[test]
fn arrays_of_numpy_with_sizes() {
    let file = data("python.npz");
    same(&["--sizes"], &file, "arrays.rs");
    let all = arrays::Python::open(&file).unwrap();
    let total = all.float64.sum(..).item();
    assert_eq!(total, (0..24).map(|i| f64::from(7 * i % 23)).sum::<f64>());
}

#[test]
fn arrays_of_a_zarr_group() {
    let file = data("packed.zarr");
    same(&[], &file, "packed.rs");
    let all = packed::Packed::open(&file).unwrap();
    assert!(all.int16.read().unwrap().numel() > 0);
}

#[test]
fn dtypes_that_tensors_lack() {
    let file = data("pth/foreign.pt");
    same(&[], &file, "foreign.rs");
    let error = foreign::Foreign::open(&file).unwrap_err().to_string();
    // One of its numbers does not fit.
    assert!(
        error.contains("18446744073709551615 is outside the range of i64"),
        "{error}"
    );
}

/// Writes a model of three equal blocks, an embedding and keys that are not identifiers.
fn blocks_file(folder: &Path) -> PathBuf {
    let path = folder.join("blocks.safetensors");
    let mut all = Vec::new();
    let mut add = |name: String, shape: &[usize]| {
        all.push((name, DynTensor::ones(shape, ()).unwrap()));
    };
    for i in 0..3 {
        add(format!("encoder.layers.{i}.query.weight"), &[8, 8]);
        add(format!("encoder.layers.{i}.query.bias"), &[8]);
        add(format!("encoder.layers.{i}.norm.weight"), &[8]);
        add(format!("encoder.layers.{i}.norm.bias"), &[8]);
    }
    add("encoder.embeddings.weight".into(), &[20, 8]);
    add("stem.0.weight".into(), &[4, 1, 3, 3]);
    add("stem.2.weight".into(), &[4, 4, 3, 3]);
    add("type".into(), &[2]);
    add("log-scale {x}".into(), &[]);
    nomina_io::safetensors::save(&path, all).unwrap();
    path
}

#[test]
fn repeated_blocks_are_one_struct() {
    let folder = tempfile::tempdir().unwrap();
    let file = blocks_file(folder.path());
    same(&["--name", "Model"], &file, "blocks.rs");
    let all = blocks::Model::open(&file).unwrap();
    assert_eq!(all.encoder.layers.len(), 3);
    let last = &all.encoder.layers[2];
    let x = last
        .query
        .weight
        .contract(&last.query.bias, blocks::EncoderLayersQueryOut);
    assert_eq!(x.size(blocks::EncoderLayersQueryIn), 8);
    assert_eq!(all.log_scale__x_.item(), 1.0);
    assert_eq!(all.stem.layer_2.weight.rank(), 4);
    let field: &Tensor<(blocks::TypeDim0,)> = &all.type_;
    assert_eq!(field.shape(), [2]);
}

#[test]
fn a_dataset_in_a_calendar_of_360_days() {
    use nomina_data::{CfTime, Dataset};
    let file = dataset("a1b_cut.nc");
    same(&["--name", "North"], &file, "north.rs");
    let north = north::North::open(&file).unwrap();
    let south = north.sel(north::Latitude, ..=30.0);
    assert_eq!(south.air_temperature.shape(), [240, 3, 10]);
    let period: &Tensor<(north::Time,), i32> = north.forecast_period.tensor();
    let reference: CfTime = north.forecast_reference_time;
    assert_eq!(
        (period.numel(), reference.day(), north.height),
        (240, 1, 1.5)
    );

    // A group of zarr with labels is a dataset, any other one tensors.
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("a1b_cut.zarr");
    north.write_zarr(&store).unwrap();
    let text = printed(&["--name", "North"], &store);
    for line in [
        "pub Time(\"time\"): CfTime,",
        "#[dataset(units = \"K\")]",
        "pub height: f64,",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let tensors = printed(&["--tensors"], &store);
    assert!(
        tensors.contains("Zarr<Tensor<(time, latitude, longitude)>>"),
        "{tensors}"
    );
    assert!(!tensors.contains("Dataset"), "{tensors}");
}

#[test]
fn a_dataset_whose_names_are_no_identifiers() {
    use nomina_data::{Dataset, DynDataset};
    let file = dataset("made.nc");
    same(&[], &file, "made.rs");
    let made = made::Made::open(&file).unwrap();
    let scores: &Tensor<(made::ModelName, made::D2m), f64> = made.scores.tensor();
    assert_eq!(scores.shape(), [2, 2]);
    assert_eq!(made.isel(made::ModelName, 1..).scores.shape(), [1, 2]);
    let renamed = DynDataset::open(&file).unwrap();
    let error = renamed.rename_dim("model name", "station").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateNames);
}

#[test]
fn mistakes_are_explained() {
    let failed = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"));
        let output = command.arg("types").args(args).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(failed(&[]).contains("which file?"));
    assert!(failed(&["--nam"]).contains("no option `--nam`"));
    assert!(failed(&["a", "b"]).contains("a second file: `b`"));
    assert!(failed(&["--name", "1a", "x"]).contains("not the name of a struct"));
    let legacy = data("pth/legacy.pt");
    assert!(failed(&[legacy.to_str().unwrap()]).contains("PyTorch before 1.6"));
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(failed(&[text.to_str().unwrap()]).contains("neither safetensors"));
}

//! Models as Rust: the emitted text compiles, and equals the interpreter.
//!
//! `NOMINA_IMPORT=FOLDER=OUT` imports all models of a folder instead, for `scripts/onnx_models.py import`.

#[rustfmt::skip]
#[path = "imported/digits/mod.rs"]
mod digits;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nomina_core::ErrorKind;
use nomina_io::safetensors;
use nomina_onnx::{ImportOptions, import};
use write::{Attr, Writer};

fn import_to(
    file: &Path,
    out: &Path,
    sizes: BTreeMap<String, Vec<usize>>,
) -> nomina::Result<String> {
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

/// A convolution, a pool and two layers.
fn digits() -> Vec<u8> {
    let ones = || Attr::Ints(vec![1, 1, 1, 1]);
    let pool = [
        ("kernel_shape", Attr::Ints(vec![2, 2])),
        ("strides", Attr::Ints(vec![2, 2])),
    ];
    Writer::default()
        .input("image", &["batch", "1", "8", "8"])
        .random("conv.weight", &[4, 1, 3, 3])
        .random("conv.bias", &[4])
        .random("hidden.weight", &[64, 16])
        .random("hidden.bias", &[16])
        .random("digit.weight", &[16, 10])
        .random("digit.bias", &[10])
        .node_with(
            "Conv",
            &["image", "conv.weight", "conv.bias"],
            "convolved",
            &[("pads", ones())],
        )
        .node("Relu", &["convolved"], "edges")
        .node_with("MaxPool", &["edges"], "pooled", &pool)
        .node("Flatten", &["pooled"], "features")
        .node("MatMul", &["features", "hidden.weight"], "mixed")
        .node("Add", &["mixed", "hidden.bias"], "shifted")
        .node("Tanh", &["shifted"], "state")
        .node("MatMul", &["state", "digit.weight"], "logits")
        .node("Add", &["logits", "digit.bias"], "sum")
        .node("Softmax", &["sum"], "scores")
        .output("scores", &["batch", "10"])
        .model()
}

/// The folder of the committed module, below that of this package.
fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imported/digits")
}

/// The committed module, whose own test compares it with the interpreter, is that of today. `NOMINA_OVERWRITE=1` writes it anew.
#[test]
fn a_model_becomes_the_committed_module() -> nomina::Result<()> {
    let folder = std::env::temp_dir().join(format!("nomina-import-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("digits.onnx");
    std::fs::write(&file, digits()).unwrap();
    let out = if std::env::var_os("NOMINA_OVERWRITE").is_some() {
        committed()
    } else {
        folder.clone()
    };
    import_to(&file, &out, BTreeMap::new())?;
    for name in ["mod.rs", "tests.rs"] {
        let [new, old] =
            [&out, &committed()].map(|folder| std::fs::read_to_string(folder.join(name)).unwrap());
        assert_eq!(new, old, "{name}; NOMINA_OVERWRITE=1 writes it anew");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}

#[test]
fn an_input_of_another_size_is_an_error() -> nomina::Result<()> {
    let model = digits::Model::open(committed().join("weights.safetensors"))?;
    let image = nomina::Tensor::zeros([3, 1, 8, 8]);
    assert_eq!(model.forward(&image)?.scores.shape(), [3, 10]);
    let error = model
        .forward(&nomina::Tensor::zeros([3, 1, 8, 9]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    Ok(())
}

#[test]
fn an_operator_without_a_spelling_is_named() {
    let model = Writer::default()
        .input("x", &["n", "4"])
        .node("NonZero", &["x"], "places")
        .output("places", &["2", "k"])
        .model();
    let file = std::env::temp_dir().join(format!("nomina-refused-{}.onnx", std::process::id()));
    std::fs::write(&file, model).unwrap();
    let error = import(&file, &ImportOptions::default())
        .unwrap_err()
        .to_string();
    std::fs::remove_file(&file).unwrap();
    assert!(
        error.contains(
            "operator `NonZero` of opset 17, cannot be imported: it has no typed spelling"
        ),
        "{error}"
    );
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
        match import_to(
            &model.join("model.onnx"),
            &Path::new(to).join(&name),
            sizes.collect(),
        ) {
            Ok(report) => println!("{name}: {report}, {:.1} s", start.elapsed().as_secs_f64()),
            Err(error) => println!("{name}: {error}"),
        }
    }
}

//! Models as Rust: the emitted text compiles, and equals the interpreter.

#[rustfmt::skip]
#[path = "imported/digits/mod.rs"]
mod digits;
#[rustfmt::skip]
#[path = "imported/voice/mod.rs"]
mod voice;
mod write;

use std::path::{Path, PathBuf};

use nomina_core::ErrorKind;
use nomina_io::safetensors;
use nomina_onnx::{ImportOptions, import};
use write::{Attr, Writer};

fn import_to(file: &Path, out: &Path, options: &ImportOptions) -> nomina::Result<String> {
    let (model, imported) = import(file, options)?;
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

/// Recurrent layers between two branches: a size chooses the first one, an input the second one.
fn voice() -> Vec<u8> {
    let squeezed = Writer::default()
        .ints("last", &[3])
        .node("Squeeze", &["edges", "last"], "single")
        .output("single", &["batch", "step", "4"]);
    let mean = [("axes", Attr::Ints(vec![3])), ("keepdims", Attr::Int(0))];
    let averaged = Writer::default()
        .node_with("ReduceMean", &["edges"], "average", &mean)
        .output("average", &["batch", "step", "4"]);
    let doubled = Writer::default()
        .weight("two", &[], &[2.0])
        .node("Mul", &["ends", "two"], "doubled")
        .output("doubled", &["2", "batch", "3"]);
    let negated = Writer::default()
        .node("Neg", &["ends"], "negated")
        .output("negated", &["2", "batch", "3"]);
    let pairs = [
        ("kernel_shape", Attr::Ints(vec![1, 2])),
        ("strides", Attr::Ints(vec![1, 2])),
    ];
    let both = [
        ("hidden_size", Attr::Int(3)),
        ("direction", Attr::Text("bidirectional")),
    ];
    let forward = [
        ("hidden_size", Attr::Int(3)),
        ("linear_before_reset", Attr::Int(1)),
    ];
    Writer::default()
        .input("sound", &["batch", "step", "4", "take"])
        .indices("rate", &[])
        .int("three", 3)
        .int("one", 1)
        .int("fast", 16_000)
        .random("lstm.weight", &[2, 12, 4])
        .random("lstm.recurrent", &[2, 12, 3])
        .random("lstm.bias", &[2, 24])
        .random("gru.weight", &[1, 9, 4])
        .random("gru.recurrent", &[1, 9, 3])
        .node_with("MaxPool", &["sound"], "edges", &pairs)
        .node("Shape", &["edges"], "shape")
        .node("Gather", &["shape", "three"], "takes")
        .node("Equal", &["takes", "one"], "is_single")
        .node_with(
            "If",
            &["is_single"],
            "flat",
            &[
                ("then_branch", squeezed.graph()),
                ("else_branch", averaged.graph()),
            ],
        )
        .node_with(
            "Transpose",
            &["flat"],
            "time",
            &[("perm", Attr::Ints(vec![1, 0, 2]))],
        )
        .node_with(
            "LSTM",
            &["time", "lstm.weight", "lstm.recurrent", "lstm.bias"],
            ",ends",
            &both,
        )
        .node_with(
            "GRU",
            &["time", "gru.weight", "gru.recurrent"],
            "steps",
            &forward,
        )
        .node("Equal", &["rate", "fast"], "is_fast")
        .node_with(
            "If",
            &["is_fast"],
            "scores",
            &[
                ("then_branch", doubled.graph()),
                ("else_branch", negated.graph()),
            ],
        )
        .output("scores", &["2", "batch", "3"])
        .output("steps", &["step", "1", "batch", "3"])
        .model()
}

fn voice_options(rate: Option<f64>) -> ImportOptions {
    ImportOptions {
        sizes: [("sound".to_owned(), vec![2, 3, 4, 2])].into(),
        values: rate
            .map(|rate| ("rate".to_owned(), rate))
            .into_iter()
            .collect(),
        ..Default::default()
    }
}

/// The folder of a committed module, below that of this package.
fn committed(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/imported");
    folder.join(name)
}

/// The committed module is that of today. `NOMINA_OVERWRITE=1` writes it anew.
fn require_committed(name: &str, model: Vec<u8>, options: &ImportOptions) -> nomina::Result<()> {
    let folder = std::env::temp_dir().join(format!("nomina-import-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(format!("{name}.onnx"));
    std::fs::write(&file, model).unwrap();
    let out = if std::env::var_os("NOMINA_OVERWRITE").is_some() {
        committed(name)
    } else {
        folder.clone()
    };
    import_to(&file, &out, options)?;
    for part in ["mod.rs", "tests.rs"] {
        let [new, old] = [&out, &committed(name)]
            .map(|folder| std::fs::read_to_string(folder.join(part)).unwrap());
        assert_eq!(new, old, "{part}; NOMINA_OVERWRITE=1 writes it anew");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    Ok(())
}

/// Its own test compares the module with the interpreter.
#[test]
fn a_model_becomes_the_committed_module() -> nomina::Result<()> {
    require_committed("digits", digits(), &ImportOptions::default())
}

#[test]
fn branches_are_chosen_by_sizes_and_values() -> nomina::Result<()> {
    require_committed("voice", voice(), &voice_options(Some(16_000.0)))?;
    let model = voice::Model::open(committed("voice").join("weights.safetensors"))?;
    let sound = nomina::Tensor::ones([5, 7, 4, 3]);
    let output = model.forward(&sound)?;
    assert_eq!(output.scores.shape(), [2, 5, 3]);
    assert_eq!(output.steps.shape(), [7, 1, 5, 3]);
    // Two pairs would be averaged, by the branch that the text does not have.
    let other = std::panic::catch_unwind(|| model.forward(&nomina::Tensor::ones([5, 7, 4, 4])));
    let panic = other.unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("another branch of the model needs other sizes"),
        "{text}"
    );
    Ok(())
}

#[test]
fn a_branch_that_an_input_chooses_is_refused() {
    let file = std::env::temp_dir().join(format!("nomina-branch-{}.onnx", std::process::id()));
    std::fs::write(&file, voice()).unwrap();
    let text = |options| import(&file, &options).unwrap_err().to_string();
    let error = text(voice_options(None));
    let unknown = ImportOptions {
        values: [("tempo".to_owned(), 1.0)].into(),
        ..voice_options(None)
    };
    let unknown = text(unknown);
    std::fs::remove_file(&file).unwrap();
    assert!(
        error.contains("node `/scores/If`, operator `If` of opset 17, cannot be imported")
            && error.contains("its condition depends on the values of `rate`")
            && error.contains("`--value rate=1`"),
        "{error}"
    );
    assert!(unknown.contains("there is no input `tempo`"), "{unknown}");
}

#[test]
fn an_input_of_another_size_is_an_error() -> nomina::Result<()> {
    let model = digits::Model::open(committed("digits").join("weights.safetensors"))?;
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

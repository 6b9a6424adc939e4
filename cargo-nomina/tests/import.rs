//! `cargo nomina import`: its report, `names.toml`, and the module that is compiled and compared.
#![cfg(feature = "import")]

#[path = "../../onnx/tests/write/mod.rs"]
mod write;

use std::path::Path;
use std::process::Command;

use write::Writer;

/// A layer that scores ten digits.
fn digits() -> Vec<u8> {
    Writer::default()
        .input("image", &["batch", "16"])
        .random("digit.weight", &[16, 10])
        .random("digit.bias", &[10])
        .node("MatMul", &["image", "digit.weight"], "logits")
        .node("Add", &["logits", "digit.bias"], "sum")
        .node("Softmax", &["sum"], "scores")
        .output("scores", &["batch", "10"])
        .model()
}

/// Runs the command on the model in a folder; returns its two outputs.
fn run(folder: &Path, args: &[&str]) -> (bool, String, String) {
    let file = folder.join("digits.onnx");
    std::fs::write(&file, digits()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"))
        .arg("import")
        .arg(&file)
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn names_are_listed_and_written_to_edit() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("digits");
    let out_text = out.display().to_string();
    let (ok, said, error) = run(folder.path(), &["--names"]);
    assert!(
        ok && said.contains("`--out DIR` writes DIR/names.toml"),
        "{said}{error}"
    );

    let (ok, said, error) = run(folder.path(), &["--names", "--out", &out_text]);
    assert!(ok, "{error}");
    let lines: Vec<Vec<&str>> = said
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for wanted in [
        ["name", "from", "size", "places"].as_slice(),
        &["Batch", "dim_param", "any", "image.0,"],
        &["Digit", "parameter", "10", "scores.1,"],
    ] {
        let found = lines.iter().any(|line| line.starts_with(wanted));
        assert!(found, "{wanted:?} is missing:\n{said}");
    }
    assert!(
        said.contains("3 names, 3 of them") && said.contains("edit it, and import"),
        "{said}"
    );
    assert!(!out.join("mod.rs").exists());

    // A name that is edited is that of the module, and the file stays as it was.
    let file = out.join("names.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replace("= \"Digit\"", "= \"Class\"");
    assert_ne!(text, edited);
    std::fs::write(&file, &edited).unwrap();
    let (ok, said, error) = run(folder.path(), &["--names", "--out", &out_text]);
    assert!(
        ok && said.contains("Class  ") && said.contains("is as it was"),
        "{said}{error}"
    );
    let (ok, said, error) = run(folder.path(), &["--out", &out_text]);
    assert!(ok && said.contains("3 operators"), "{said}{error}");
    let module = std::fs::read_to_string(out.join("mod.rs")).unwrap();
    assert!(
        module.contains("pub scores: Tensor<(Batch, Class)>"),
        "{module}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), edited);
}

#[test]
fn wrong_arguments_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (args, wanted) in [
        (
            vec!["--value", "rate"],
            "`rate` is not an input and its number, `sr=16000`",
        ),
        (
            vec!["--value", "rate=1", "--names"],
            "there is no input `rate`",
        ),
        (
            vec!["--sizes", "image=2xa", "--names"],
            "`image=2xa` is not an input and its sizes",
        ),
        (vec!["--name"], "no option `--name`"),
    ] {
        let (ok, _, error) = run(folder.path(), &args);
        assert!(!ok && error.contains(wanted), "{args:?}: {error}");
    }
}

/// The module is compiled, and compared with the interpreter.
#[test]
#[ignore = "compiles nomina in a package of its own, which takes minutes: `cargo xtask nightly` runs it"]
fn the_module_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("digits").display().to_string();
    let (ok, said, error) = run(folder.path(), &["--check", "--out", &out]);
    assert!(
        ok && said.contains("checked: it compiles, and its outputs equal"),
        "{said}{error}"
    );
}

//! Weights in files beside the model.

#[path = "../../tests/counting/mod.rs"]
mod counting;
mod write;

use std::fs;
use std::path::{Path, PathBuf};

use nomina::DynTensor;
use nomina_core::{ErrorKind, Result};
use nomina_onnx::Model;
use write::Writer;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("nomina_onnx_{name}_{}", std::process::id()));
        fs::create_dir_all(path.join("model/weights")).unwrap();
        Self(path)
    }

    fn write(&self, place: &str, bytes: &[u8]) {
        fs::write(self.0.join(place), bytes).unwrap();
    }

    /// Opens `model/model.onnx`, which adds a vector of three numbers in another file.
    fn open(&self, entries: &[(&str, &str)]) -> Result<Model> {
        let model = Writer::default()
            .input("x", &["3"])
            .external("w", &[3], entries)
            .node("Add", &["x", "w"], "y")
            .output("y", &["3"])
            .model();
        self.write("model/model.onnx", &model);
        Model::open(self.0.join("model/model.onnx"))
    }

    /// Returns the weight, as the result for zeros.
    fn weight(&self, entries: &[(&str, &str)]) -> Result<Vec<f32>> {
        let x = DynTensor::zeros(&[3], ())?;
        self.open(entries)?.run([("x", &x)])?.get("y")?.to_vec()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

#[test]
fn weights_are_read_from_files_of_the_folder() -> Result<()> {
    let folder = Folder::new("reads");
    folder.write("model/weights/all.bin", &bytes(&[1.0, 2.0, 3.0, 4.0]));
    assert_eq!(
        folder.weight(&[("location", "weights/all.bin")])?,
        [1.0, 2.0, 3.0]
    );
    let part = [
        ("location", "weights/all.bin"),
        ("offset", "4"),
        ("length", "12"),
    ];
    assert_eq!(folder.weight(&part)?, [2.0, 3.0, 4.0]);
    Ok(())
}

fn require_error(result: Result<Vec<f32>>, part: &str) {
    let error = result.expect_err(part);
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    let text = error.to_string();
    assert!(text.contains(part) && text.contains("`w`"), "{text}");
}

#[test]
fn paths_that_leave_the_folder_are_refused() {
    let folder = Folder::new("leaves");
    folder.write("secret.bin", &bytes(&[1.0, 2.0, 3.0]));
    folder.write("model/inside.bin", &bytes(&[1.0, 2.0, 3.0]));
    let absolute = folder.0.join("model/inside.bin");
    let absolute = absolute.to_str().unwrap();
    for location in [
        "../secret.bin",
        "weights/../../secret.bin",
        "./inside.bin/../../secret.bin",
        "..",
        absolute,
        "",
        "/etc/passwd",
    ] {
        require_error(
            folder.weight(&[("location", location)]),
            "outside the model's folder",
        );
    }
    require_error(folder.weight(&[]), "outside the model's folder");
}

#[test]
#[cfg(unix)]
fn links_that_leave_the_folder_are_refused() {
    let folder = Folder::new("links");
    folder.write("secret.bin", &bytes(&[1.0, 2.0, 3.0]));
    folder.write("model/inside.bin", &bytes(&[1.0, 2.0, 3.0]));
    let link =
        |to: &Path, place: &str| std::os::unix::fs::symlink(to, folder.0.join(place)).unwrap();
    link(Path::new("../secret.bin"), "model/out.bin");
    link(Path::new("inside.bin"), "model/in.bin");
    require_error(
        folder.weight(&[("location", "out.bin")]),
        "outside the model's folder",
    );
    assert_eq!(
        folder.weight(&[("location", "in.bin")]).unwrap(),
        [1.0, 2.0, 3.0]
    );
}

#[test]
fn broken_places_of_weights_are_refused() {
    let folder = Folder::new("broken");
    folder.write("model/short.bin", &bytes(&[1.0, 2.0]));
    folder.write("model/whole.bin", &bytes(&[1.0, 2.0, 3.0]));
    let whole = ("location", "whole.bin");
    require_error(folder.weight(&[("location", "short.bin")]), "cut off");
    require_error(folder.weight(&[whole, ("offset", "4")]), "cut off");
    require_error(
        folder.weight(&[whole, ("offset", "18446744073709551615")]),
        "cut off",
    );
    require_error(
        folder.weight(&[whole, ("offset", "-4")]),
        "offset is not a number",
    );
    require_error(folder.weight(&[whole, ("length", "8")]), "");
    require_error(
        folder.weight(&[whole, ("length", "twelve")]),
        "length is not a number",
    );
    require_error(folder.weight(&[("location", "missing.bin")]), "missing.bin");
    require_error(folder.weight(&[("location", "weights")]), "are no file");
}

#[test]
fn bytes_without_a_folder_have_no_other_files() {
    let model = Writer::default()
        .input("x", &["3"])
        .external("w", &[3], &[("location", "whole.bin")])
        .node("Add", &["x", "w"], "y")
        .output("y", &["3"])
        .model();
    let error = Model::from_bytes(&model).unwrap_err().to_string();
    assert!(
        error.contains("in another file") && error.contains("open the model by its path"),
        "{error}"
    );
}

/// A small model whose many tensors are all the same megabyte.
#[test]
fn tensors_that_share_bytes_ask_for_no_more_than_twice_the_files() {
    const WEIGHT: usize = 1 << 20;
    let folder = Folder::new("shares");
    folder.write("model/all.bin", &vec![0; WEIGHT]);
    let mut model = Writer::default().input("x", &["n"]);
    for at in 0..64 {
        let (weight, before) = (
            format!("w{at}"),
            if at == 0 {
                "x".to_owned()
            } else {
                format!("y{}", at - 1)
            },
        );
        model = model
            .external(&weight, &[WEIGHT / 4], &[("location", "all.bin")])
            .node("Add", &[&before, &weight], &format!("y{at}"));
    }
    let model = model.output("y63", &["n"]).model();
    folder.write("model/model.onnx", &model);
    let path = folder.0.join("model/model.onnx");
    let (peak, result) = counting::peak(|| Model::open(&path).map(drop));
    let error = result.unwrap_err().to_string();
    assert!(error.contains("more memory than twice"), "{error}");
    assert!(peak <= 2 * (WEIGHT + model.len()) + (4 << 20), "{peak}");
}

//! Folders of safetensors files: parts that fit together are one tensor, whichever program wrote them; others are an
//! error.
#![cfg(feature = "safetensors")]

use std::fs;
use std::path::{Path, PathBuf};

use nomina::prelude::*;
use nomina_io::safetensors::{self, Checkpoint, INDEX, PartAt, save_index, save_parts};
use tempfile::TempDir;

dims! { Out, In }

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}

fn w() -> Tensor<(Out, In)> {
    Tensor::from_vec((0..20).map(|i| i as f32).collect(), [4, 5]).unwrap()
}

/// The starts and sizes of the four parts of `w`: rows 0..3 and 3..4, columns 0..2 and 2..5.
const PARTS: [([usize; 2], [usize; 2]); 4] = [
    ([0, 0], [3, 2]),
    ([0, 2], [3, 3]),
    ([3, 0], [1, 2]),
    ([3, 2], [1, 3]),
];

/// Writes each part to its own file, with or without an index.
fn parts(folder: &Path, index: bool) {
    let mut listed = Vec::new();
    for (number, (start, shape)) in PARTS.into_iter().enumerate() {
        let part = w().narrow(Out, start[0]..start[0] + shape[0]);
        let part = part.narrow(In, start[1]..start[1] + shape[1]);
        let file = format!("{number}.safetensors");
        save_parts(folder.join(&file), [("w", start.to_vec(), part)]).unwrap();
        listed.push(PartAt {
            name: "w".to_owned(),
            file,
            start: start.to_vec(),
            shape: shape.to_vec(),
            dtype: DType::F32,
        });
    }
    if index {
        save_index(folder, listed).unwrap();
    }
}

#[test]
fn parts_are_one_tensor_with_an_index_and_without() {
    for index in [true, false] {
        let (_folder, path) = place();
        parts(&path, index);
        let checkpoint = Checkpoint::open(&path).unwrap();
        assert_eq!(checkpoint.keys().collect::<Vec<_>>(), ["w"]);
        assert_eq!(checkpoint.shape("w").unwrap(), [4, 5]);
        assert!(
            checkpoint
                .tensor::<Tensor<(Out, In)>>("w")
                .unwrap()
                .equal(&w())
        );
        let mut boxes = 0;
        for rows in [0..4, 1..3, 2..4, 3..4, 2..2] {
            for columns in [0..5, 1..2, 1..4, 4..5, 5..5] {
                let part = [rows.clone(), columns.clone()];
                let part: Tensor<(Out, In)> = checkpoint.part("w", &part).unwrap();
                let expected = w().narrow(Out, rows.clone()).narrow(In, columns.clone());
                assert_eq!(part.shape(), expected.shape());
                assert!(part.equal(&expected), "{rows:?} {columns:?}");
                boxes += 1;
            }
        }
        assert_eq!(boxes, 25);
        #[allow(
            clippy::single_range_in_vec_init,
            clippy::reversed_empty_ranges,
            reason = "boxes that are wrong: of one dim, and one that ends before it starts"
        )]
        for wrong in [&[0..5, 0..5][..], &[0..4], &[3..2, 0..1], &[]] {
            let error = checkpoint.part::<DynTensor>("w", wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Index, "{error}");
        }
    }
}

#[test]
fn models_of_other_programs_are_read() {
    // Like Hugging Face's: whole tensors in several files, an index, no names.
    let (_folder, path) = place();
    let one = DynTensor::ones(&[2, 3], ()).unwrap();
    safetensors::save(
        path.join("model-00001-of-00002.safetensors"),
        [("a", one.clone())],
    )
    .unwrap();
    safetensors::save(path.join("model-00002-of-00002.safetensors"), [("b", one)]).unwrap();
    let index = r#"{"metadata": {"total_size": 48.0, "total_parameters": 12},
        "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}"#;
    fs::write(path.join(INDEX), index).unwrap();
    let checkpoint = Checkpoint::open(&path).unwrap();
    assert_eq!(checkpoint.keys().collect::<Vec<_>>(), ["a", "b"]);
    let b: Tensor<(Out, In)> = checkpoint.refine("b").unwrap();
    assert_eq!(b.to_vec(), [1.0; 6]);
    assert!(checkpoint.tensor::<Tensor<(Out, In)>>("b").is_err());
    // A single file.
    let file = path.join("model-00001-of-00002.safetensors");
    let checkpoint = Checkpoint::open(file).unwrap();
    assert_eq!(checkpoint.shape("a").unwrap(), [2, 3]);
}

fn refused(path: &Path, kind: ErrorKind, text: &str) {
    let read = Checkpoint::open(path).and_then(|all| all.tensor::<DynTensor>("w"));
    let error = read.unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(text), "no `{text}` in {error}");
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (_folder, path) = place();
    refused(&path, ErrorKind::File, "nor a safetensors file");
    refused(&path.join("none"), ErrorKind::File, "No such file");
    parts(&path, true);
    let good = fs::read_to_string(path.join(INDEX)).unwrap();
    let with = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        fs::write(path.join(INDEX), text).unwrap();
    };
    let broken = ErrorKind::Parse;
    with("{", "");
    refused(&path, broken, INDEX);
    with("\"0.safetensors\"", "\"../0.safetensors\"");
    refused(&path, broken, "not a file name");
    // Elements that occur twice or never; starts that differ from the file's; sizes that overflow.
    with("[0,2],[3,3]", "[0,1],[3,3]");
    refused(&path, broken, "two parts overlap");
    with("[3,2],[1,3]", "[3,2],[1,2]");
    refused(&path, broken, "its parts are incomplete");
    with("[3,2],[1,3]", "[3,3],[1,2]");
    refused(&path, broken, "its parts are incomplete");
    with("[3,2],[1,3]", "[3,18446744073709551615],[1,3]");
    refused(&path, broken, "begins at");
    with("[3,2],[1,3]", "[3],[1]");
    refused(&path, broken, "begins at");
    let long = vec!["1"; 65].join(",");
    with("[3,2],[1,3]", &format!("[{long}],[1,3]"));
    refused(&path, broken, "at most 64");
    with("\"3.safetensors\"", "\"2.safetensors\"");
    refused(&path, broken, "not that of the index");
    with("\"3.safetensors\"", "\"4.safetensors\"");
    refused(&path, ErrorKind::File, "4.safetensors");
    fs::write(path.join(INDEX), &good).unwrap();
    // A file with a part of another dtype, or with other names.
    let part = Tensor::<(Out, In), f64>::ones([1, 3]);
    save_parts(
        path.join("3.safetensors"),
        [("w", vec![3, 2], part.to_dyn())],
    )
    .unwrap();
    refused(&path, broken, "differ in dtype");
    let part = Tensor::<(In, Out)>::ones([1, 3]);
    save_parts(
        path.join("3.safetensors"),
        [("w", vec![3, 2], part.to_dyn())],
    )
    .unwrap();
    refused(&path, broken, "dim names");
    // Without an index: the tensor is whole in two files.
    fs::remove_file(path.join(INDEX)).unwrap();
    safetensors::save(path.join("3.safetensors"), [("w", w())]).unwrap();
    refused(&path, broken, "in several files without parts");
    let error = save_parts(path.join("5.safetensors"), [("w", vec![0], w())]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn a_changed_index_is_an_error_or_the_same_tensor() {
    let (_folder, path) = place();
    parts(&path, true);
    let good = fs::read(path.join(INDEX)).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    // With other keys, the index lists no parts.
    let keys = ["\"metadata\"", "\"nomina.parts\""].map(|key| {
        let start = text.find(key).unwrap();
        start..start + key.len()
    });
    let mut same = 0;
    for at in (0..good.len()).filter(|at| !keys.iter().any(|key| key.contains(at))) {
        for byte in [b'0', b'9', b'"', b'[', b'}', b',', 0x80] {
            let mut bytes = good.clone();
            bytes[at] = byte;
            fs::write(path.join(INDEX), &bytes).unwrap();
            let read = Checkpoint::open(&path).and_then(|all| all.tensor::<Tensor<(Out, In)>>("w"));
            if let Ok(read) = read {
                assert!(read.equal(&w()), "{}", String::from_utf8_lossy(&bytes));
                same += 1;
            }
        }
    }
    println!("{} indices, {same} of which say the same", good.len() * 7);
    assert!(same > 0);
}

/// Reads a folder by PyTorch's distributed checkpoints; exits with code 3 if the packages are not installed.
const READ_BY_TORCH: &str = r#"
import sys
try:
    import safetensors
    import torch
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
except ImportError:
    sys.exit(3)
state = {"w": torch.zeros(4, 5)}
dcp.load(state, storage_reader=HuggingFaceStorageReader(sys.argv[1]), no_dist=True)
assert torch.equal(state["w"], torch.arange(20.0).reshape(4, 5)), state
"#;

#[test]
fn pytorch_reads_parts_where_it_is() {
    let (_folder, path) = place();
    parts(&path, true);
    let python = std::env::var("NOMINA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let run = std::process::Command::new(&python)
        .args(["-c", READ_BY_TORCH])
        .arg(&path)
        .output();
    match run {
        Ok(run) if run.status.code() != Some(3) => {
            let text = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{text}");
        }
        _ => eprintln!("not compared: `{python}` has no torch and safetensors"),
    }
}

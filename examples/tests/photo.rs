//! Runs `examples/photo.rs` as a user does: a successful run, and each kind of failure.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Returns the path of the example, built with the profile of this test.
///
/// `cargo test` builds the example before this test; `cargo test --test photo` does not. In that
/// case it is built here, unless there is a binary newer than its source.
fn photo() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        // This test is <target>/<profile>/deps/photo-<hash>.
        let this = std::env::current_exe().unwrap();
        let profile = this.parent().unwrap().parent().unwrap();
        let binary = profile.join("examples/photo");
        let age = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
        if age(&binary) > age(&root.join("photo.rs")) {
            return binary;
        }
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--example", "photo"]);
        if !cfg!(debug_assertions) {
            build.arg("--release");
        }
        let status = build.current_dir(root).status().unwrap();
        assert!(status.success(), "the example does not build");
        binary
    })
}

/// Returns an empty folder for one test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("photo")
        .join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(args: &[&str]) -> Output {
    Command::new(photo()).args(args).output().unwrap()
}

/// Asserts that the run fails with exit code 1, without a panic, and prints one short line that
/// contains all of `words`.
fn fails_with(args: &[&str], words: &[&str]) {
    let output = run(args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with("photo: ") && !text.contains("panicked"),
        "{text}"
    );
    for word in words {
        assert!(text.contains(word), "no `{word}` in: {text}");
    }
}

fn picture(path: &Path) -> (png::OutputInfo, Vec<u8>) {
    let file = BufReader::new(File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    (info, bytes)
}

#[test]
fn the_flower_becomes_five_pictures_and_a_table() {
    let out = folder("good");
    let output = run(&["--out", out.to_str().unwrap()]);
    let (text, error) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert!(output.status.success(), "{error}");
    for row in [
        "H=427, W=640, Rgb=3",
        "Rgb=3, H=427, W=640",
        "Height=106, Width=160, Rgb=3",
    ] {
        assert!(text.contains(row), "no `{row}` in: {text}");
    }
    for (file, width, height) in [
        ("warm.png", 640, 427),
        ("grey.png", 640, 427),
        ("small.png", 160, 106),
        ("crop.png", 320, 213),
        ("blur.png", 638, 425),
    ] {
        let (info, _) = picture(&out.join(file));
        assert_eq!((info.width, info.height), (width, height), "{file}");
    }
    let (info, grey) = picture(&out.join("grey.png"));
    assert_eq!(info.color_type, png::ColorType::Grayscale);
    assert!(grey.into_iter().max() > Some(100), "a black picture");
}

#[test]
fn names_from_the_command_line_give_the_same_mean() {
    let typed = run(&["--out", folder("mean").to_str().unwrap()]);
    let typed = String::from_utf8(typed.stdout).unwrap();
    let dynamic = run(&["--mean", "H, W"]);
    assert!(dynamic.status.success());
    let dynamic = String::from_utf8(dynamic.stdout).unwrap();
    let values = |text: &str| -> Vec<f64> {
        let list = text
            .split(['[', ']'])
            .find(|part| part.trim_start().starts_with(char::is_numeric));
        let list = list.unwrap_or_else(|| panic!("no values in: {text}"));
        let numbers = list.split([',', ' ']).filter(|text| !text.is_empty());
        numbers.map(|number| number.parse().unwrap()).collect()
    };
    let line = typed
        .lines()
        .find_map(|line| line.strip_prefix("mean per channel: "));
    let (typed, dynamic) = (values(line.unwrap()), values(&dynamic));
    assert_eq!(typed.len(), 3);
    for (typed, dynamic) in typed.iter().zip(&dynamic) {
        // The text has at most eight digits after the decimal point.
        assert!((typed - dynamic).abs() < 1e-3, "{typed} is not {dynamic}");
    }
    let rows = String::from_utf8(run(&["--mean", "W"]).stdout).unwrap();
    assert!(rows.contains("H=427, Rgb=3"), "{rows}");
}

#[test]
fn a_wrong_name_is_told_with_those_that_are_there() {
    fails_with(
        &["--mean", "H,Depth"],
        &["mean", "`Depth`", "H=427, W=640, Rgb=3"],
    );
    fails_with(&["--mean", "H,H"], &["`H`"]);
    fails_with(&["--mean", ""], &["mean"]);
}

#[test]
fn a_missing_file_is_told_by_its_path() {
    fails_with(
        &["no/such/picture.jpg"],
        &["no/such/picture.jpg", "No such file"],
    );
}

#[test]
fn a_broken_picture_is_told_by_its_path() {
    let folder = folder("broken");
    let whole = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/data/flower.jpg"));
    let whole = whole.unwrap();
    for (file, bytes) in [
        ("cut.jpg", &whole[..200]),
        ("noise.jpg", &[7; 64]),
        ("empty.jpg", &[]),
    ] {
        let path = folder.join(file);
        std::fs::write(&path, bytes).unwrap();
        fails_with(&[path.to_str().unwrap()], &[file]);
    }
}

#[test]
fn wrong_arguments_are_told_with_the_usage() {
    fails_with(&["--men", "H"], &["--men", "photo [PICTURE]"]);
    fails_with(&["--mean"], &["--mean", "photo [PICTURE]"]);
}

//! Tests of the published packages: `cargo package --workspace` passes, and each package contains what it needs and no
//! more.

use crate::project_rules::code;
use crate::step::{Command, root};

/// The folders of the published packages.
const PUBLISHED: [&str; 13] = [
    ".",
    "cargo-nomina",
    "core",
    "cuda-kernels",
    "data",
    "data/macros",
    "io",
    "macros",
    "mesh",
    "mpi",
    "nn",
    "onnx",
    "runtime",
];

fn manifest(folder: &str) -> String {
    std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap()
}

/// Every other package has `publish = false`.
#[test]
fn who_is_published_is_listed() {
    let workspace = manifest(".");
    let lists = ["members = [", "exclude = ["];
    let lists = lists.map(|list| {
        workspace
            .split_once(list)
            .unwrap()
            .1
            .split(']')
            .next()
            .unwrap()
    });
    let folders = lists
        .iter()
        .flat_map(|list| list.split('"').skip(1).step_by(2));
    let mut published: Vec<&str> = std::iter::once(".")
        .chain(folders)
        .filter(|folder| {
            !manifest(folder)
                .lines()
                .any(|line| line == "publish = false")
        })
        .collect();
    published.sort_unstable();
    assert_eq!(published, PUBLISHED);
}

#[test]
fn packages_hold_what_they_need_and_no_more() {
    let mut wrong = Vec::new();
    for folder in PUBLISHED {
        let path = format!("{folder}/Cargo.toml");
        let manifest = manifest(folder);
        let name = manifest.split_once("name = \"").unwrap().1;
        let name = name.split('"').next().unwrap_or(name);
        let list = ["package", "--list", "--quiet", "--allow-dirty", "-p", name];
        let list = Command::cargo(list)
            .args(["--manifest-path", &path])
            .output()
            .unwrap();
        let files: Vec<&str> = list.lines().collect();
        for needed in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "Cargo.toml"] {
            if !files.contains(&needed) {
                wrong.push(format!("{folder} lacks {needed}"));
            }
        }
        for file in &files {
            let is_test = file
                .split(['/', '.'])
                .any(|part| part == "tests" || part.ends_with("_tests"));
            if is_test
                || ["snapshots/", "kernels/host/", "data/"]
                    .iter()
                    .any(|part| file.contains(part) && !file.starts_with("src/data/"))
            {
                wrong.push(format!("{folder} holds {file}"));
            }
        }
        // Files included by a source must be in the package; documentation tests are not.
        for file in files.iter().filter(|file| file.ends_with(".rs")) {
            let text = std::fs::read_to_string(root().join(folder).join(file)).unwrap();
            for line in text
                .lines()
                .map(code)
                .filter(|line| !line.starts_with("#[doc"))
            {
                let Some((_, name)) = line
                    .split_once("include_str!(\"")
                    .or_else(|| line.split_once("include!(\""))
                else {
                    continue;
                };
                let name = name.split('"').next().unwrap_or(name);
                let path = std::path::Path::new(file).parent().unwrap().join(name);
                let mut whole: Vec<&str> = Vec::new();
                for part in path.to_str().unwrap().split('/') {
                    match part {
                        ".." => drop(whole.pop()),
                        part => whole.push(part),
                    }
                }
                if !files.contains(&whole.join("/").as_str()) {
                    wrong.push(format!(
                        "{folder}/{file} includes {name}, which is not in the package"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "`include` of Cargo.toml: {wrong:#?}");
}

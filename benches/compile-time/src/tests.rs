//! Tests the options, and that the generated programs compile.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::program::{Form, Program};
use crate::relation::{RELATIONS, Relation};
use crate::scratch::{PROGRAM, Package, Texts, root};
use crate::{crates, options, transformer};

fn parse(args: &[&str]) -> Result<crate::Options, String> {
    options(args.iter().map(|&arg| arg.to_owned()))
}

#[test]
fn options_name_programs_and_relations() {
    let all = parse(&[]).unwrap();
    assert!(all.names.is_empty() && !all.quick && !all.json);
    let some = parse(&["--rank", "8", "--ops", "50", "sum", "--only", "mix"]).unwrap();
    assert_eq!(some.names, ["sum", "mix"]);
    assert_eq!((some.effort.rank, some.effort.ops), (Some(8), 50));
    assert!(parse(&["--quick", "--json"]).unwrap().effort.ops < all.effort.ops);
    for wrong in [
        &["sums"][..],
        &["--rank", "2"],
        &["--rank", "9"],
        &["--ops", "0"],
        &["--ops"],
    ] {
        assert!(parse(wrong).is_err(), "{wrong:?}");
    }
}

/// Returns the libraries that the workspace's tests are built with, which cargo lists as up to date when it is asked for
/// this program. In another workspace, cargo would check them again.
fn libraries() -> &'static BTreeMap<String, PathBuf> {
    static FOUND: OnceLock<BTreeMap<String, PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "test",
                "--workspace",
                "--no-run",
                "--bin",
                env!("CARGO_BIN_NAME"),
            ])
            .args(["--message-format=json", "--quiet", "--offline"])
            .current_dir(root())
            .env("CARGO_TARGET_DIR", target());
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().unwrap();
        let mut found = BTreeMap::new();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let message: serde_json::Value = serde_json::from_str(line).unwrap();
            let name = message["target"]["name"].as_str().unwrap_or_default();
            let files = message["filenames"].as_array().into_iter().flatten();
            let mut files = files.filter_map(|file| file.as_str());
            if let Some(file) = files.find(|file| file.ends_with(".rlib")) {
                found.insert(name.to_owned(), PathBuf::from(file));
            }
        }
        assert!(
            ["nomina", "nomina_mesh"]
                .iter()
                .all(|name| found.contains_key(*name)),
            "cargo has {found:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        found
    })
}

/// Returns the target folder of this test.
fn target() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.ancestors().nth(3).unwrap().to_owned()
}

/// Checks the programs that `texts` writes, in each form.
fn compiles(name: &str, packages: &'static [Package], texts: impl Fn(Form) -> Texts) {
    let folder = target().join("compile-time-tests").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    for form in [Form::Typed, Form::Dynamic] {
        for (at, (package, text)) in packages.iter().zip(texts(form)).enumerate() {
            let is_program = at + 1 == packages.len();
            let file = folder.join(format!("{}.rs", package.name));
            std::fs::write(&file, text).unwrap();
            let mut rustc = Command::new("rustc");
            rustc
                .args(["--edition=2024", "--emit=metadata"])
                .args(["--crate-type", if is_program { "bin" } else { "lib" }])
                .args(["--crate-name", package.name, "--out-dir"])
                .args([&folder, &file])
                .args(
                    std::env::var("RUSTFLAGS")
                        .unwrap_or_default()
                        .split_whitespace(),
                );
            for name in ["nomina", "nomina_mesh"] {
                let library = &libraries()[name];
                let deps = library.parent().unwrap().display();
                rustc.args(["-L", &format!("dependency={deps}")]);
                rustc.args(["--extern", &format!("{name}={}", library.display())]);
            }
            for other in package.dependencies {
                let library = folder.join(format!("lib{other}.rmeta"));
                if *other != "nomina-mesh" {
                    rustc.args(["--extern", &format!("{other}={}", library.display())]);
                }
            }
            let output = rustc.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.success() && !said.contains("warning"),
                "{name}, {form:?}, {}: {said}",
                package.name
            );
        }
    }
}

#[test]
fn every_relation_compiles_at_every_rank() {
    let relations: Vec<&Relation> = RELATIONS.iter().collect();
    for rank in [3, 4, 8] {
        compiles("relations", PROGRAM, |form| {
            let program = Program {
                form,
                operands_only: false,
                rank,
                ops: 2 * RELATIONS.len(),
            };
            vec![program.text(&relations)]
        });
    }
}

#[test]
fn the_transformer_compiles_before_and_after_an_edit() {
    compiles("transformer", PROGRAM, |form| {
        vec![transformer::text(form, 2)]
    });
    compiles("transformer", PROGRAM, |form| {
        vec![transformer::edited(form, 2, 1)]
    });
}

#[test]
fn the_three_crates_compile() {
    compiles("crates", crates::PACKAGES, |form| crates::texts(form, 6));
}

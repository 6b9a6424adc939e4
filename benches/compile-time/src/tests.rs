//! Tests the options, and that the generated programs compile.

use std::path::PathBuf;

use crate::program::{Form, Program};
use crate::relation::{RELATIONS, Relation};
use crate::scratch::{How, PROGRAM, Package, Place, Scratch, Texts, root};
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

/// Returns a place below this test's target folder, with the workspace's profiles, so that crates
/// compiled for other tests are reused.
fn place() -> Place {
    let exe = std::env::current_exe().unwrap();
    let target: PathBuf = exe.ancestors().nth(3).unwrap().to_owned();
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let profiles = manifest.find("[profile").map_or("", |at| &manifest[at..]);
    Place {
        folder: target.join("compile-time-tests"),
        target,
        profiles: profiles.to_owned(),
        next_solver: false,
    }
}

/// Checks the programs that `texts` writes, in each form.
fn compiles(name: &str, packages: &'static [Package], texts: impl Fn(Form) -> Texts) {
    let scratch = Scratch::create(&place(), name, packages).unwrap();
    for form in [Form::Typed, Form::Dynamic] {
        if let Err(error) = scratch.measure(How::Check, &texts(form), 1) {
            panic!("{name}, {form:?}: {error}");
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

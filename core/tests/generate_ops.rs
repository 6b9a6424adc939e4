//! Generates files from the operator table, and fails if a committed file was stale.
//!
//! Run it after a change to `core/src/op/table/`: it rewrites stale files, lists them, and passes
//! the second time. It depends only on `nomina-core`, so that a generated file that no longer
//! compiles in another package cannot keep it from running.

#[path = "generate/by_name.rs"]
mod by_name;
#[path = "generate/derivatives.rs"]
mod derivatives;
#[path = "generate/docs.rs"]
mod docs;
#[path = "generate/dyn_methods.rs"]
mod dyn_methods;
#[path = "generate/fused.rs"]
mod fused;
#[path = "generate/grad.rs"]
mod grad;
#[path = "generate/ids.rs"]
mod ids;
#[path = "generate/kernels.rs"]
mod kernels;
#[path = "generate/labelled_methods.rs"]
mod labelled_methods;
#[path = "generate/mesh_methods.rs"]
mod mesh_methods;
#[path = "generate/signature.rs"]
mod signature;
#[path = "generate/typed_forms.rs"]
mod typed_forms;
#[path = "generate/typed_losses.rs"]
mod typed_losses;
#[path = "generate/typed_methods.rs"]
mod typed_methods;
#[path = "generate/typed_operators.rs"]
mod typed_operators;
#[path = "generate/typed_stores.rs"]
mod typed_stores;
#[path = "generate/typed_templates.rs"]
mod typed_templates;
#[path = "generate/typed_tuples.rs"]
mod typed_tuples;
#[path = "generate/typed_windows.rs"]
mod typed_windows;
#[path = "generate/write.rs"]
mod write;

#[test]
fn generated_files_are_up_to_date() {
    let typed = typed_methods::methods();
    let losses = typed_losses::methods();
    let forms = typed_forms::TypedForms::read(&format!("{typed}{losses}"));
    let mut files = vec![
        ("core/src/op/generated.rs", ids::ops()),
        (
            "runtime/src/cpu/pointwise/generated.rs",
            kernels::pointwise(),
        ),
        ("runtime/src/tape/generated.rs", derivatives::lines()),
        ("macros/src/fuse/allowed.rs", fused::allowed(&forms)),
        ("src/tensor/fused/generated.rs", fused::untyped(&forms)),
        ("docs/operators.md", docs::operators(&forms)),
        ("runtime/src/tensor/generated.rs", dyn_methods::methods()),
        ("tests/by_name/src/generated.rs", by_name::routes()),
        ("src/tensor/generated.rs", typed),
        ("src/tensor/conv/windows.rs", typed_windows::methods()),
        ("src/tensor/loss/elementwise.rs", losses),
        ("src/tensor/arithmetic.rs", typed_operators::operators()),
        ("src/labelled/generated.rs", labelled_methods::typed()),
        (
            "src/labelled/dynamic/generated.rs",
            labelled_methods::by_name(),
        ),
        ("mesh/src/sharded/generated.rs", mesh_methods::typed()),
        ("mesh/src/dynamic/generated.rs", mesh_methods::by_name()),
        ("mesh/tests/rows/generated.rs", mesh_methods::listed()),
    ];
    let stores = typed_stores::files();
    files.extend(stores.iter().map(|(file, text)| (&file[..], text.clone())));
    write::all(&files);
}

#[test]
fn other_names_of_operators_are_compiled() {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/torch_users.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    for (row, code) in typed_forms::OTHER_NAMES {
        assert!(guide.contains(code), "{row}: `{code}` is not in the guide");
        assert!(
            nomina_core::op::rows().any(|known| known.name == *row),
            "no row {row}"
        );
    }
}

#[test]
fn lines_of_derivatives_are_sound() {
    let faults = nomina_core::op::rows().flat_map(grad::faults);
    let wrong: Vec<String> = grad::misplaced().into_iter().chain(faults).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_in_lines_are_found() {
    for (row, lines, fault) in grad::FAULTY {
        let row = nomina_core::op::rows().find(|known| known.name == *row);
        let found = grad::faults_of(row.expect("a row"), lines).join("\n");
        assert!(
            found.contains(fault),
            "{lines:?}: {fault:?} is not in {found:?}"
        );
    }
}

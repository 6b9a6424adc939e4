//! Writes what follows from the operator table, and fails when a committed file was stale.
//!
//! Run it after a change to `core/src/op/table/`: it rewrites the files, reports which, and
//! passes the second time. It depends on `nomina-core` alone, so that a generated file which no
//! longer compiles elsewhere cannot keep it from running.

#[path = "generate/docs.rs"]
mod docs;
#[path = "generate/ids.rs"]
mod ids;
#[path = "generate/write.rs"]
mod write;

#[test]
fn generated_files_are_up_to_date() {
    let files = [
        ("core/src/op/generated.rs", ids::ops()),
        ("docs/operators.md", docs::operators()),
    ];
    write::all(&files);
}

//! Recorded cases of PyTorch's named tensors, run through the dynamic entry by operator name.
//!
//! `cargo test --test conformance -- --nocapture` prints the failures by operator and ends with
//! `N passed, N failed`. More files of the same form are read from `NOMINA_CASES`, `:`-separated.

#[path = "conformance/abuse.rs"]
mod abuse;
#[path = "conformance/case.rs"]
mod case;
#[path = "conformance/compare.rs"]
mod compare;
#[path = "conformance/report.rs"]
mod report;
#[path = "conformance/run.rs"]
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::Report;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The cases beyond PyTorch's coverage page, which `scripts/record` writes.
fn beyond() -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder().join("data/beyond"));
    let mut files: Vec<PathBuf> = files
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .collect();
    files.sort();
    files
}

fn main() -> ExitCode {
    // A program of its own, so that the count is the last line; it takes the flags that test
    // runners give, and does nothing when they ask for other tests.
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == "--list") {
        if !args.iter().any(|arg| arg == "--ignored") {
            println!("conformance: test");
        }
        return ExitCode::SUCCESS;
    }
    let filter = args.iter().find(|arg| !arg.starts_with('-'));
    if filter.is_some_and(|filter| !"conformance".contains(filter.as_str())) {
        return ExitCode::SUCCESS;
    }

    let mut panics = abuse::panics(&folder().join("data/cases.jsonl"));
    panics.extend(beyond().iter().flat_map(|path| abuse::panics(path)));
    for panic in &panics {
        println!("a nonsense argument makes a call panic: {panic}");
    }
    if recorded_cases() && panics.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Runs all files, prints the failures and the count, and says whether every case passed.
fn recorded_cases() -> bool {
    let mut report = Report::default();
    for name in ["cases.jsonl", "promotion.jsonl"] {
        run::file(&folder().join("data").join(name), &mut report);
    }
    for path in beyond() {
        run::file(&path, &mut report);
    }
    let paths = std::env::var_os("NOMINA_CASES").unwrap_or_default();
    for path in std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()) {
        run::file(&path, &mut report);
    }
    print!("{}", report.by_operator());
    println!("{} passed, {} failed", report.passed(), report.failed());
    report.failed() == 0 && report.passed() > 0
}

//! `cargo xtask next-solver`: checks everything that must compile, and everything that must not, with rustc's next
//! trait solver.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::step::{Command, Outcome, Step, root, run_all};

const FLAG: &str = "-Znext-solver=globally";
/// The crates that the mistakes import.
const CRATES: [&str; 3] = ["nomina", "nomina_mesh", "nomina_nn"];
/// A separate folder: the flag changes every dependency.
const TARGET: &str = "target/next-solver";

/// Mistakes for which the next solver reports different errors, with the reason.
const LISTED: [(&str, &str); 33] = [
    ("align/not_a_dim", BEHIND_LIST),
    ("broadcast/a_tuple", ARGUMENT_AND_RESULT),
    ("broadcast/where_cond", ARGUMENT_AND_RESULT),
    ("dynamic/plus_typed", FIRST_BOUND),
    ("flatten/unflatten_without_sizes", TWO_ARGUMENTS),
    ("fuse/typed_and_dynamic", FIRST_BOUND),
    ("generic/generic_factory", FIRST_BOUND),
    ("generic/generic_groups", FIRST_BOUND),
    ("generic/generic_new_dim", FIRST_BOUND),
    ("grad/jacobian_of_a_wild", ARGUMENT_AND_RESULT),
    ("index/indexed_by_brackets", BASE_AND_RESULT),
    ("index/indexed_by_two", BASE_AND_RESULT),
    ("index/one_hot_without_a_size", ARGUMENT_AND_RESULT),
    ("join/cat_by_number", BEHIND_LIFT),
    ("labels/add_a_list", ARGUMENT_AND_RESULT),
    ("labels/integers_among_floats", ARGUMENT_AND_RESULT),
    ("labels/isel_by_a_float", ARGUMENT_AND_RESULT),
    ("labels/labels_of_another_type", PROJECTED),
    ("labels/nearest_word", ARGUMENT_AND_RESULT),
    ("labels/number_among_words", ARGUMENT_AND_RESULT),
    ("labels/resample_numbers", PROJECTED),
    ("labels/sel_without_labels", ARGUMENT_AND_RESULT),
    ("labels/text_among_numbers", ARGUMENT_AND_RESULT),
    ("mesh/a_dim_for_an_axis", TWO_ARGUMENTS),
    ("mesh/logsumexp_over_a_string", ARGUMENT_AND_RESULT),
    ("mesh/place_of_no_layout", BOUND_AND_PROJECTION),
    ("mesh/pool_over_too_few_dims", BOUND_AND_PROJECTION),
    ("nn/row_of_layers_that_do_not_fit", BEHIND_LIST),
    ("remove/dims_in_a_vec", VECTOR_AND_ARGUMENT),
    ("rename/ravel_to_a_string", ARGUMENT_AND_RESULT),
    ("rename/string", TWO_ARGUMENTS),
    ("shape/expand_bare_dims", BEHIND_LIST),
    ("view/select_string", ARGUMENT_AND_RESULT),
];

/// The next solver stops at an impl with `do_not_recommend`, which otherwise hides the list of all impls from users who
/// pass no tuple; the wrong item is behind that impl.
const BEHIND_LIST: &str = "stops at the tuple, before the item";
/// Two bounds fail for the same reason. Today's solver compares the reasons before it selects the trait to print, the
/// next one afterwards.
const BEHIND_LIFT: &str = "the reason that two bounds share lies behind `do_not_recommend`";
/// rustc drops an error implied by another one only if both point at the same place. Today the result's type fails
/// first, at the method's name, and nothing else is checked.
const ARGUMENT_AND_RESULT: &str = "the argument and the result's type fail apart";
/// Like [`ARGUMENT_AND_RESULT`], for a relation, which points at one argument, and for the other argument's own bound.
const TWO_ARGUMENTS: &str = "a relation and its argument fail apart";

/// For generic dims two bounds fail, of which one implies the other and has the message for users. Today's solver reports
/// that one; the next solver reports the first.
const FIRST_BOUND: &str = "the first bound is reported, not the one that implies it";

/// A type that does not match: the associated type, or its value.
const PROJECTED: &str = "prints the value of an associated type instead of its path";

/// `x[0]` is checked for its impl, and then for the type that this impl gives.
const BASE_AND_RESULT: &str = "what is indexed and its result fail apart";

/// A type whose dims are projected from a layout: its bound, and the projection.
const BOUND_AND_PROJECTION: &str = "a bound and the projection behind it fail apart";

/// A vector of two types is one mistake, and a function that takes no vector another; today's solver stops at the
/// first.
const VECTOR_AND_ARGUMENT: &str = "the vector and what takes it fail apart";

/// Compiles everything, runs the documentation tests, which include generic code, then compares the mistakes. Without
/// the documentation tests if `quick`: they take two thirds of the time, since the flag compiles the kernels once more.
pub fn run(quick: bool) -> Outcome {
    let all = nightly(["check", "--workspace", "--all-targets"]);
    // All doc tests: a filter that matches none would pass.
    let documented = nightly(["test", "--doc", "-p", "nomina"]);
    let mut steps = vec![Step::new("compiles", all)];
    if !quick {
        steps.push(Step::new(
            "documented",
            documented
                .env("RUSTDOCFLAGS", FLAG)
                // The test is about compilation, so do not optimise.
                .env("CARGO_PROFILE_DEV_OPT_LEVEL", "0")
                .env("CARGO_PROFILE_DEV_DEBUG", "0"),
        ));
    }
    if !Command::nightly(["--version"]).works() {
        println!("next-solver: no nightly toolchain is installed; nothing was compiled");
        return Ok(());
    }
    run_all(&steps)?;
    mistakes()
}

fn nightly<const N: usize>(args: [&str; N]) -> Command {
    Command::nightly(args)
        .env("RUSTFLAGS", FLAG)
        .env("CARGO_TARGET_DIR", TARGET)
}

/// Checks that every mistake of `ui-tests` is reported as today: the same first lines, each once.
fn mistakes() -> Outcome {
    // A test that depends on all the crates, with the features that everything was compiled with.
    let test = ["check", "--workspace", "--test", "ui"];
    let check = nightly(test).args(["--message-format=json"]).output()?;
    let mut crates = Vec::new();
    for name in CRATES {
        let file = metadata(&check, name).ok_or(format!("cargo named no metadata of {name}"))?;
        crates.push(format!("{name}={file}"));
    }
    let files = programs().map_err(|error| format!("ui-tests: {error}"))?;
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let complaint = judge(&crates, file);
                    found
                        .lock()
                        .unwrap_or_else(|e| e.into_inner())
                        .extend(complaint);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_else(|e| e.into_inner());
    found.sort();
    let (all, listed) = (files.len(), LISTED.len());
    println!(
        "   {} of {all} mistakes are told as today, {listed} are listed",
        all - listed
    );
    if found.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "told otherwise by the next solver:\n{}",
            found.join("\n")
        ))
    }
}

/// Returns the problem with a mistake's errors, if any.
fn judge(crates: &[String], file: &Path) -> Option<String> {
    let folder = file.parent().and_then(Path::file_name)?.to_string_lossy();
    let name = format!("{folder}/{}", file.file_stem()?.to_string_lossy());
    let today = fs::read_to_string(file.with_extension("stderr")).unwrap_or_default();
    let next = rustc_errors(crates, file, &name, &[FLAG]);
    if next.contains("error[E0432]") && !today.contains("error[E0432]") {
        return Some(format!("  {name} imports what is not in {CRATES:?}"));
    }
    let same = is_as_today(&headlines(&today), &headlines(&next))
        // Also accepted if the difference is due to the version of rustc, not to the solver.
        || is_as_today(&headlines(&rustc_errors(crates, file, &name, &[])), &headlines(&next));
    let reason = LISTED.iter().find(|(listed, _)| *listed == name);
    let lines = headlines(&next).join("\n    ");
    match reason {
        None if same => None,
        None => Some(format!("  {name}\n    {lines}")),
        Some(_) if same => Some(format!("  {name} is listed, and told as today")),
        // A listed mistake must still be an error, and not an overflow.
        Some(_) if lines.is_empty() || next.contains("error[E0275]") => {
            Some(format!("  {name} is accepted, or overflows\n    {lines}"))
        }
        Some(_) => None,
    }
}

/// Returns the errors of nightly's rustc for a program.
fn rustc_errors(crates: &[String], file: &Path, name: &str, flags: &[&str]) -> String {
    let out = format!("{TARGET}/{}.rmeta", name.replace('/', "_"));
    let command = Command::new(
        "rustc",
        ["+nightly", "--edition=2024", "--crate-name=mistake"],
    )
    .args(["--crate-type=bin", "--emit=metadata", "-o", &out])
    .args(["-L", &format!("dependency={TARGET}/debug/deps")])
    .args(crates.iter().flat_map(|file| ["--extern", file]))
    .args(flags)
    .args([file.to_string_lossy()])
    .without("RUSTUP_TOOLCHAIN");
    command.errors().unwrap_or_else(|text| text)
}

/// Returns the first lines of the errors in a text.
fn headlines(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.starts_with("error") && !line.starts_with("error: aborting"))
        .collect()
}

/// Returns whether the errors are the same, once each, or without those that merely followed from the first.
fn is_as_today(today: &[&str], next: &[&str]) -> bool {
    !next.is_empty() && today.starts_with(next)
}

/// Returns the metadata file of a crate in cargo's report.
fn metadata<'a>(report: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("/lib{name}-");
    report
        .split('"')
        .rfind(|word| word.contains(&start) && word.ends_with(".rmeta"))
}

/// Returns the programs of all mistakes.
fn programs() -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in fs::read_dir(root().join("ui-tests"))? {
        let folder = folder?.path();
        if !folder.is_dir() || ["src", "tests"].iter().any(|own| folder.ends_with(own)) {
            continue;
        }
        for file in fs::read_dir(folder)? {
            files.push(file?.path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|ending| ending == "rs"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_errors_first_lines() {
        let text = "warning: a\nerror[E0277]: b\n --> c.rs:1:2\n\nerror: aborting due to 1 previous error\n";
        assert_eq!(headlines(text), ["error[E0277]: b"]);
    }

    #[test]
    fn a_mistake_is_told_as_today_once_and_not_accepted() {
        let (a, b) = ("error: a", "error: b");
        assert!(is_as_today(&[a], &[a]) && is_as_today(&[a, b], &[a, b]));
        assert!(
            is_as_today(&[a, b], &[a]),
            "what followed from the first is not missed"
        );
        for bad in [&[][..], &[b], &[a, a], &[a, b], &[b, a]] {
            assert!(!is_as_today(&[a], bad), "{bad:?}");
        }
    }

    #[test]
    fn metadata_is_found_by_the_whole_name() {
        let report =
            r#"["/t/libnomina_core-1.rmeta"]["/t/libnomina-2.rmeta"]["/t/libspin-3.rmeta"]"#;
        assert_eq!(metadata(report, "nomina"), Some("/t/libnomina-2.rmeta"));
        assert_eq!(metadata(report, "nomina_nn"), None);
    }

    #[test]
    fn what_is_listed_is_there() {
        for (name, reason) in LISTED {
            let file = root().join(format!("ui-tests/{name}.rs"));
            assert!(file.exists() && !reason.is_empty(), "{name}");
        }
    }
}

//! Compares the compiler's output for each mistake with its expected text, and checks rules for all texts.
//!
//! One folder per rule, one file per mistake. `TRYBUILD=overwrite cargo test -p nomina-ui-tests`
//! writes the texts anew; read them before committing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The most lines of a text, for an operator and for a method, where rustc adds lines of
/// its own ("required by a bound in …").
const OPERATOR: usize = 12;
const METHOD: usize = 18;

/// Texts over these limits, with their lines and errors. The first error names an invalid type; rustc
/// then also reports each method call on it (E0599), whatever the bounds are, because methods repeat
/// the bounds of the struct. `contract` infers the dims of its result; if a dim is missing, it cannot,
/// and rustc reports that after the first error. Two wrong labels are two mistakes. The result of a
/// function of gradients and its bound depend on the same input. A missing bound is said beside the call that needs it; of two
/// missing or unknown dims, each is an error.
/// A field of another type is named where the derive begins, and where it is.
/// In an imported model, each result states its dims: a wrong operand is one error, its result another.
/// For lists with a generic dim, rustc adds five lines that suggest a bound.
const LONGER: [(&str, usize, usize); 23] = [
    ("dataset/field_that_is_a_plain_tensor", 18, 2),
    ("dataset/field_that_no_file_has", 18, 2),
    ("dataset/sel_without_labels", 19, 1),
    ("einsum/two_labels", 27, 2),
    ("factory/not_a_dim", 24, 2),
    ("factory/not_a_tuple", 36, 2),
    ("generic/generic_factory", 20, 1),
    ("generic/generic_groups", 35, 2),
    ("generic/generic_new_dim", 19, 1),
    ("grad/grad_by_a_number", 26, 2),
    ("grad/jacobian_of_a_prime", 19, 1),
    ("grad/jacobian_of_a_wild", 27, 2),
    ("imported/flatten_in_another_order", 28, 2),
    ("imported/product_over_the_result", 25, 2),
    ("imported/weights_of_two_layers_swapped", 28, 2),
    ("labels/labels_of_a_dim_without", 19, 1),
    ("labels/reindex_without_labels", 19, 1),
    ("labels/sel_without_labels", 19, 1),
    ("loss/float_labels", 22, 1),
    ("mesh/claim_of_what_is_known", 19, 1),
    ("mesh/placement_that_is_none", 19, 1),
    ("mesh/state_that_is_none", 28, 1),
    ("product/contract_a_string", 25, 2),
];

/// Texts with paths that users cannot write: the methods of `DynTensor` are in private modules of the
/// runtime, and few of them have bounds on types.
const PRIVATE: [&str; 1] = ["dynamic/names_as_strings.rs:"];

/// Contents that no text may have: std's sources, lists of impls, the internals of names and sizes, the
/// crates behind `nomina`, and texts without a sentence of ours.
const INTERNAL: [&str; 20] = [
    "__private",
    "nomina_core::",
    "nomina_macros::",
    "dims::id",
    "End>",
    "IsTrue",
    "Spelling",
    "Fixed<",
    "AnySize",
    "/rustc/",
    "rustlib",
    "the trait bound",
    "is not satisfied",
    "other types implement",
    "similarly named trait",
    "originates in the macro",
    "Kind as",
    " as DimList>",
    "Outcome",
    "ErrorGuaranteed",
];

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = fs::read_dir(root).expect("the folder of the tests");
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.is_dir())
        .filter(|path| !["src", "tests"].iter().any(|own| path.ends_with(own)))
        .collect();
    folders.sort();
    folders
}

fn files(ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = folders()
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("a folder of mistakes"))
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .collect();
    files.sort();
    files
}

/// Returns whether a text is about an operator such as `+`: rustc then names the trait of std.
fn operator(text: &str) -> bool {
    let traits = ["Add", "Sub", "Mul", "Div", "Neg", "Not"];
    let named = |name: &&str| {
        text.contains(&format!("to implement `{name}<"))
            || text.contains(&format!("to implement `{name}Assign<"))
            || text.contains(&format!("to implement `std::ops::{name}<"))
    };
    traits.iter().any(named) && !text.contains("help: consider further restricting")
}

/// Returns the flags of rustc for the libraries that this test was built with, a line each, or why they are not found.
///
/// Cargo says them nowhere; like trybuild, this reads its fingerprints: that of this test has the numbers of its
/// dependencies, and the file of a library has its own number.
fn libraries() -> Result<String, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let name = own.file_stem().unwrap_or_default().to_string_lossy();
    let hash = name.strip_prefix("ui-").ok_or("this test has no hash")?;
    let deps = own.parent().ok_or("this test has no folder")?;
    let prints = deps.with_file_name(".fingerprint");
    let text = |file: PathBuf| {
        fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let folder = prints.join(format!("nomina-ui-tests-{hash}"));
    let test = text(folder.join("test-integration-test-ui.json"))?;
    let list = test.split_once("\"deps\":[[").ok_or("no dependencies")?.1;
    let list = list.split_once("]]").ok_or("no end of dependencies")?.0;
    let entries = fs::read_dir(&prints).map_err(|error| error.to_string())?;
    let folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    let mut flags = format!("-Ldependency={}", deps.display());
    for dependency in list.split("],[") {
        let mut parts = dependency.split(',').map(|part| part.trim_matches('"'));
        let (name, number) = (parts.nth(1).unwrap_or_default(), parts.nth(1));
        if name == "build_script_build" {
            continue;
        }
        let number: u64 = (number.and_then(|number| number.parse().ok()))
            .ok_or_else(|| format!("no number of {name}"))?;
        let number: String = (number.to_le_bytes().iter())
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let is_it = |folder: &&PathBuf| {
            let file = folder.join(format!("lib-{name}"));
            fs::read_to_string(file).is_ok_and(|found| found == number)
        };
        let found = folders.iter().find(is_it);
        let hash = found.and_then(|folder| folder.to_str()?.rsplit('-').next());
        let hash = hash.ok_or_else(|| format!("no library {name}"))?;
        let file = deps.join(format!("lib{name}-{hash}.rlib"));
        if !file.exists() {
            return Err(format!("no {}", file.display()));
        }
        flags += &format!("\n--extern={name}={}", file.display());
    }
    Ok(flags)
}

#[test]
fn mistakes() {
    let mut own = Command::new(env::current_exe().expect("a running test"));
    // With the filters of trybuild, `trybuild=NAME`.
    own.args(["--exact", "inside_mistakes", "--ignored", "--nocapture"])
        .args(env::args().filter(|arg| arg.starts_with("trybuild=")));
    match libraries() {
        Ok(libraries) => {
            own.env("CARGO", env!("CARGO_BIN_EXE_mistakes_by_rustc"))
                .env("NOMINA_CARGO", env!("CARGO"))
                .env("NOMINA_LIBRARIES", libraries);
        }
        Err(why) => println!("cargo checks the libraries once more: {why}"),
    }
    let output = own.output().expect("this test runs again");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

#[test]
#[ignore = "run by `mistakes`, with its environment"]
fn inside_mistakes() {
    let cases = trybuild::TestCases::new();
    for folder in folders() {
        let name = folder
            .file_name()
            .expect("a folder has a name")
            .to_string_lossy()
            .into_owned();
        cases.compile_fail(format!("{name}/*.rs"));
    }
}

#[test]
fn every_text_has_its_mistake() {
    let orphan = |path: &PathBuf| !path.with_extension("rs").exists();
    let orphans: Vec<PathBuf> = files("stderr").into_iter().filter(orphan).collect();
    assert!(orphans.is_empty(), "texts without a mistake: {orphans:?}");
    let untold = |path: &PathBuf| !path.with_extension("stderr").exists();
    let untold: Vec<PathBuf> = files("rs").into_iter().filter(untold).collect();
    assert!(untold.is_empty(), "mistakes without a text: {untold:?}");
    assert!(files("rs").len() >= 60, "mistakes are missing");
}

/// Returns the modules that a user can name, as paths such as `nomina::tensor::order`.
fn public_modules() -> BTreeSet<String> {
    fn read(file: &Path, path: &str, found: &mut BTreeSet<String>) {
        found.insert(path.to_owned());
        let text = fs::read_to_string(file).expect("the source of a public module");
        let folder = match file.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib") => file.with_file_name(""),
            _ => file.with_extension(""),
        };
        for line in text.lines() {
            let Some(module) = line.strip_prefix("pub mod ") else {
                continue;
            };
            let name = module.trim_end_matches([';', '{', ' ']);
            let path = format!("{path}::{name}");
            let files = [format!("{name}.rs"), format!("{name}/mod.rs")];
            match files.iter().find(|file| folder.join(file).exists()) {
                Some(file) => read(&folder.join(file), &path, found),
                None => drop(found.insert(path)),
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = BTreeSet::new();
    read(&root.join("src/lib.rs"), "nomina", &mut found);
    read(&root.join("mesh/src/lib.rs"), "nomina_mesh", &mut found);
    read(
        &root.join("core/src/dims/mod.rs"),
        "nomina::dims",
        &mut found,
    );
    found
}

/// Returns the modules that a text names: `nomina::dims` for `nomina::dims::At<N>`, `order` for
/// `order::<impl …>`.
fn modules_said(text: &str) -> BTreeSet<String> {
    let path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut said = BTreeSet::new();
    for (at, _) in text.match_indices("nomina::") {
        let rest = &text[at..];
        let end = rest.find(|c| !path(c)).unwrap_or(rest.len());
        let whole = rest[..end].trim_end_matches(':');
        // A generic item or an impl continues with `<`; a type begins with a capital.
        let types = whole.find(|c: char| c.is_uppercase());
        let module = match types {
            Some(start) => &whole[..start],
            None if rest[end..].starts_with("<impl") => whole,
            None => whole
                .rsplit_once("::")
                .map_or("nomina", |(module, _)| module),
        };
        said.insert(module.trim_end_matches(':').to_owned());
    }
    for (at, _) in text.match_indices("::<impl") {
        let start = text[..at]
            .rfind(|c| !path(c))
            .map_or(0, |before| before + 1);
        said.insert(text[start..at].to_owned());
    }
    said
}

/// Returns the faults of a text, other than its length.
fn faults(text: &str, file: &str, public: &BTreeSet<String>) -> Vec<String> {
    let mut faults: Vec<String> = INTERNAL
        .iter()
        .filter(|word| text.contains(**word))
        .map(|word| format!("says `{word}`"))
        .collect();
    for module in modules_said(text) {
        let end = format!("::{module}");
        if PRIVATE.contains(&file) {
            continue;
        }
        if !public.contains(&module) && !public.iter().any(|path| path.ends_with(&end)) {
            faults.push(format!("names `{module}`, which no user can"));
        }
    }
    let place = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("--> "));
    if !place.is_some_and(|place| place.starts_with(file)) {
        faults.push(format!("points at {place:?} first, not at the program"));
    }
    faults
}

#[test]
fn texts_are_short_and_speak_of_dims() {
    let public = public_modules();
    assert!(public.contains("nomina::tensor::order"), "{public:?}");
    let mut complaints = Vec::new();
    let mut longest = (0, PathBuf::new());
    for path in files("stderr") {
        let text = fs::read_to_string(&path).expect("a readable text");
        let lines = text.trim_end().lines().count();
        let longer = LONGER
            .iter()
            .find(|(name, ..)| path.with_extension("").ends_with(name));
        let (limit, at_most) = match longer {
            Some((_, lines, errors)) => (*lines, *errors),
            None if operator(&text) => (OPERATOR, 1),
            None => (METHOD, 1),
        };
        let name = path.display();
        if lines > limit {
            complaints.push(format!("{name}: {lines} lines, {limit} at most"));
        }
        if lines > longest.0 {
            longest = (lines, path.clone());
        }
        let errors = text
            .lines()
            .filter(|line| line.starts_with("error"))
            .count();
        if errors != at_most {
            complaints.push(format!("{name}: {errors} errors"));
        }
        let rule = path.parent().and_then(Path::file_name);
        let file = Path::new(rule.expect("a folder")).join(path.file_stem().expect("a name"));
        let faults = faults(&text, &format!("{}.rs:", file.display()), &public);
        complaints.extend(faults.iter().map(|fault| format!("{name}: {fault}")));
    }
    println!(
        "the longest text has {} lines: {}",
        longest.0,
        longest.1.display()
    );
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn the_lint_finds_what_it_looks_for() {
    let public = public_modules();
    let good =
        "error[E0277]: dim\n --> align/a.rs:1:2\n  | ^ in `order::<impl nomina::Tensor<D, T>>::t`";
    assert_eq!(faults(good, "align/a.rs:", &public), [""; 0]);
    let private = good.replace("order::<", "nomina::tensor::arithmetic::<");
    let elsewhere = good.replace("align/a.rs", "$WORKSPACE/src/tensor/order.rs");
    let internal = good.replace("dim\n", "`False` does not implement `IsTrue`\n");
    for bad in [private, elsewhere, internal] {
        assert_eq!(faults(&bad, "align/a.rs:", &public).len(), 1, "{bad}");
    }
}

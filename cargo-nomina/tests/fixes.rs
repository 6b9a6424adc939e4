//! Mistakes of `ui-tests/` that `cargo nomina fix` mends: rustc says what is wrong, the files are changed, and rustc is
//! asked again. `NOMINA_EVERY=1` (`cargo xtask fixes`) takes them all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use nomina_ui_tests::catalogue;

/// How many of all mistakes are mended at least.
const ENOUGH: usize = 300;

/// One mistake may hide another one.
const ROUNDS: usize = 4;

/// The sample: every one is mended.
const SAMPLE: [&str; 42] = [
    "align/as_without_place",
    "align/no_place",
    "broadcast/helper",
    "broadcast/in_place",
    "broadcast/left_aligns",
    "call/equal_by_operator",
    "call/other_dims",
    "call/return_of_other_dims",
    "crates/other_order",
    "dims/keyword",
    "dims/no_comma",
    "dims/product_of_sizes",
    "dtype/helper",
    "dtype/unsuffixed_integer_as_float",
    "dynamic/plus_typed",
    "editor/type_of_a_sum",
    "einsum/not_listed",
    "einsum/sum_of_operands",
    "factory/duplicate",
    "factory/eye_of_a_vector",
    "flatten/not_consecutive",
    "flatten/wrong_product",
    "fuse/names_do_not_match",
    "fuse/two_reductions",
    "generic/attention",
    "generic/forgotten_dim",
    "index/indexed_by_two",
    "index/name_taken",
    "join/cat",
    "join/cat_constant",
    "linalg/right_side",
    "names/twice",
    "product/one_side",
    "product/other_dtype",
    "random/probability_of_other_dims",
    "relations/parameter_of_the_function",
    "remove/number",
    "rename/string",
    "shape/meshgrid_twice",
    "tensor/two_lengths",
    "view/select_several",
    "wild/by_name",
];

/// A program of no catalogue, with names and expressions of its own, and four mistakes.
const OWN: &str = "\
use nomina::prelude::*;

dims! { Batch, Time, Feature, Hidden }

struct Layer {
    weight: Tensor<(Feature, Hidden)>,
    bias: Tensor<(Hidden,)>,
}

impl Layer {
    fn run<D: Dims>(&self, input: &Tensor<D>) -> Tensor<Contracted<D, (Feature, Hidden), Feature>>
    where
        Feature: Contract<D, (Feature, Hidden)>,
    {
        input.contract(&self.weight, Feature)
    }
}

fn main() {
    let layer = Layer { weight: Tensor::ones([4, 5]), bias: Tensor::zeros([5]) };
    let input = Tensor::<(Batch, Time, Feature)>::ones([2, 3, 4]);
    let lengths = Tensor::<(Batch,)>::ones([2]);
    let scaled = (&input * 2.0) / (&lengths + 1.0);
    let hidden = layer.run(&scaled) + &layer.bias;
    let total: f32 = hidden.sum(\"Time\").mean((Batch, Batch)).sum(Hidden).item();
    let steps = input.size(Tim);
    println!(\"{total} {steps}\");
}
";

/// A package whose programs are the mistakes.
struct Package {
    folder: PathBuf,
    out: PathBuf,
    deps: PathBuf,
    nomina: PathBuf,
}

impl Package {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let out = folder.join("target");
        fs::create_dir_all(folder.join("src/bin")).unwrap();
        fs::create_dir_all(&out).unwrap();
        let manifest = "[package]\nname = \"mistakes\"\nedition = \"2024\"\n\n[workspace]\n";
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let own = std::env::current_exe().unwrap();
        let deps = own.parent().unwrap().to_owned();
        let nomina = built(&deps, modified(&own));
        Self {
            folder,
            out,
            deps,
            nomina,
        }
    }

    fn path(name: &str) -> String {
        format!("src/bin/{}.rs", name.replace('/', "__"))
    }

    fn write(&self, name: &str, program: &str) {
        fs::write(self.folder.join(Self::path(name)), program).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(Self::path(name))).unwrap()
    }

    /// Rustc's errors about a program, as cargo would write them; none if it compiles.
    fn check(&self, name: &str) -> String {
        let output = Command::new("rustc")
            .current_dir(&self.folder)
            .args([
                "--edition=2024",
                "--emit=metadata",
                "--error-format=json",
                "--cap-lints=allow",
            ])
            .args(["--crate-name", "mistake", "-L"])
            .arg(format!("dependency={}", self.deps.display()))
            .arg(format!("--extern=nomina={}", self.nomina.display()))
            .arg("-o")
            .arg(self.out.join(name.replace('/', "__")))
            .arg(Self::path(name))
            .output()
            .unwrap();
        if output.status.success() {
            return String::new();
        }
        let text = String::from_utf8(output.stderr).unwrap();
        let line = |line| format!("{{\"reason\":\"compiler-message\",\"message\":{line}}}\n");
        text.lines().map(line).collect()
    }

    /// The messages of all programs, by their names.
    fn check_all(&self, names: &[String]) -> BTreeMap<String, String> {
        let next = AtomicUsize::new(0);
        let said = Mutex::new(BTreeMap::new());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let messages = self.check(name);
                        said.lock().unwrap().insert(name.clone(), messages);
                    }
                });
            }
        });
        said.into_inner().unwrap()
    }

    /// Runs the command on messages, and gives what it printed.
    fn fix(&self, options: &[&str], messages: &str) -> Result<String, String> {
        let file = self.out.join("messages.json");
        fs::write(&file, messages).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"))
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.out)
            .args(["nomina", "fix"])
            .args(options)
            .arg("--messages")
            .arg(&file)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        if output.status.success() {
            Ok(text(output.stdout))
        } else {
            Err(text(output.stderr))
        }
    }

    /// Mends the programs, and gives the names of those that do not compile in the end.
    fn mend(&self, names: &[String]) -> Vec<String> {
        let mut wrong = names.to_vec();
        for round in 0.. {
            let said = self.check_all(&wrong);
            assert!(
                round > 0 || said.values().all(|messages| !messages.is_empty()),
                "a mistake compiles: is `nomina` built with its features?"
            );
            wrong.retain(|name| !said[name].is_empty());
            let messages: String = said.into_values().collect();
            let done = round == ROUNDS || wrong.is_empty();
            if done || self.fix(&["--write"], &messages).unwrap().is_empty() {
                break;
            }
        }
        wrong
    }
}

fn modified(file: &Path) -> SystemTime {
    fs::metadata(file).unwrap().modified().unwrap()
}

/// The library that this test was built with: the newest that is no newer than the test.
fn built(deps: &Path, test: SystemTime) -> PathBuf {
    let entries = fs::read_dir(deps).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libnomina-") && name.ends_with(".rlib") && modified(path) <= test
        })
        .max_by_key(|path| modified(path))
        .expect("`nomina` is a dependency of a dependency")
}

fn catalogue() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui-tests");
    let mistakes = catalogue::read(&root).unwrap().into_iter();
    mistakes
        .map(|(_, mistake)| (mistake.path(), mistake.program.join("\n") + "\n"))
        .collect()
}

#[test]
fn mistakes_are_mended() {
    let every = std::env::var_os("NOMINA_EVERY").is_some();
    let programs = catalogue();
    let names: Vec<String> = if every {
        programs.keys().cloned().collect()
    } else {
        SAMPLE.iter().map(|name| (*name).to_owned()).collect()
    };
    let package = Package::new("mistakes");
    for name in &names {
        package.write(name, &programs[name]);
    }
    let wrong = package.mend(&names);
    if !every {
        assert!(wrong.is_empty(), "not mended: {wrong:#?}");
        return;
    }
    let rule = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let mut rules: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for name in &names {
        let (mended, all) = rules.entry(rule(name)).or_default();
        *all += 1;
        *mended += usize::from(!wrong.contains(name));
    }
    for (rule, (mended, all)) in rules {
        println!("{rule:<12} {mended:>3} of {all:>3}");
    }
    let mended = names.len() - wrong.len();
    println!("{:<12} {mended:>3} of {:>3}", "all", names.len());
    assert!(
        mended >= ENOUGH,
        "{mended} of {}, not mended: {wrong:#?}",
        names.len()
    );
}

#[test]
fn a_program_of_no_catalogue_is_mended() {
    let package = Package::new("own");
    let name = "own".to_owned();
    package.write(&name, &OWN.replace("size(Tim)", "size(Hidden)"));
    let wrong = package.mend(std::slice::from_ref(&name));
    let text = package.read(&name);
    assert!(wrong.is_empty(), "{text}");
    for part in [
        "(&lengths + 1.0).align_as(&input)",
        "sum(Time).mean((Batch,))",
        "input.size(",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn a_diff_changes_no_file_and_guesses_can_be_left_out() {
    let package = Package::new("diff");
    let program = "use nomina::prelude::*;\ndims! { N, C, H }\nfn main() {\n    let x = Tensor::<(N, C)>::ones([2, 3]);\n    x.sum(\"C\").sum(H);\n}\n";
    package.write("diff", program);
    let messages = package.check("diff");
    let shown = package.fix(&[], &messages).unwrap();
    assert!(
        shown.contains("-    x.sum(\"C\").sum(H);\n+    x.sum(C)"),
        "{shown}"
    );
    assert_eq!(package.read("diff"), program);
    let sure = package.fix(&["--sure"], &messages).unwrap();
    assert!(sure.contains("+    x.sum(C).sum(H);"), "{sure}");
    // Lines that changed since the check are left alone.
    package.write("diff", &program.replace("x.sum", "  x.sum"));
    let error = package.fix(&["--write"], &messages).unwrap_err();
    assert!(error.contains("changed since the check"), "{error}");
    // The line is unchanged, but at other bytes.
    package.write("diff", &program.replace("{ N,", "{ N ,"));
    let error = package.fix(&["--write"], &messages).unwrap_err();
    assert!(error.contains("changed since the check"), "{error}");
}

#[test]
fn a_file_outside_of_the_workspace_is_left_alone() {
    let package = Package::new("outside");
    let outside = package.folder.join("../outside.rs");
    let program = "fn main() {\n    nomina::dims! { N C }\n}\n";
    fs::write(&outside, program).unwrap();
    package.write("outside", "include!(\"../../../outside.rs\");\n");
    let messages = package.check("outside");
    assert!(
        messages.contains("expected `,` after dim `N`"),
        "{messages}"
    );
    assert_eq!(package.fix(&["--write"], &messages).unwrap(), "");
    assert_eq!(fs::read_to_string(&outside).unwrap(), program);
}

/// Places are those of rustc, which counts every byte of the file.
#[test]
fn a_file_may_begin_with_a_mark_or_a_line_for_the_shell() {
    let package = Package::new("begins");
    let program = "#![allow(unused)]\nuse nomina::prelude::*;\ndims! { N, C, H }\nfn main() {\n\
                   \tlet größe = \"ä😀\"; let x = Tensor::<(N, C)>::ones([2, 3]); x.sum(\"C\");\n\
                   \tx.sum(\"N\"); /* ü */ println!(\"{größe}\");\n}\n";
    let mended = program.replace("\"C\"", "C").replace("\"N\"", "N");
    let windows = |text: &str| text.replace('\n', "\r\n");
    let beginnings = [
        "",
        "\u{feff}",
        "#!/usr/bin/env größe\n",
        "\u{feff}#!/bin/x\n",
    ];
    let mut programs = BTreeMap::new();
    for (at, begins) in beginnings.into_iter().enumerate() {
        let text = |program: &str| format!("{begins}{program}");
        programs.insert(format!("unix{at}"), (text(program), text(&mended)));
        let (old, new) = (windows(&text(program)), windows(&text(&mended)));
        programs.insert(format!("windows{at}"), (old, new));
    }
    for (name, (old, _)) in &programs {
        package.write(name, old);
    }
    let names: Vec<String> = programs.keys().cloned().collect();
    assert_eq!(package.mend(&names), [""; 0]);
    for (name, (_, new)) in &programs {
        assert_eq!(package.read(name), *new, "{name}");
    }
}

/// A mistake whose file is too deep to be parsed, and one beside it.
#[test]
fn a_file_that_cannot_be_read_does_not_keep_others_from_being_mended() {
    let package = Package::new("unread");
    let program = "use nomina::prelude::*;\ndims! { N }\nfn main() {\n    Tensor::<(N,)>::ones([2]).sum(\"N\");\n}\n";
    for name in ["bytes", "deep", "well"] {
        package.write(name, program);
    }
    let names = ["bytes", "deep", "well"].map(str::to_owned);
    let messages: String = package.check_all(&names).into_values().collect();
    // Rustc itself would take neither.
    let deep = format!(
        "{program}macro_rules! m {{ () => {{ {}{} }} }}\n",
        "(".repeat(20_000),
        ")".repeat(20_000)
    );
    package.write("deep", &deep);
    let bytes = [program.as_bytes(), b"// \xe4\n"].concat();
    fs::write(package.folder.join(Package::path("bytes")), &bytes).unwrap();
    let said = package.fix(&["--write"], &messages).unwrap();
    assert!(said.contains("well") && !said.contains("deep"), "{said}");
    assert!(package.read("well").contains(".sum(N)"));
    assert_eq!(package.read("deep"), deep);
    assert_eq!(
        fs::read(package.folder.join(Package::path("bytes"))).unwrap(),
        bytes
    );
}

#[test]
fn what_cannot_be_read_is_skipped_by_check() {
    let package = Package::new("skipped");
    package.write(
        "main",
        "macro_rules! dims { ($($t:tt)*) => {} }\ndims! { Used, Unused }\nfn main() {}\n",
    );
    let folder = package.folder.join("data");
    fs::create_dir_all(folder.join("folder.rs")).unwrap();
    let at = |name: &str| folder.join(name);
    fs::write(at("folder.rs/Cargo.toml"), "").unwrap();
    fs::write(at("latin.rs"), b"// \xe4").unwrap();
    for (name, open, close) in [("round", "(", ")"), ("square", "[", "]"), ("not", "!", "")] {
        let text = format!(
            "const X: u8 = {}1{};",
            open.repeat(20_000),
            close.repeat(20_000)
        );
        fs::write(at(&format!("deep_{name}.rs")), text).unwrap();
    }
    fs::write(at("open.rs"), "(".repeat(20_000)).unwrap();
    fs::write(
        at("used.rs"),
        "\u{feff}#!/bin/x\nfn f() { x.sum(Used); }\r\n",
    )
    .unwrap();
    #[cfg(unix)]
    {
        assert!(
            Command::new("mkfifo")
                .arg(at("pipe.rs"))
                .status()
                .unwrap()
                .success()
        );
        std::os::unix::fs::symlink("..", at("loop")).unwrap();
        std::os::unix::fs::symlink("loop.rs", at("loop.rs")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-nomina"))
        .current_dir(&package.folder)
        .env("CARGO_TARGET_DIR", &package.out)
        .args(["nomina", "check"])
        .output()
        .unwrap();
    let (said, skipped) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(output.status.code(), Some(1), "{skipped}");
    assert!(
        said.contains("dim `Unused` is never used") && !said.contains("`Used`"),
        "{said}"
    );
    for name in ["latin", "deep_round", "deep_square", "deep_not"] {
        assert!(
            skipped.contains(&format!("{name}.rs: skipped: ")),
            "{name}: {skipped}"
        );
    }
    #[cfg(unix)]
    assert!(
        skipped.contains("pipe.rs: skipped: not a regular file"),
        "{skipped}"
    );
    assert!(!skipped.contains("open.rs"), "{skipped}");
}

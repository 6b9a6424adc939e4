//! Mistakes of `ui-tests/` that `cargo nomina fix` mends: rustc says what is wrong, the files are changed, and rustc is
//! asked again. `NOMINA_EVERY=1` (`cargo xtask fixes`) takes them all.

mod package;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use nomina_ui_tests::catalogue;
use package::Package;

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

/// Fixes the programs, guesses included, and returns the names of those that do not compile in the end.
fn mend(package: &Package, names: &[String]) -> Vec<String> {
    let mut wrong = names.to_vec();
    for round in 0.. {
        let said = package.check_all(&wrong);
        assert!(
            round > 0 || said.values().all(|messages| !messages.is_empty()),
            "a mistake compiles: is `nomina` built with its features?"
        );
        wrong.retain(|name| !said[name].is_empty());
        let messages: String = said.into_values().collect();
        let done = round == ROUNDS || wrong.is_empty();
        if done
            || package
                .fix(&["--write", "--guesses"], &messages)
                .unwrap()
                .is_empty()
        {
            break;
        }
    }
    wrong
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
    let wrong = mend(&package, &names);
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
    let wrong = mend(&package, std::slice::from_ref(&name));
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
    let program = "use nomina::prelude::*;\ndims! { N, C, H }\nfn main() {\n    let x = Tensor::<(N, C)>::ones([2, 3]);\n    x.sum(\"C\");\n    x.sum(H);\n}\n";
    package.write("diff", program);
    let messages = package.check("diff");
    let shown = package.fix(&[], &messages).unwrap();
    assert!(
        shown.contains("-    x.sum(\"C\");\n-    x.sum(H);\n+    x.sum(C);\n+    x.sum("),
        "{shown}"
    );
    assert_eq!(package.read("diff"), program);
    assert_eq!(package.fix(&["--sure"], &messages).unwrap(), "");
    let (sure, _) = package.run(&["fix", "--sure"]);
    assert!(sure.contains("+    x.sum(C);\n     x.sum(H);"), "{sure}");
    assert_eq!(package.read("diff"), program);
    // Lines that changed since the check are left alone.
    package.write("diff", &program.replace("x.sum", "  x.sum"));
    let error = package
        .fix(&["--write", "--guesses"], &messages)
        .unwrap_err();
    assert!(error.contains("changed since the check"), "{error}");
    // The line is unchanged, but at other bytes.
    package.write("diff", &program.replace("{ N,", "{ N ,"));
    let error = package
        .fix(&["--write", "--guesses"], &messages)
        .unwrap_err();
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
    assert_eq!(
        package.fix(&["--write", "--guesses"], &messages).unwrap(),
        ""
    );
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
    assert_eq!(mend(&package, &names), [""; 0]);
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
    let said = package.fix(&["--write", "--guesses"], &messages).unwrap();
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

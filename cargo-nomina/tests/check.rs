//! `cargo nomina check` compiles one crate with a cfg, and what depends on it; everything else stays as it is built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package of this name, whose macro is an error under the cfg of the check.
const LINTED: &str = "\
#[cfg(not(nomina_lint))]
#[macro_export]
macro_rules! product { () => { 6 } }
#[cfg(nomina_lint)]
#[macro_export]
macro_rules! product { () => { compile_error!(\"matmul contracts dim `C` with dim `H`\") } }
";

fn write(folder: &Path, name: &str, dependencies: &[&str], code: &str) {
    let folder = folder.join(name);
    fs::create_dir_all(folder.join("src")).unwrap();
    let dependency = |other: &&str| format!("{other} = {{ path = \"../{other}\" }}\n");
    let dependencies: String = dependencies.iter().map(dependency).collect();
    let manifest = format!(
        "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[lints.rust]\nunexpected_cfgs = \"allow\"\n\n\
         [dependencies]\n{dependencies}"
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), code).unwrap();
}

/// Runs a command in a folder, and returns what it printed on both outputs.
fn run(folder: &Path, program: &str, args: &[&str]) -> (String, String) {
    let output = Command::new(program)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", folder.join("target"))
        .env_remove("RUSTFLAGS")
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn only_one_crate_and_its_dependents_are_checked_again() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lint");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("Cargo.toml"),
        "[workspace]\nmembers = [\"*\"]\nexclude = [\"target\"]\nresolver = \"3\"\n",
    )
    .unwrap();
    write(&folder, "below", &[], "pub const TWO: u8 = 2;\n");
    write(&folder, "nomina-core", &["below"], LINTED);
    write(&folder, "beside", &["below"], "pub use below::TWO;\n");
    let code = "pub fn six() -> u8 {\n    nomina_core::product!() + beside::TWO\n}\n";
    write(&folder, "app", &["nomina-core", "beside"], code);
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let own = env!("CARGO_BIN_EXE_cargo-nomina");
    let (_, said) = run(&folder, &cargo, &["check"]);
    assert!(
        said.contains("Checking beside") && said.contains("Finished"),
        "{said}"
    );
    for _ in 0..2 {
        let (found, said) = run(&folder, own, &["nomina", "check"]);
        assert!(
            found.contains("matmul contracts dim `C` with dim `H`"),
            "{found}{said}"
        );
        assert!(said.contains("1 place to look at"), "{said}");
        for name in ["below", "beside"] {
            assert!(!said.contains(&format!("Checking {name} ")), "{said}");
        }
        // The normal build has not changed.
        let (_, said) = run(&folder, &cargo, &["check"]);
        assert!(
            !said.contains("Checking") && said.contains("Finished"),
            "{said}"
        );
    }
}

//! All tests that compute, once for each instruction set of x86-64; others are compiled.

use crate::step::{Command, Outcome, Step, run_all};

/// As `NOMINA_SIMD` names them, the least first. A machine that lacks one runs the next lower.
pub const LEVELS: [&str; 3] = ["baseline", "avx2", "avx512"];

/// Those of this machine: the library finds out alike (`runtime/src/cpu/simd.rs`).
pub fn here() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let wide = [
        true,
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl"),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let wide = [true, false, false];
    let known = LEVELS.into_iter().zip(wide);
    known
        .filter(|&(_, has)| has)
        .map(|(level, _)| level)
        .collect()
}

/// What computes, with its tests, examples and documentation. What rustc says is the same everywhere.
const PACKAGES: [&str; 6] = [
    "-p",
    "nomina-runtime",
    "-p",
    "nomina",
    "-p",
    "nomina-examples",
];

/// Where the baseline is NEON: the same bodies, which are compiled and not run.
const NEON: &str = "aarch64-unknown-linux-gnu";

/// `cargo xtask levels`.
pub fn run() -> Outcome {
    let all = [fetch(), neon()].into_iter().chain(LEVELS.map(step));
    run_all(&all.collect::<Vec<_>>())
}

/// All packages of the workspace: tests that run rustc ask cargo for theirs without a registry.
fn fetch() -> Step {
    Step::new("fetch", Command::cargo(["fetch", "--quiet"]))
}

/// Compiles for another processor, where rustup has its standard library.
fn neon() -> Step {
    let check = ["check", "--target", NEON, "-p", "nomina", "--all-features"];
    // An empty crate needs the standard library too.
    let probe = [
        "--target",
        NEON,
        "--crate-name=probe",
        "--crate-type=lib",
        "--emit=metadata",
        "--out-dir=target",
        "/dev/null",
    ];
    Step::new("aarch64", Command::cargo(check)).needs(Command::new("rustc", probe))
}

/// One build serves all levels: it asks nothing of the processor, whatever cargo's configuration
/// says, and loops for more are chosen when it runs.
fn step(level: &'static str) -> Step {
    let test = Command::cargo(["test", "--no-fail-fast"]).args(PACKAGES);
    let mut command = test.env("NOMINA_SIMD", level);
    if cfg!(target_arch = "x86_64") {
        command = command
            .env("RUSTFLAGS", "-C target-cpu=x86-64")
            // Its own folder: the flag is part of every dependency's name.
            .env("CARGO_TARGET_DIR", "target/levels");
    }
    Step::new(level, command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::root;

    /// The library knows these names, and there is no other.
    #[test]
    fn levels_are_those_of_the_library() {
        let file = root().join("runtime/src/cpu/simd.rs");
        let text = std::fs::read_to_string(file).unwrap();
        let named = format!("`NOMINA_SIMD={}`", LEVELS.join("|"));
        assert!(text.contains(&named), "simd.rs does not say {named}");
    }
}

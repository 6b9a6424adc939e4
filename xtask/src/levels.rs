//! Runs all tests that compute once for each instruction set of x86-64; other architectures are only compiled.

use crate::step::{Command, Outcome, Step, run_all};

/// The values of `NOMINA_SIMD`, from the least. A machine without a level falls back to the next lower one.
pub const LEVELS: [&str; 3] = ["baseline", "avx2", "avx512"];

/// Returns the levels of this machine, detected as the library does (`runtime/src/cpu/simd.rs`).
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

/// The packages that compute, with their tests, examples and documentation. Compile errors are the same for every
/// level.
const PACKAGES: [&str; 6] = [
    "-p",
    "nomina-runtime",
    "-p",
    "nomina",
    "-p",
    "nomina-examples",
];

/// A target whose baseline is NEON: the same code is compiled, but not run.
const NEON: &str = "aarch64-unknown-linux-gnu";

/// `cargo xtask levels`.
pub fn run() -> Outcome {
    let all = [fetch(), neon()].into_iter().chain(LEVELS.map(step));
    run_all(&all.collect::<Vec<_>>())
}

/// Fetches the dependencies of all workspace packages, since tests that run rustc call cargo offline.
fn fetch() -> Step {
    Step::new("fetch", Command::cargo(["fetch", "--quiet"]))
}

/// Compiles for another architecture, if rustup has its standard library.
fn neon() -> Step {
    let check = ["check", "--target", NEON, "-p", "nomina", "--all-features"];
    // Even an empty crate needs the standard library.
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

/// One build serves all levels: its baseline needs no processor features, whatever cargo's configuration says, and
/// loops for higher levels are selected at run time.
fn step(level: &'static str) -> Step {
    let test = Command::cargo(["test", "--no-fail-fast"]).args(PACKAGES);
    let mut command = test.env("NOMINA_SIMD", level);
    if cfg!(target_arch = "x86_64") {
        command = command
            .env("RUSTFLAGS", "-C target-cpu=x86-64")
            // A separate folder: the flag is part of every dependency's hash.
            .env("CARGO_TARGET_DIR", "target/levels");
    }
    Step::new(level, command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::root;

    /// The library accepts exactly these names.
    #[test]
    fn levels_are_those_of_the_library() {
        let file = root().join("runtime/src/cpu/simd.rs");
        let text = std::fs::read_to_string(file).unwrap();
        let named = format!("`NOMINA_SIMD={}`", LEVELS.join("|"));
        assert!(text.contains(&named), "simd.rs does not say {named}");
    }
}

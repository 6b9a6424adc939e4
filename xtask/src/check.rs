//! The steps of CI, cheapest first.

use crate::kernels;
use crate::step::{Command, Outcome, Step, run_all};

/// The tests, as the README's first screen and `.ci/run` spell them.
pub const TEST: [&str; 2] = ["test", "--workspace"];

/// `cargo xtask check [--skip STEP]...`.
pub fn run(args: &[String]) -> Outcome {
    let skipped = skipped(args)?;
    let mut steps = steps();
    for name in &skipped {
        let before = steps.len();
        steps.retain(|step| step.name != name);
        if steps.len() == before {
            let mut names: Vec<&str> = steps.iter().map(|step| step.name).collect();
            names.dedup();
            return Err(format!("no step `{name}`; there are {}", names.join(", ")));
        }
    }
    run_all(&steps)
}

fn skipped(args: &[String]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--skip", Some(name)) => names.push(name.clone()),
            ("--skip", None) => return Err("--skip what?".to_owned()),
            (other, _) => return Err(format!("check takes `--skip STEP`, not `{other}`")),
        }
    }
    Ok(names)
}

fn steps() -> Vec<Step> {
    let mut steps = vec![
        Step::new("fmt", Command::cargo(["fmt", "--all", "--check"]))
            .needs(Command::cargo(["fmt", "--version"]))
            .hint("`cargo fmt --all` repairs it"),
        Step::new(
            "deny",
            Command::cargo(["deny", "check", "bans", "licenses", "sources"]),
        )
        .needs(Command::cargo(["deny", "--version"])),
    ];
    // Everything is asked for with `--workspace`: packages alone have other features, and would be built once more.
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    let attack = [
        "test",
        "--release",
        "--manifest-path",
        "tests/attack/Cargo.toml",
        "--target-dir",
        "target/attack",
    ];
    let newcomer = [
        "test",
        "--manifest-path",
        "tests/newcomer/Cargo.toml",
        "--target-dir",
        "target/newcomer",
    ];
    let features = ["check", "-p", "nomina", "--no-default-features"];
    let powerset = ["hack", "check", "-p", "nomina", "--feature-powerset"];
    let mpicc = Command::new("mpicc", ["--version"]);
    let doc = Command::cargo(["doc", "--workspace", "--no-deps"]);
    let count = [
        "test",
        "--quiet",
        "--workspace",
        "--test",
        "conformance",
        "--",
        "--nocapture",
    ];
    steps.extend([
        Step::new("clippy", Command::cargo(clippy)).needs(Command::cargo(["clippy", "-V"])),
        Step::new("doc", doc.env("RUSTDOCFLAGS", "-D warnings")),
        Step::new("no features", Command::cargo(features)),
        Step::new("features", Command::cargo(powerset)).needs(Command::cargo(["hack", "-V"])),
        // Says so and passes where the compiler cannot be fetched.
        Step::new("kernels", kernels::sample()),
        // All packages' tests, with generators, conformance, properties, documentation, ui-tests, and CUDA on the host that stands
        // for a GPU, where there is none.
        Step::new("test", Command::cargo(TEST)),
        Step::new(
            "next solver",
            Command::cargo(["xtask", "next-solver", "--quick"]),
        ),
        // The attacks that the workspace's tests hold with overflow checks, as a user's release build has them.
        Step::new("attack", Command::cargo(attack)),
        // A user's crate with cargo's default profiles, where nothing is optimised.
        Step::new("newcomer", Command::cargo(newcomer)),
        // With each MPI that is installed.
        Step::new("mpi", Command::new("scripts/mpi.sh", ["lint"])).needs(mpicc.clone()),
        Step::new("mpi", Command::new("scripts/mpi.sh", ["test"])).needs(mpicc),
        // Once more for its count, which the harness above swallows.
        Step::new("conformance", Command::cargo(count)),
    ]);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::root;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_step_is_skipped_by_name_and_a_wrong_name_is_told() {
        assert_eq!(
            skipped(&words("--skip test --skip doc")).unwrap(),
            ["test", "doc"]
        );
        assert!(skipped(&words("--skip")).is_err());
        assert!(skipped(&words("test doc")).is_err());
        let error = run(&words("--skip tset")).unwrap_err();
        assert!(
            error.contains("`tset`") && error.contains("clippy"),
            "{error}"
        );
    }

    /// The README promises what `.ci/run` and this task run.
    #[test]
    fn the_tests_are_the_ones_the_readme_and_ci_run() {
        let command = format!("cargo {}", TEST.join(" "));
        for file in ["README.md", ".ci/run", "CONTRIBUTING.md"] {
            let text = std::fs::read_to_string(root().join(file)).unwrap();
            assert!(text.contains(&command), "{file} does not have `{command}`");
        }
    }
}

//! The steps of CI, cheapest first, and the longer ones of each night.

use std::path::Path;

use crate::kernels;
use crate::step::{Command, Outcome, Step, run_all};

/// The tests, as the README's first screen and `.ci/run` spell them.
pub const TEST: [&str; 2] = ["test", "--workspace"];

/// `cargo xtask check [--skip STEP]...`.
pub fn run(args: &[String]) -> Outcome {
    run_all(&left(steps(), args)?)
}

/// `cargo xtask nightly [--skip STEP]...`.
pub fn nightly(args: &[String]) -> Outcome {
    run_all(&left(nightly_steps(), args)?)
}

/// Returns the steps without those that the arguments skip.
fn left(mut steps: Vec<Step>, args: &[String]) -> Result<Vec<Step>, String> {
    for name in &skipped(args)? {
        let before = steps.len();
        steps.retain(|step| step.name != name);
        if steps.len() == before {
            let mut names: Vec<&str> = steps.iter().map(|step| step.name).collect();
            names.dedup();
            return Err(format!("no step `{name}`; there are {}", names.join(", ")));
        }
    }
    Ok(steps)
}

fn skipped(args: &[String]) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match (arg.as_str(), args.next()) {
            ("--skip", Some(name)) => names.push(name.clone()),
            ("--skip", None) => return Err("--skip what?".to_owned()),
            (other, _) => return Err(format!("only `--skip STEP` is taken, not `{other}`")),
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
    let features = ["check", "-p", "nomina", "--no-default-features"];
    let powerset = ["hack", "check", "-p", "nomina", "--feature-powerset"];
    let mpicc = Command::new("mpicc", ["--version"]);
    let doc =
        Command::cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    steps.extend([
        Step::new("clippy", Command::cargo(clippy)).needs(Command::cargo(["clippy", "-V"])),
        Step::new("doc", as_clippy(doc)),
        Step::new("no features", Command::cargo(features)),
        Step::new("features", Command::cargo(powerset)).needs(Command::cargo(["hack", "-V"])),
        // Says so and passes where the compiler cannot be fetched.
        Step::new("kernels", kernels::sample()),
        // All packages' tests, with generators, conformance, properties, documentation, ui-tests, and CUDA on the host that stands
        // for a GPU, where there is none.
        Step::new("test", Command::cargo(TEST)),
        // With each MPI that is installed.
        Step::new("mpi", Command::new("scripts/mpi.sh", ["lint"])).needs(mpicc.clone()),
        Step::new("mpi", Command::new("scripts/mpi.sh", ["test"])).needs(mpicc),
    ]);
    steps
}

/// Makes a command take the libraries that the step `clippy` has checked, instead of checking them once more: the
/// environment is that which `cargo clippy` gives to cargo.
fn as_clippy(command: Command) -> Command {
    let sysroot = Command::new("rustc", ["--print", "sysroot"]).output();
    let sysroot = sysroot.unwrap_or_default();
    let cargo = Path::new(sysroot.trim()).join("bin/cargo-clippy");
    // The program's real place, as it finds its driver itself.
    let Ok(cargo) = cargo.canonicalize() else {
        return command;
    };
    let driver = cargo.with_file_name("clippy-driver");
    let [denied, warnings] = ["-D", "warnings"].map(|arg| arg.to_owned() + "__CLIPPY_HACKERY__");
    command
        .env("RUSTC_WORKSPACE_WRAPPER", &driver.to_string_lossy())
        .env("CLIPPY_ARGS", &(denied + &warnings))
}

/// Checks that take long and seldom fail alone. CI runs a sample of most of them, and all of it each night.
fn nightly_steps() -> Vec<Step> {
    let outside = |folder: &str, profile: &[&str]| {
        let manifest = format!("tests/{folder}/Cargo.toml");
        let target = format!("target/{folder}");
        Command::cargo(["test"]).args(profile).args([
            "--manifest-path",
            &manifest,
            "--target-dir",
            &target,
        ])
    };
    let pack = ["test", "--workspace", "--bin", "xtask", "--", "gpu::pack"];
    let import = ["test", "--workspace", "--test", "import", "--", "--ignored"];
    let xtask = |task: &str| Command::cargo(["xtask", task]);
    vec![
        // A user's crate with cargo's default profiles, where nothing is optimised; the workspace's tests have its programs
        // with optimised kernels.
        Step::new("newcomer", outside("newcomer", &[])),
        Step::new("features off", xtask("features-off")),
        // The attacks that the workspace's tests hold with overflow checks, as a user's release build has them.
        Step::new("attack", outside("attack", &["--release"])),
        // Says so and passes without a nightly toolchain.
        Step::new("next solver", xtask("next-solver")),
        Step::new("fixes", xtask("fixes")),
        // Compiles nomina in a package of its own, as `cargo nomina import --check` does.
        Step::new("import", Command::cargo(import)),
        Step::new("cuda", xtask("cuda")),
        Step::new("gpu pack", Command::cargo(pack).env("NOMINA_EVERY", "1")),
        // Says so and passes where the compiler cannot be fetched.
        Step::new("kernels", xtask("kernels")),
    ]
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

    #[test]
    fn steps_of_the_night_are_others() {
        let all = [steps(), nightly_steps()].map(|steps| {
            let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
            names
        });
        let twice: Vec<_> = all[1].iter().filter(|name| all[0].contains(name)).collect();
        assert_eq!(twice, [&"kernels"], "a sample by day, all at night");
        let workflow = root().join(".github/workflows/nightly.yml");
        let text = std::fs::read_to_string(workflow).unwrap();
        assert!(text.contains("cargo xtask nightly\n"), "{text}");
        // CI skips no step but those that it runs itself.
        let text = std::fs::read_to_string(root().join(".ci/run")).unwrap();
        assert_eq!(text.matches("--skip").count(), 1, "{text}");
        assert!(text.contains("cargo xtask check --skip test\n"), "{text}");
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

//! The tests of everything `unsafe` (runtime's storage and kernels) under AddressSanitizer,
//! ThreadSanitizer and Valgrind.

use crate::levels::LEVELS;
use crate::step::{Command, Outcome, Step, run_all};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// `cargo xtask sanitize`.
pub fn run() -> Outcome {
    let levels = LEVELS.map(address);
    run_all(
        &levels
            .into_iter()
            .chain([rows(), hostile(), thread()])
            .collect::<Vec<_>>(),
    )?;
    if !Command::new("valgrind", ["--version"]).works() {
        println!("\n== valgrind: not here; left out");
        return Ok(());
    }
    run_all(&[valgrind(&test_binary()?)])
}

fn under_address(test: &[&str]) -> Command {
    Command::nightly(["test", "--target", TARGET, "--all-features"])
        .args(test)
        // Tests ask for more than there is, and want an error.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1")
        // Memory that is kept for later is memory that nothing watches.
        .env("NOMINA_CACHE", "0")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        // Its own folder: the flag changes every dependency.
        .env("CARGO_TARGET_DIR", "target/sanitize")
}

/// Runtime's tests with the loops of one instruction set. Named one by one, they leave out documentation
/// tests, which cannot be built with the flag, and those that stand in for a GPU: their fake driver
/// tells memory by its addresses, which the sanitizer takes for itself.
fn address(level: &'static str) -> Step {
    let test = ["-p", "nomina-runtime", "--lib", "--test", "accuracy"];
    let command = under_address(&test).env("NOMINA_SIMD", level);
    Step::new("address", command).needs(Command::nightly(["--version"]))
}

/// Every row of the table in every dtype, form and layout, from the typed tensor's package down.
fn rows() -> Step {
    let command = under_address(&["-p", "nomina", "--test", "rows"]);
    Step::new("address, rows", command).needs(Command::nightly(["--version"]))
}

/// Every public function of the entries and of tensors without names, with arguments that nobody should give.
fn hostile() -> Step {
    let command = under_address(&["-p", "nomina-runtime", "--test", "hostile"])
        // So many argument sets for each.
        .env("NOMINA_HOSTILE", "10000");
    Step::new("address, hostile", command).needs(Command::nightly(["--version"]))
}

/// The cache, storage that threads share and copy when they write, and kernels that share work.
/// ThreadSanitizer has to see what the standard library does to pass things from thread to thread,
/// so that is built too.
fn thread() -> Step {
    let test = ["-p", "nomina-runtime", "--lib"];
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    let command = Command::nightly(["test", "-Zbuild-std", "--target", TARGET])
        .args(test)
        // As for AddressSanitizer.
        .env("TSAN_OPTIONS", "allocator_may_return_null=1")
        .env("RUSTFLAGS", flags)
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_TARGET_DIR", "target/sanitize-thread");
    Step::new("thread", command)
        .needs(Command::nightly(["--version"]))
        .hint("`rustup +nightly component add rust-src` brings the standard library's source")
}

/// Valgrind knows no AVX-512: `faer` and our kernels choose by cpuid, which Valgrind answers for
/// what it can run. One test thread, since it runs one thread at a time anyway.
fn valgrind(binary: &str) -> Step {
    let flags = [
        "--quiet",
        // Or threads that wait for work take the only turn from the one that has some.
        "--fair-sched=yes",
        "--error-exitcode=1",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ];
    Step::new(
        "valgrind",
        Command::new("valgrind", flags)
            // Valgrind's product and sum in one rounding takes -0.0 for 0.0, and these tests tell them apart.
            .args([
                binary,
                "--test-threads=1",
                "--skip",
                "double::tests::as_the_platforms",
                "--skip",
                "linear::tests::as_the_separate_operator_in_every_dtype",
            ])
            .env("NOMINA_CACHE", "0"),
    )
}

/// Builds runtime's unit tests, optimised since Valgrind is slow enough, and gives the path of the binary, from cargo's JSON messages.
fn test_binary() -> Result<String, String> {
    let build = [
        "test",
        "--no-run",
        "-p",
        "nomina-runtime",
        "--all-features",
        "--release",
        "--lib",
        "--message-format=json-render-diagnostics",
    ];
    let messages = Command::cargo(build).output()?;
    executable(&messages).ok_or_else(|| "cargo names no test binary of nomina-runtime".to_owned())
}

/// The last `"executable":"…"` in cargo's messages. Paths with escaped characters are not ours.
pub fn executable(messages: &str) -> Option<String> {
    let key = "\"executable\":\"";
    let start = messages.rfind(key)? + key.len();
    let rest = &messages[start..];
    Some(rest[..rest.find('"')?].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_read_from_cargos_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","executable":null,"fresh":true}"#,
            "\n",
            r#"{"reason":"compiler-artifact","executable":"/t/deps/nomina_runtime-0","fresh":true}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(
            executable(messages).as_deref(),
            Some("/t/deps/nomina_runtime-0")
        );
        assert_eq!(executable(r#"{"executable":null}"#), None);
    }
}

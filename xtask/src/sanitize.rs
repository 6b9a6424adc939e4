//! Runs the tests of all `unsafe` code (runtime's storage and kernels) under AddressSanitizer, ThreadSanitizer and
//! Valgrind.

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
        // Tests allocate more memory than there is, and expect an error.
        .env("ASAN_OPTIONS", "allocator_may_return_null=1")
        // The sanitizer does not see errors in cached blocks.
        .env("NOMINA_CACHE", "0")
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        // A separate folder: the flag changes every dependency.
        .env("CARGO_TARGET_DIR", "target/sanitize")
}

/// Runs the tests of the runtime with the loops of one instruction set. Naming the tests excludes documentation tests,
/// which cannot be built with the flag, and tests of the emulated GPU, whose driver recognizes memory by addresses that
/// the sanitizer reserves.
fn address(level: &'static str) -> Step {
    let test = ["-p", "nomina-runtime", "--lib", "--test", "accuracy"];
    let command = under_address(&test).env("NOMINA_SIMD", level);
    Step::new("address", command).needs(Command::nightly(["--version"]))
}

/// Runs every row of the table in every dtype, form and layout, through the package of the typed tensor.
fn rows() -> Step {
    let command = under_address(&["-p", "nomina", "--test", "rows"]);
    Step::new("address, rows", command).needs(Command::nightly(["--version"]))
}

/// Calls every public function of the entries and of tensors without names with invalid arguments.
fn hostile() -> Step {
    let command = under_address(&["-p", "nomina-runtime", "--test", "hostile"])
        // The number of argument sets per function.
        .env("NOMINA_HOSTILE", "10000");
    Step::new("address, hostile", command).needs(Command::nightly(["--version"]))
}

/// Runs the tests of the cache, of storage that threads share and copy on write, and of kernels that share work.
/// ThreadSanitizer has to see the synchronization inside the standard library, so the standard library is built with
/// it, too.
fn thread() -> Step {
    let test = ["-p", "nomina-runtime", "--lib"];
    let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
    let command = Command::nightly(["test", "-Zbuild-std", "--target", TARGET])
        .args(test)
        // See AddressSanitizer above.
        .env("TSAN_OPTIONS", "allocator_may_return_null=1")
        .env("RUSTFLAGS", flags)
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only")
        .env("CARGO_TARGET_DIR", "target/sanitize-thread");
    Step::new("thread", command)
        .needs(Command::nightly(["--version"]))
        .hint("`rustup +nightly component add rust-src` brings the standard library's source")
}

/// Valgrind does not support AVX-512: `faer` and the kernels select by cpuid, which Valgrind reports according to its
/// own support. Uses one test thread, since Valgrind runs one thread at a time anyway.
fn valgrind(binary: &str) -> Step {
    let flags = [
        "--quiet",
        // Otherwise waiting threads starve the one that has work.
        "--fair-sched=yes",
        "--error-exitcode=1",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ];
    Step::new(
        "valgrind",
        Command::new("valgrind", flags)
            // Valgrind's fused multiply-add returns 0.0 instead of -0.0, which these tests distinguish.
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

/// Builds the runtime's unit tests, optimised since Valgrind is slow, and returns the path of the binary from cargo's
/// JSON messages.
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

/// Returns the last `"executable":"…"` in cargo's messages. Paths with escaped characters are not supported.
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

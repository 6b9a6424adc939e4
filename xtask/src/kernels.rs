//! All kernels, by the real compiler.

use crate::step::{Command, Outcome};

/// The test that compiles them, which alone is content with a sample.
pub fn command(args: &[String]) -> Command {
    let test = ["test", "--features", "cuda", "--test", "cuda_kernels"];
    Command::cargo(test).args(["--", "--all"]).args(args)
}

/// `cargo xtask kernels [--only SUBSTRING] [--verbose] [--require]`.
pub fn run(args: &[String]) -> Outcome {
    command(args).run()
}

//! All kernels, by the real compiler.

use crate::step::{Command, Outcome};

/// The test that compiles them; what follows stands behind `--`.
pub fn command(args: &[String]) -> Command {
    Command::cargo(["test", "--features", "cuda", "--test", "cuda_kernels", "--"]).args(args)
}

/// `cargo xtask kernels [--only SUBSTRING] [--verbose] [--require]`.
pub fn run(args: &[String]) -> Outcome {
    command(args).run()
}

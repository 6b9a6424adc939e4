//! Commands with their environment, and steps that are announced, timed and stopped at a failure.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

/// The result of a task; the error is the text of its failure.
pub type Outcome = Result<(), String>;

/// Returns the workspace's root, so that tasks work from any folder below it.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// A command that runs in the workspace's root.
#[derive(Clone)]
pub struct Command {
    program: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    removed: Vec<&'static str>,
}

impl Command {
    pub fn new(program: &str, args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let command = Self {
            program: program.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            removed: Vec::new(),
        };
        command.args(args)
    }

    /// Uses the cargo that runs this program, so that `cargo +toolchain xtask` stays on its toolchain.
    pub fn cargo(args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        Self::new(&cargo, args)
    }

    /// Uses the nightly toolchain's cargo.
    pub fn nightly(args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        // rustup sets this variable for the cargo that runs this program, and it would override `+nightly`.
        Self::new("cargo", ["+nightly"])
            .args(args)
            .without("RUSTUP_TOOLCHAIN")
    }

    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Returns the command with more arguments.
    pub fn with_args(&self, args: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.clone().args(args)
    }

    pub fn env(mut self, key: &str, value: &str) -> Self {
        self.env.push((key.to_owned(), value.to_owned()));
        self
    }

    /// Removes a variable of this process from the command's environment.
    pub fn without(mut self, key: &'static str) -> Self {
        self.removed.push(key);
        self
    }

    /// Formats the command as a user would type it.
    pub fn line(&self) -> String {
        let program = Path::new(&self.program).file_name().map_or_else(
            || self.program.clone(),
            |name| name.to_string_lossy().into_owned(),
        );
        let mut words: Vec<String> = self
            .env
            .iter()
            .map(|(key, value)| format!("{key}='{value}'"))
            .collect();
        words.push(program);
        words.extend(self.args.iter().cloned());
        words.join(" ")
    }

    fn build(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args).current_dir(root());
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        for key in &self.removed {
            command.env_remove(key);
        }
        command
    }

    /// Runs the command and shows its output.
    pub fn run(&self) -> Outcome {
        let status = self
            .build()
            .status()
            .map_err(|error| format!("`{}` could not start: {error}", self.line()))?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("`{}`: {status}", self.line()))
        }
    }

    /// Runs the command and returns its standard output; its errors are shown.
    pub fn output(&self) -> Result<String, String> {
        let output = self
            .build()
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("`{}` could not start: {error}", self.line()))?;
        if !output.status.success() {
            return Err(format!("`{}`: {}", self.line(), output.status));
        }
        String::from_utf8(output.stdout).map_err(|_| format!("`{}`: not UTF-8", self.line()))
    }

    /// Runs the command and returns its standard error.
    pub fn errors(&self) -> Result<String, String> {
        let output = self
            .build()
            .output()
            .map_err(|error| format!("`{}` could not start: {error}", self.line()))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(text)
        } else {
            Err(format!("{text}\n`{}`: {}", self.line(), output.status))
        }
    }

    /// Returns whether the command succeeds, to detect tools that may be missing.
    pub fn works(&self) -> bool {
        let quiet = self
            .build()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|status| status.success())
    }
}

/// A named part of a task.
pub struct Step {
    pub name: &'static str,
    pub command: Command,
    /// A command that succeeds only if the required tool is present; `None` if the tool cannot be missing.
    pub needs: Option<Command>,
    /// Advice for a failure whose output does not explain itself.
    pub hint: &'static str,
}

impl Step {
    pub fn new(name: &'static str, command: Command) -> Self {
        Self {
            name,
            command,
            needs: None,
            hint: "",
        }
    }

    pub fn needs(mut self, probe: Command) -> Self {
        self.needs = Some(probe);
        self
    }

    pub fn hint(mut self, hint: &'static str) -> Self {
        self.hint = hint;
        self
    }
}

/// Runs the steps in order, prints the time of each at its end and all times at the end, and stops at the first failure.
pub fn run_all(steps: &[Step]) -> Outcome {
    let mut summary = Vec::new();
    let start = Instant::now();
    let mut outcome = Ok(());
    for step in steps {
        println!("\n== {}: {}", step.name, step.command.line());
        if let Some(probe) = &step.needs
            && !probe.works()
        {
            println!("   not here: `{}` does not run; left out", probe.line());
            summary.push(format!("{:<14} left out", step.name));
            continue;
        }
        let before = Instant::now();
        let done = step.command.run();
        let seconds = before.elapsed().as_secs_f64();
        let total = start.elapsed().as_secs_f64();
        let state = if done.is_ok() { "passed" } else { "failed" };
        // A run that is ended from outside has said by then which step took how long.
        println!(
            "== {} {state} after {seconds:.1} s, {total:.1} s in all",
            step.name
        );
        summary.push(format!("{:<14} {seconds:>7.1} s", step.name));
        if let Err(error) = done {
            let hint = if step.hint.is_empty() { "" } else { "\n  " };
            outcome = Err(format!(
                "step `{}` failed after {seconds:.1} s\n  {error}{hint}{}",
                step.name, step.hint
            ));
            break;
        }
    }
    let end = if outcome.is_ok() {
        "all steps passed"
    } else {
        "stopped at a failure"
    };
    println!("\n== {end}");
    for line in summary {
        println!("   {line}");
    }
    println!("   {:<14} {:>7.1} s", "all", start.elapsed().as_secs_f64());
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_what_a_user_would_type() {
        let command = Command::new("/usr/bin/cargo", ["doc", "--no-deps"]).env("FLAGS", "-D x");
        assert_eq!(command.line(), "FLAGS='-D x' cargo doc --no-deps");
    }

    #[test]
    fn a_missing_tool_is_left_out_and_a_failing_one_is_not() {
        let nowhere = || Command::new("no-such-tool-anywhere", ["--version"]);
        assert!(!nowhere().works());
        let absent = Step::new("absent", nowhere()).needs(nowhere());
        assert_eq!(run_all(&[absent]), Ok(()));
        let broken = Step::new("broken", Command::cargo(["no-such-subcommand"])).hint("look here");
        let error = run_all(&[broken]).unwrap_err();
        assert!(
            error.contains("step `broken`") && error.contains("look here"),
            "{error}"
        );
    }
}

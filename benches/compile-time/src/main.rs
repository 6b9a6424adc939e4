//! The cost of typed operations in rustc:
//! `cargo xtask compile-time [--quick] [--json] [--rank R] [--ops N] [--next-solver] [RELATION | PROGRAM]...`
//!
//! `--next-solver` measures rustc's next trait solver, which needs a nightly toolchain.
//! `--print typed NAME`, or `dynamic`, prints a program instead, to read or to profile it.
//!
//! The bench writes the same programs on typed tensors and on `DynTensor`, and measures the user time of `cargo check`
//! and `cargo build` for each program without its dependencies, the memory of rustc and the size of the binary.
//!
//! - Every *relation* has a program of many operations, each on newly drawn dims, since rustc caches what it has proved
//!   and repeated dims cost a tenth. The cost of a program with the same operands but no operations is subtracted, so
//!   that a figure is the cost of an operation. `additions` and `mix` are longer programs, of additions and sums and of
//!   all relations in turn; `rank8` is each relation at rank 8.
//! - `labelled` has some relations of labelled tensors, next to the same programs without labels.
//! - `sharded` has some relations over a mesh, next to the same on plain typed tensors.
//! - `transformer` is an encoder as a user would write it; `crates` is a program that passes tensors from one crate to
//!   another.
//! - `core` is `nomina-core` itself.

mod crates;
mod draw;
mod program;
mod relation;
mod scratch;
mod suite;
mod table;
#[cfg(test)]
mod tests;
mod transformer;
mod usage;

use std::process::ExitCode;

use program::Form;
use relation::RELATIONS;
use scratch::Place;
use suite::{Effort, PROGRAMS, Suite};
use table::Table;

struct Options {
    effort: Effort,
    quick: bool,
    json: bool,
    next_solver: bool,
    /// Prints the program's text in this form instead of measuring it.
    print: Option<Form>,
    names: Vec<String>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(failed) if failed.is_empty() => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("compile-time: over the limit: {}", failed.join("; "));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("compile-time: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the table, and returns the figures that exceed their limits.
fn run(options: &Options) -> Result<Vec<String>, String> {
    let Effort { ops, mixed, .. } = options.effort;
    if !options.json && options.print.is_none() {
        println!("user time; {ops} operations of a relation, {mixed} of a mix");
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if let Some(load) = usage::load().filter(|&load| load > cores as f64) {
            println!(
                "{load:.0} processes on {cores} cores: user time is up to twice a quiet machine's"
            );
        }
        if options.quick {
            println!("a quick run: it shows that all programs compile, and judges no figure");
        }
    }
    let mut suite = Suite {
        place: &Place::below_target(options.next_solver),
        effort: options.effort,
        names: &options.names,
        table: Table::start(options.json || options.print.is_some(), !options.quick),
    };
    if let Some(form) = options.print {
        for name in &options.names {
            print!("{}", suite.text(name, form)?);
        }
        return Ok(Vec::new());
    }
    suite.run()?;
    Ok(suite.table.failed().to_vec())
}

const WHOLE: Effort = Effort {
    rank: None,
    ops: 500,
    mixed: 2000,
    layers: 12,
    steps: 40,
    runs: 3,
};

const QUICK: Effort = Effort {
    rank: None,
    ops: 20,
    mixed: 40,
    layers: 2,
    steps: 4,
    runs: 1,
};

fn options(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        effort: WHOLE,
        quick: false,
        json: false,
        next_solver: false,
        print: None,
        names: Vec::new(),
    };
    let (mut rank, mut ops) = (None, None);
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut number = |flag: &str| {
            let text = args.next().ok_or_else(|| format!("{flag} what?"))?;
            text.parse::<usize>()
                .map_err(|_| format!("{flag} takes a number, not `{text}`"))
        };
        match arg.as_str() {
            "--rank" => rank = Some(number("--rank")?),
            "--ops" => ops = Some(number("--ops")?),
            "--quick" => options.quick = true,
            "--json" => options.json = true,
            "--next-solver" => options.next_solver = true,
            "--print" => {
                options.print = Some(match args.next().as_deref() {
                    Some("typed") => Form::Typed,
                    Some("dynamic") => Form::Dynamic,
                    Some("labelled") => Form::Labelled,
                    Some("sharded") => Form::Sharded,
                    _ => {
                        let forms = "`typed`, `dynamic`, `labelled` or `sharded`";
                        return Err(format!("--print takes {forms}"));
                    }
                });
            }
            // The named items are measured in any case; the flag only improves readability.
            "--only" => {}
            name if known().any(|known| known == name) => options.names.push(arg),
            other => {
                let known: Vec<&str> = known().collect();
                return Err(format!(
                    "no program `{other}`; there are {}",
                    known.join(", ")
                ));
            }
        }
    }
    if options.quick {
        options.effort = QUICK;
    }
    options.effort.rank = rank;
    if let Some(ops) = ops {
        options.effort.ops = ops;
        options.effort.mixed = ops;
    }
    if !(3..=8).contains(&rank.unwrap_or(4)) {
        return Err("ranks are 3 to 8: some relations need three dims".to_owned());
    }
    if ops == Some(0) {
        return Err("--ops 0 measures nothing".to_owned());
    }
    Ok(options)
}

fn known() -> impl Iterator<Item = &'static str> {
    let relations = RELATIONS.iter().map(|relation| relation.name);
    PROGRAMS.into_iter().chain(relations)
}

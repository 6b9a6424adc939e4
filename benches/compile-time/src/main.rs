//! What typed operations cost rustc: `cargo xtask compile-time [--rank R] [--ops N] [RELATION]...`
//!
//! For every relation it writes a program of many operations, each on freshly drawn dims (rustc
//! remembers what it has proved, and repeated dims cost a tenth), and the same program on
//! `DynTensor`. It measures the user time of `cargo check` for that program alone; the
//! dependencies are checked before. The program that only makes the operands is taken off, so
//! that a figure is the cost of the operation.

mod draw;
mod measure;
mod program;
mod relation;

use std::process::ExitCode;

use program::{Form, Program};
use relation::{RELATIONS, Relation};

/// A rank-4 typed operation of the mix is to stay below this.
const LIMIT_MS: f64 = 1.0;

struct Options {
    rank: usize,
    ops: usize,
    names: Vec<String>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("compile-time: the mix is over {LIMIT_MS} ms per operation");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("compile-time: {error}");
            ExitCode::FAILURE
        }
    }
}

fn options(args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options {
        rank: 4,
        ops: 500,
        names: Vec::new(),
    };
    let mut args = args;
    while let Some(arg) = args.next() {
        let mut number = |flag: &str| {
            let text = args.next().ok_or_else(|| format!("{flag} what?"))?;
            text.parse::<usize>()
                .map_err(|_| format!("{flag} takes a number, not `{text}`"))
        };
        match arg.as_str() {
            "--rank" => options.rank = number("--rank")?,
            "--ops" => options.ops = number("--ops")?,
            name if RELATIONS.iter().any(|relation| relation.name == name) || name == "mix" => {
                options.names.push(arg);
            }
            other => {
                let known: Vec<&str> = RELATIONS.iter().map(|relation| relation.name).collect();
                return Err(format!(
                    "no relation `{other}`; there are mix, {}",
                    known.join(", ")
                ));
            }
        }
    }
    if !(3..=7).contains(&options.rank) {
        return Err(format!(
            "rank {}: some relations need three dims, some add one",
            options.rank
        ));
    }
    if options.ops == 0 {
        return Err("--ops 0 measures nothing".to_owned());
    }
    Ok(options)
}

/// Prints the table; whether the mix is below the limit.
fn run(options: &Options) -> Result<bool, String> {
    let scratch = measure::Scratch::create()?;
    let wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    println!(
        "rank {}, {} operations a program; user ms per operation",
        options.rank, options.ops
    );
    println!(
        "{:<14} {:>8} {:>8}   {:>8}",
        "", "typed", "dynamic", "operands"
    );
    for relation in RELATIONS.iter().filter(|relation| wanted(relation.name)) {
        row(&scratch, options, relation.name, &[relation])?;
    }
    if !wanted("mix") {
        return Ok(true);
    }
    let mixed: Vec<&Relation> = RELATIONS.iter().filter(|relation| relation.mixed).collect();
    Ok(row(&scratch, options, "mix", &mixed)? < LIMIT_MS)
}

/// Measures one program of `relations` in turns; gives the typed cost.
fn row(
    scratch: &measure::Scratch,
    options: &Options,
    name: &str,
    relations: &[&Relation],
) -> Result<f64, String> {
    let cost = |form, operands_only| {
        let program = Program {
            form,
            operands_only,
            rank: options.rank,
            ops: options.ops,
        };
        scratch
            .check(&program.text(relations))
            .map(|seconds| seconds * 1e3 / options.ops as f64)
    };
    let operands = cost(Form::Typed, true)?;
    let typed = cost(Form::Typed, false)? - operands;
    let dynamic = cost(Form::Dynamic, false)? - cost(Form::Dynamic, true)?;
    println!("{name:<14} {typed:>8.2} {dynamic:>8.2}   {operands:>8.2}");
    Ok(typed)
}

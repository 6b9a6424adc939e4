//! `cargo nomina`: fixes and explains rustc's errors about named tensors.
//!
//! A dim that does not fit is one error, whose first line says what is wrong and whose label says what to write. Most of
//! these edits follow from the message alone:
//!
//! ```text
//! cargo nomina fix                   # shows the edits as a diff
//! cargo nomina fix --write           # makes those that are sure
//! cargo nomina fix --sure            # without guesses
//! cargo nomina explain cannot broadcast
//! cargo nomina check                 # what compiles and may be a mistake
//! cargo nomina types model.pth       # a file's tensors as types
//! cargo nomina types era5.nc         # a dataset as a struct
//! cargo nomina import m.onnx --out src/m   # an ONNX model as Rust
//! ```
//!
//! `fix` runs `cargo check`, reads its messages, and looks up each of them in a table. Each fix is compiled in a copy; one
//! that does not make its error go away is dropped, and one that leads to another error is marked as a guess:
//!
//! | module | |
//! |---|---|
//! | [`wrapper`], [`record`] | this program as cargo's `RUSTC_WRAPPER`, and the failed calls of rustc that it records |
//! | [`copy`], [`compare`], [`verify`] | fixes compiled in a copy, and the errors before and after |
//! | [`message`] | rustc's messages, from cargo's JSON |
//! | [`rules`] | the table: the edit that fixes each message |
//! | [`source`] | the tokens around the place that a message names |
//! | [`edit`] | edits of a text, and atomic replacement of files |
//! | [`fix`], [`explain`], [`check`], [`types`], [`import`] | the commands |
//! | [`cargo`] | the running cargo, and the workspace; files outside of it are not changed |
//!
//! The mistakes of `ui-tests/` test it: their fixes must compile.
#![forbid(unsafe_code)]

mod cargo;
mod check;
mod compare;
mod copy;
mod edit;
mod explain;
mod fix;
#[cfg(feature = "import")]
mod import;
mod message;
mod record;
mod rules;
mod source;
#[cfg(feature = "types")]
mod types;
mod verify;
mod wrapper;

use std::process::ExitCode;

const USAGE: &str = "\
cargo nomina <command>

  fix [--write [--guesses]] [--sure] [--messages FILE] [ARGS]
                    shows, as a diff, fixes for the errors of `cargo check ARGS`, each compiled in a copy first;
                    --write makes the sure ones, with --guesses the others too, --sure omits these; --messages reads
                    cargo's JSON from a file, `-` from the input, and compiles nothing: all fixes are guesses
  check [ARGS]      lists likely mistakes that compile: products over two names, unused dims
  types FILE [--name NAME] [--sizes] [--tensors]
                    prints dims and structs for the tensors of a file, safetensors, PyTorch's, npz or zarr, or for the
                    dataset of a netCDF or zarr file, with units and types of labels; --name names the outermost
                    struct, --sizes makes sizes a part of the dims, --tensors prints a zarr dataset as its tensors
  import FILE --out DIR [--names] [--check] [--sizes INPUT=1x3x224x224] [--value INPUT=16000]
                    writes an ONNX model as a Rust module: structs, `forward`, tests, names.toml, weights; --names only
                    lists the dims and writes DIR/names.toml to edit, --check compiles the module and runs its test,
                    --sizes gives sizes that the file leaves free, for the sample runs, --value makes an input a constant
  explain WORDS     shows pages about an error, found by words of its first line or a heading
";

fn main() -> ExitCode {
    if let Some(code) = wrapper::run() {
        return code;
    }
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    // Cargo passes the name of the subcommand as the first argument.
    if args.first().is_some_and(|arg| arg == "nomina") {
        args.remove(0);
    }
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cargo nomina: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let Some((command, rest)) = args.split_first() else {
        return Err(format!("which command?\n\n{USAGE}"));
    };
    match command.as_str() {
        "fix" => fix::run(&fix::Options::parse(rest)?),
        "check" => check::run(rest),
        "explain" => {
            print!("{}", explain::explain(&rest.join(" "))?);
            Ok(())
        }
        #[cfg(feature = "types")]
        "types" => types::run(rest),
        #[cfg(feature = "import")]
        "import" => import::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        other => Err(format!("no command `{other}`\n\n{USAGE}")),
    }
}

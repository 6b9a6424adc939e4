//! `cargo nomina import`: an ONNX model as Rust that its user owns.
//!
//! A folder becomes a module: `mod.rs` with the structs and `forward`, `tests.rs`, the weights, a sample of inputs and
//! outputs, and `names.toml`, in which dims are renamed before the next import. `--names` writes that file alone, and lists the
//! dims; `--check` compiles the module and runs its test.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use nomina_io::safetensors;
use nomina_onnx::{DimNames, ImportOptions, import, open_for_import};

mod check;
mod names;

/// The arguments of the command.
#[derive(Debug, Default)]
struct Options {
    file: Option<PathBuf>,
    out: Option<PathBuf>,
    sizes: BTreeMap<String, Vec<usize>>,
    values: BTreeMap<String, f64>,
    /// Prints the names of dims instead of importing.
    only_names: bool,
    /// Compiles the module and runs its test.
    check: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--out" => options.out = Some(args.next().ok_or("`--out` needs a folder")?.into()),
                "--sizes" => {
                    let text = args
                        .next()
                        .ok_or("`--sizes` needs an input and its sizes, `x=1x3x224x224`")?;
                    let (input, sizes) = sizes(text)?;
                    options.sizes.insert(input, sizes);
                }
                "--value" => {
                    let text = args
                        .next()
                        .ok_or("`--value` needs an input and its number, `sr=16000`")?;
                    let (input, value) = value(text)?;
                    options.values.insert(input, value);
                }
                "--names" => options.only_names = true,
                "--check" => options.check = true,
                flag if flag.starts_with("--") => return Err(format!("no option `{flag}`")),
                _ if options.file.is_some() => return Err(format!("a second file: `{arg}`")),
                file => options.file = Some(file.into()),
            }
        }
        Ok(options)
    }
}

/// Parses `input=1x3x224x224`.
fn sizes(text: &str) -> Result<(String, Vec<usize>), String> {
    let wrong = || format!("`{text}` is not an input and its sizes, `x=1x3x224x224`");
    let (input, list) = text.rsplit_once('=').ok_or_else(wrong)?;
    let sizes = list
        .split('x')
        .filter(|size| !size.is_empty())
        .map(str::parse);
    let sizes = sizes
        .collect::<Result<Vec<usize>, _>>()
        .map_err(|_| wrong())?;
    Ok((input.to_owned(), sizes))
}

/// Parses `input=16000`.
fn value(text: &str) -> Result<(String, f64), String> {
    let (input, number) = text.rsplit_once('=').unwrap_or((text, ""));
    match number.parse() {
        Ok(number) => Ok((input.to_owned(), number)),
        Err(_) => Err(format!(
            "`{text}` is not an input and its number, `sr=16000`"
        )),
    }
}

/// Imports a model and prints what was read and written.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let file = options.file.as_deref().ok_or("which file?")?;
    let names_file = options.out.as_ref().map(|out| out.join("names.toml"));
    let names = match names_file.as_ref().filter(|file| file.exists()) {
        Some(file) => DimNames::open(file).map_err(|error| error.to_string())?,
        None => DimNames::default(),
    };
    let import = ImportOptions {
        names,
        sizes: options.sizes,
        values: options.values,
    };
    if options.only_names {
        print!("{}", list_names(file, names_file.as_deref(), &import)?);
        return Ok(());
    }
    let out = options
        .out
        .as_deref()
        .ok_or("which folder? `--out src/model`")?;
    print!("{}", write(file, out, &import)?);
    if options.check {
        println!("checking; the first time, nomina is compiled");
        println!("{}", check::check(out)?);
    }
    Ok(())
}

/// Lists the names of dims, and writes them to a file to edit if there is none; returns the report.
fn list_names(
    file: &Path,
    names_file: Option<&Path>,
    import: &ImportOptions,
) -> Result<String, String> {
    let model = open_for_import(file, import).map_err(|error| error.to_string())?;
    let mut report = format!(
        "read {}: opset {}, {} nodes\n{}",
        file.display(),
        model.opset(),
        model.nodes(),
        names::table(&model)
    );
    report += &match names_file {
        None => "`--out DIR` writes DIR/names.toml, to edit\n".to_owned(),
        Some(file) if file.exists() => {
            format!("{} has been read, and is as it was\n", file.display())
        }
        Some(file) => {
            let place = |error| format!("{}: {error}", file.display());
            let folder = file.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder).map_err(place)?;
            std::fs::write(file, model.names_toml()).map_err(place)?;
            format!(
                "wrote {}: edit it, and import with the same `--out`\n",
                file.display()
            )
        }
    };
    Ok(report)
}

/// Imports a model into a folder; returns the report.
fn write(file: &Path, out: &Path, options: &ImportOptions) -> Result<String, String> {
    let text = |error: nomina::Error| error.to_string();
    let names_file = out.join("names.toml");
    let (model, imported) = import(file, options).map_err(text)?;
    std::fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let save = |name: &str, text: &str| {
        let path = out.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    let bytes: usize = imported
        .weights
        .iter()
        .map(|weight| weight.1.numel() * weight.1.dtype().size())
        .sum();
    let mut report = String::new();
    let mut line = |text: String| {
        let _ = writeln!(report, "{text}");
    };
    line(format!(
        "read {}: opset {}, {} nodes, {} of weights",
        file.display(),
        model.opset(),
        model.nodes(),
        size(bytes)
    ));
    let named: Vec<&str> = imported.dims.iter().take(6).map(String::as_str).collect();
    let rest = if imported.dims.len() > named.len() {
        " …"
    } else {
        ""
    };
    line(format!(
        "named {} dims: {}{rest}; rename them in {}",
        imported.dims.len(),
        named.join(", "),
        names_file.display()
    ));
    for branch in &imported.branches {
        line(format!("chose a branch by sizes: {branch}"));
    }
    save("mod.rs", &imported.text)?;
    save("tests.rs", &imported.tests)?;
    if !names_file.exists() {
        save("names.toml", &model.names_toml())?;
    }
    safetensors::save(out.join("weights.safetensors"), imported.weights).map_err(text)?;
    safetensors::save(out.join("sample.safetensors"), imported.sample).map_err(text)?;
    line(format!(
        "wrote {} ({} lines, {} operators), weights.safetensors",
        out.join("mod.rs").display(),
        imported.text.lines().count(),
        imported.operators
    ));
    line("wrote tests.rs: `cargo test` compares with the interpreter's outputs in sample.safetensors; `--check` does so now".to_owned());
    Ok(report)
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

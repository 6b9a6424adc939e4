//! `cargo nomina types`: the tensors or the dataset of a file as Rust, for a program that opens it.
//!
//! A netCDF file, and a zarr group with labels, is a struct with `#[derive(Dataset)]`, which `nomina-data` prints. Of other files,
//! the text declares the dims and a struct with a field for each tensor, nested like the paths of the tensors. Repeated
//! blocks are one struct and a `Vec`. It is printed once, and belongs to the program from then on: no file is read while
//! rustc runs, and names may be changed where the file had none.
//!
//! | module | |
//! |---|---|
//! | [`tree`] | the paths of a file as nested structs |
//! | [`dim_names`] | names for dims that have none in the file |
//! | [`mod@print`] | the text |

mod dim_names;
mod print;
mod tree;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nomina_data::DynDataset;
use nomina_io::describe;

use print::Printer;
use tree::Branch;

/// The arguments of the command.
#[derive(Debug, Default)]
struct Options {
    file: Option<PathBuf>,
    /// The name of the outermost struct; by default that of the file.
    name: Option<String>,
    /// Whether sizes are part of the dims.
    sizes: bool,
    /// Whether a dataset is printed as separate tensors.
    tensors: bool,
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--sizes" => options.sizes = true,
                "--tensors" => options.tensors = true,
                "--name" => {
                    let name = args.next().ok_or("`--name` needs a name")?;
                    if syn::parse_str::<syn::Ident>(name).is_err() {
                        return Err(format!("`{name}` is not the name of a struct"));
                    }
                    options.name = Some(name.clone());
                }
                flag if flag.starts_with("--") => return Err(format!("no option `{flag}`")),
                _ if options.file.is_some() => return Err(format!("a second file: `{arg}`")),
                file => options.file = Some(file.into()),
            }
        }
        Ok(options)
    }
}

/// Prints the types of a file.
pub fn run(args: &[String]) -> Result<(), String> {
    let options = Options::parse(args)?;
    let file = options.file.as_deref().ok_or("which file?")?;
    let name = options.name.as_deref();
    let dataset = if options.tensors {
        None
    } else {
        dataset(file)?
    };
    let text = match dataset {
        Some(dataset) => {
            let (file_name, root) = names(file, name);
            let text = dataset.to_rust(&file_name, &root);
            text.map_err(|error| error.to_string())?
        }
        None => text(file, name, options.sizes)?,
    };
    print!("{text}");
    Ok(())
}

/// Opens a file that is a dataset: netCDF, which is known by its first bytes, or a group of zarr with the labels of a dim.
fn dataset(file: &Path) -> Result<Option<DynDataset>, String> {
    const NETCDF: [&[u8]; 2] = [b"CDF", b"\x89HDF\r\n\x1a\n"];
    if file.is_dir() {
        // Other folders have an error of `describe`.
        let found = DynDataset::open_lazy(file).ok();
        let is_dataset =
            |one: &DynDataset| one.sizes().iter().any(|(dim, _)| one.labels(dim).is_ok());
        return Ok(found.filter(is_dataset));
    }
    let mut start = Vec::new();
    if let Ok(opened) = File::open(file) {
        // If reading fails, `describe` returns the error.
        let _ = opened.take(8).read_to_end(&mut start);
    }
    if NETCDF.iter().any(|magic| start.starts_with(magic)) {
        let found = DynDataset::open_lazy(file);
        return found.map(Some).map_err(|error| error.to_string());
    }
    Ok(None)
}

/// Returns the name of the file, and that of the outermost struct.
fn names(file: &Path, name: Option<&str>) -> (String, String) {
    let file_name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = file_name.split('.').next().unwrap_or_default();
    let root = name.map_or_else(|| tree::camel([stem]), str::to_owned);
    (file_name.clone().into_owned(), root)
}

/// Returns the types of a file as the text of a module.
pub fn text(file: &Path, name: Option<&str>, sizes: bool) -> Result<String, String> {
    let (format, tensors) = describe(file).map_err(|error| error.to_string())?;
    if tensors.is_empty() {
        return Err(format!("{} has no tensors", file.display()));
    }
    let (file_name, root) = names(file, name);
    let tree = Branch::new(format, &tensors);
    Ok(Printer::new(format, sizes).module(&file_name, &root, &tree))
}

//! `cargo nomina types`: the tensors of a file as Rust, for a program that opens it.
//!
//! The text declares the dims and a struct with a field for each tensor, nested like the paths of the tensors. Repeated
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

use std::path::{Path, PathBuf};

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
}

impl Options {
    fn parse(args: &[String]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--sizes" => options.sizes = true,
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
    print!("{}", text(file, options.name.as_deref(), options.sizes)?);
    Ok(())
}

/// Returns the types of a file as the text of a module.
pub fn text(file: &Path, name: Option<&str>, sizes: bool) -> Result<String, String> {
    let (format, tensors) = describe(file).map_err(|error| error.to_string())?;
    if tensors.is_empty() {
        return Err(format!("{} has no tensors", file.display()));
    }
    let file_name = file.file_name().unwrap_or_default().to_string_lossy();
    let stem = file_name.split('.').next().unwrap_or_default();
    let root = name.map_or_else(|| tree::camel([stem]), str::to_owned);
    let tree = Branch::new(format, &tensors);
    Ok(Printer::new(format, sizes).module(&file_name, &root, &tree))
}

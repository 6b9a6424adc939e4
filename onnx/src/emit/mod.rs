//! Models as Rust: typed tensors, named parameters, and the weights beside them.
//!
//! | module | |
//! |---|---|
//! | [`branches`] | inputs that are set, and branches of `If` that sizes choose |
//! | [`sample`] | runs on random inputs, from which sizes and their dependence on free sizes are read |
//! | [`names`] | names of dims as identifiers |
//! | [`params`], [`paths`] | parameters as nested structs |
//! | [`expr`], [`site`] | expressions with their dims, and the place of a node |
//! | [`ops`], [`spell`] | how operators are spelled |
//! | [`options`] | the options and the results |
//! | [`module`], [`text`] | the functions, and the text of all |

pub mod branches;
pub mod expr;
mod module;
mod names;
pub mod ops;
mod options;
pub mod params;
pub mod paths;
mod sample;
pub mod site;
pub mod spell;
mod text;

use std::path::Path;

use nomina_core::{Error, Result};

use crate::draft::Draft;
use crate::model::Model;
use branches::Choice;

pub use options::{ImportOptions, Imported};

/// Opens a model as [`import`] does, without writing it: inputs of `options.values` are constants, and each `If` whose condition
/// follows from sizes is replaced by its branch.
///
/// # Errors
/// Like [`Model::open_with_names`]; also if the model has an `If` and does not run on inputs of the sizes in `options`.
pub fn open_for_import(path: impl AsRef<Path>, options: &ImportOptions) -> Result<Model> {
    Ok(opened(path.as_ref(), options)?.0)
}

fn opened(path: &Path, options: &ImportOptions) -> Result<(Model, Choice)> {
    let open = || {
        let mut draft = Draft::open(path)?;
        let choice = branches::choose(&mut draft, options)?;
        Ok((Model::new(draft, options.names.clone())?, choice))
    };
    open().map_err(|error: Error| error.within(path.display()))
}

/// Writes a model as Rust.
///
/// # Errors
/// If the file cannot be read, an operator has no typed spelling (the error names the operator and the node), or the
/// model does not run on inputs of the sizes in `options`.
pub fn import(path: impl AsRef<Path>, options: &ImportOptions) -> Result<(Model, Imported)> {
    let path = path.as_ref();
    let (model, choice) = opened(path, options)?;
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let imported = module::write(&model, &file, choice, options)?;
    Ok((model, imported))
}

//! Models as Rust: typed tensors, named parameters, and the weights beside them.
//!
//! | module | |
//! |---|---|
//! | [`branches`] | inputs that are set, and branches of `If` that sizes choose |
//! | [`sample`] | runs on random inputs, from which sizes and their dependence on free sizes are read |
//! | [`names`] | names of dims as identifiers |
//! | [`params`], [`paths`] | parameters as nested structs |
//! | [`expr`], [`site`] | expressions with their dims, and the place of a node |
//! | [`ops`] | how operators are spelled |
//! | [`module`], [`text`] | the functions, and the text of all |

pub mod branches;
pub mod expr;
mod module;
mod names;
pub mod ops;
pub mod params;
pub mod paths;
mod sample;
pub mod site;
mod text;

use std::collections::BTreeMap;
use std::path::Path;

use nomina::DynTensor;
use nomina_core::{Error, Name, Names, Result};
use proc_macro2::TokenStream;

use crate::draft::Draft;
use crate::model::Model;
use crate::names::user::DimNames;
use branches::Choice;
use expr::Expr;
use site::Site;

/// How an operator is spelled in Rust.
#[derive(Clone, Copy)]
pub enum Emit {
    /// It has no typed spelling.
    Refused,
    /// A method of the first input without arguments.
    Method(&'static str),
    /// A method of the first input that takes the second one; both broadcast.
    Binary(&'static str),
    /// An infix operator.
    Infix(&'static str),
    /// An expression.
    Single(fn(&mut Site<'_, '_>) -> Result<Expr>),
    /// An expression for each output.
    Several(fn(&mut Site<'_, '_>) -> Result<Vec<Expr>>),
}

impl Emit {
    fn spell(self, site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
        let one = match self {
            Self::Refused => Err(site.call.fail("it has no typed spelling")),
            Self::Method(name) => ops::elementwise::method(site, name),
            Self::Binary(name) => ops::elementwise::binary(site, name),
            Self::Infix(operator) => {
                let operator: TokenStream = operator
                    .parse()
                    .map_err(|_| site.call.fail("no operator"))?;
                ops::elementwise::infix(site, &operator)
            }
            Self::Single(spell) => spell(site),
            Self::Several(spell) => return spell(site),
        };
        Ok(vec![one?])
    }
}

/// The options of [`import`].
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Names for dims, by `value.position`.
    pub names: DimNames,
    /// Sizes of inputs whose sizes the file leaves free, for the sample runs; 2 by default.
    pub sizes: BTreeMap<String, Vec<usize>>,
    /// Numbers of inputs that become constants, such as a sample rate that chooses a branch: `forward` does not take them.
    pub values: BTreeMap<String, f64>,
}

/// A model as Rust.
#[derive(Debug)]
pub struct Imported {
    /// The text of the module.
    pub text: String,
    /// The text of its tests, a module below it.
    pub tests: String,
    /// The weights, with names, by the keys that the module reads.
    pub weights: Vec<(String, DynTensor)>,
    /// Inputs and the interpreter's outputs for them, with names: `input.NAME` and `output.NAME`.
    pub sample: Vec<(String, DynTensor)>,
    /// The names that the text declares.
    pub dims: Vec<String>,
    /// The number of operators that are called.
    pub operators: usize,
    /// The branches of `If` that sizes chose: `forward` panics for sizes that choose others.
    pub branches: Vec<String>,
}

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

/// Gives a tensor its names.
fn named(tensor: &DynTensor, dims: &[String]) -> Result<DynTensor> {
    let names = dims
        .iter()
        .map(|dim| Name::new(dim).map(Some))
        .collect::<Result<Vec<_>>>()?;
    tensor.rename(&Names::new(names)?)
}

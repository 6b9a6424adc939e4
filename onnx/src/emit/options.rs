//! The options and the results of an import.

use std::collections::BTreeMap;

use nomina::DynTensor;

use crate::names::user::DimNames;

/// The options of [`import`](crate::import).
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

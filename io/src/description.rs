//! The description of a tensor in a file.

use nomina::{DType, Names};

use crate::foreign::{Elements, ForeignDType};

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TensorDescription {
    /// The name in the file: a path, in a zarr group with slashes.
    pub path: String,
    /// The names of the dims.
    pub names: Names,
    /// The sizes of the dims.
    pub shape: Vec<usize>,
    /// The dtype of the tensor when it is opened; for a foreign dtype, one that holds its elements.
    pub dtype: DType,
    /// The dtype in the file, if tensors lack it.
    pub foreign: Option<ForeignDType>,
}

impl TensorDescription {
    pub(crate) fn new(path: &str, names: Names, shape: &[usize], elements: Elements) -> Self {
        let (dtype, foreign) = match elements {
            Elements::Own(dtype) => (dtype, None),
            Elements::Foreign(foreign) => (foreign.fitting(), Some(foreign)),
        };
        Self {
            path: path.to_owned(),
            names,
            shape: shape.to_vec(),
            dtype,
            foreign,
        }
    }
}

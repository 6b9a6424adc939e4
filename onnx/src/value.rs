//! Values between nodes.

use nomina::DynTensor;

/// A value between nodes.
#[allow(
    clippy::large_enum_variant,
    reason = "nearly every value is a tensor, which a box would allocate once more"
)]
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor, without names.
    Tensor(DynTensor),
    /// A sequence.
    Sequence(Vec<Value>),
    /// An optional value.
    Optional(Option<Box<Value>>),
}

impl Value {
    /// Returns the tensor.
    pub fn tensor(&self) -> Option<&DynTensor> {
        match self {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }
}

impl From<DynTensor> for Value {
    fn from(tensor: DynTensor) -> Self {
        Value::Tensor(tensor)
    }
}

/// The values of a graph while it runs.
pub type Values = Vec<Option<Value>>;

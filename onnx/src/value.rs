//! Values between nodes.

use std::sync::Mutex;

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

/// The values of a graph between two runs: its constants alone.
#[derive(Debug, Default)]
pub struct Spare(Mutex<Option<Values>>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Spare {
    /// Takes the values, if no other run has them.
    pub fn take(&self) -> Option<Values> {
        self.0.try_lock().ok()?.take()
    }

    /// Puts values back for the next run.
    pub fn put(&self, values: Values) {
        if let Ok(mut place) = self.0.try_lock() {
            *place = Some(values);
        }
    }
}

//! Arguments and results of all kinds.

use nomina_core::op::Op;
use nomina_core::rule::{DimArg, DimRef, NameItem};
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};
use nomina_runtime::Device;
use num_complex::Complex;

use nomina_runtime::tensor::{DynSparse, DynTensor, Operand};

/// An argument or a result, as parsed from a file, a trace or a command line.
// Most values are tensors; boxing would add an allocation to each of them.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Value {
    /// A tensor.
    Tensor(DynTensor),
    /// A sparse tensor.
    Sparse(DynSparse),
    /// An integer.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A boolean.
    Bool(bool),
    /// A complex number.
    Complex(Complex<f64>),
    /// A string: a name or a device. Among names, `...` is the ellipsis.
    Str(String),
    /// All dims that are not listed.
    Ellipsis,
    /// `None`: an omitted argument, or an unnamed dim.
    None,
    /// A dtype.
    DType(DType),
    /// A device.
    Device(Device),
    /// A list of tensors, of dims or of sizes.
    List(Vec<Self>),
    /// Pairs, in order.
    Dict(Vec<(Self, Self)>),
}

macro_rules! from_value {
    ($($from:ty => $variant:ident;)*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}
from_value! {
    DynTensor => Tensor;
    DynSparse => Sparse;
    i64 => Int;
    f64 => Float;
    bool => Bool;
    String => Str;
    DType => DType;
    Device => Device;
    Vec<Value> => List;
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl Value {
    /// Returns a list of the tensors that an operator returns.
    pub(super) fn tensors(op: Op, tensors: Vec<DynTensor>) -> Result<Self> {
        let mut all = nomina_runtime::memory::list(op.name(), [tensors.len()])?;
        all.extend(tensors.into_iter().map(Self::Tensor));
        Ok(Self::List(all))
    }
}

impl From<Vec<DynTensor>> for Value {
    fn from(tensors: Vec<DynTensor>) -> Self {
        Self::List(tensors.into_iter().map(Self::Tensor).collect())
    }
}

impl From<(DynTensor, DynTensor)> for Value {
    fn from((a, b): (DynTensor, DynTensor)) -> Self {
        Self::List(vec![Self::Tensor(a), Self::Tensor(b)])
    }
}

impl From<Scalar> for Value {
    fn from(value: Scalar) -> Self {
        match value {
            Scalar::Bool(v) => Self::Bool(v),
            Scalar::Int(v) => Self::Int(v),
            Scalar::Float(v) => Self::Float(v),
            Scalar::Complex(v) => Self::Complex(v),
        }
    }
}

/// Returns the error for an argument of the wrong kind.
#[cold]
pub(super) fn wrong(op: &'static str, param: &str, wanted: &str, got: &Value) -> Error {
    if let Value::Sparse(x) = got {
        return super::sparse::lacking(op, x);
    }
    let what = format!("argument `{param}` is {}, not {wanted}", got.kind());
    Error::new(ErrorKind::Argument, op, what).hint(format!("give {wanted}"))
}

impl Value {
    /// Returns the kind of the value, in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tensor(_) => "a tensor",
            Self::Sparse(_) => "a sparse tensor",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Bool(_) => "a bool",
            Self::Complex(_) => "a complex number",
            Self::Str(_) => "a text",
            Self::Ellipsis => "`...`",
            Self::None => "nothing",
            Self::DType(_) => "a dtype",
            Self::Device(_) => "a device",
            Self::List(_) => "a list",
            Self::Dict(_) => "a map",
        }
    }

    /// Converts to a number.
    #[must_use]
    pub fn as_scalar(&self) -> Option<Scalar> {
        match *self {
            Self::Int(v) => Some(Scalar::Int(v)),
            Self::Float(v) => Some(Scalar::Float(v)),
            Self::Bool(v) => Some(Scalar::Bool(v)),
            Self::Complex(v) => Some(Scalar::Complex(v)),
            _ => None,
        }
    }

    /// Converts to a tensor or a number.
    #[must_use]
    pub fn as_operand(&self) -> Option<Operand<'_>> {
        match self {
            Self::Tensor(x) => Some(Operand::Tensor(x)),
            other => other.as_scalar().map(Operand::Scalar),
        }
    }

    /// Converts to a single dim.
    pub(super) fn as_dim(&self) -> Option<DimRef<'_>> {
        match self {
            Self::Str(name) => Some(DimRef::Name(name)),
            Self::Int(index) => Some(DimRef::Index(*index)),
            Self::None => Some(DimRef::Unnamed),
            _ => None,
        }
    }

    /// Converts to dims.
    pub(super) fn as_dims(&self) -> Option<DimArg<'_>> {
        match self {
            Self::List(items) => {
                let dims: Option<Vec<DimRef<'_>>> = items.iter().map(Self::as_dim).collect();
                dims.map(DimArg::list)
            }
            Self::Ellipsis => Some(DimArg::all()),
            one => one.as_dim().map(DimArg::from_dim),
        }
    }

    /// Converts to an item in an order of names.
    pub(super) fn as_item(&self) -> Option<NameItem<'_>> {
        match self {
            Self::Str(name) => Some(NameItem::from(name.as_str())),
            Self::None => Some(NameItem::Unnamed),
            Self::Ellipsis => Some(NameItem::Rest),
            _ => None,
        }
    }

    /// Converts to an order of names; a single name is an order of one.
    pub(super) fn as_order(&self) -> Option<Vec<NameItem<'_>>> {
        match self {
            Self::List(items) => items.iter().map(Self::as_item).collect(),
            one => one.as_item().map(|item| vec![item]),
        }
    }

    /// Converts to sizes; a single number is a list of one.
    pub(super) fn as_sizes(&self) -> Option<Vec<i64>> {
        match self {
            Self::List(items) => items.iter().map(Self::as_int).collect(),
            one => one.as_int().map(|size| vec![size]),
        }
    }

    /// Converts to an integer.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(v) => Some(*v),
            _ => None,
        }
    }

    /// Converts to a device.
    pub(super) fn as_device(&self) -> Option<Result<Device>> {
        match self {
            Self::Device(device) => Some(Ok(*device)),
            Self::Str(text) => Some(text.parse()),
            Self::Int(ordinal) => usize::try_from(*ordinal).ok().map(|n| Ok(Device::from(n))),
            _ => None,
        }
    }
}

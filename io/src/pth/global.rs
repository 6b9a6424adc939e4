//! The globals that a pickle of tensors may name.

use nomina::DType;

use crate::foreign::{Elements, ForeignDType};

/// A global of a pickle. Naming any other one is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Global {
    /// `collections.OrderedDict` and other dicts.
    Dict,
    /// Lists and sets.
    List,
    /// `torch.Size`, a tuple.
    Size,
    /// `torch.device`.
    Device,
    /// `torch._utils._rebuild_tensor`, and its version 2.
    Tensor,
    /// `torch._utils._rebuild_tensor_v3`, whose elements have a dtype of their own.
    TypedTensor,
    /// `torch._utils._rebuild_parameter`: a tensor with other things, which are ignored.
    Parameter,
    /// `torch._tensor._rebuild_from_type_v2`: one of the functions above with its arguments.
    FromType,
    /// A class that occurs only as an argument.
    Class,
    /// A storage; its elements are bytes if it is untyped.
    Storage(Option<Elements>),
    /// A dtype.
    DType(Elements),
}

use Global::{Class, Dict, Storage};

const fn own(dtype: DType) -> Elements {
    Elements::Own(dtype)
}

const fn foreign(dtype: ForeignDType) -> Elements {
    Elements::Foreign(dtype)
}

/// The globals, by module and name.
const GLOBALS: [(&str, &str, Global); 55] = [
    ("collections", "OrderedDict", Dict),
    ("collections", "Counter", Dict),
    ("builtins", "set", Global::List),
    ("__builtin__", "set", Global::List),
    ("torch", "Size", Global::Size),
    ("torch", "device", Global::Device),
    ("torch._utils", "_rebuild_tensor", Global::Tensor),
    ("torch._utils", "_rebuild_tensor_v2", Global::Tensor),
    ("torch._utils", "_rebuild_tensor_v3", Global::TypedTensor),
    ("torch._utils", "_rebuild_parameter", Global::Parameter),
    (
        "torch._utils",
        "_rebuild_parameter_with_state",
        Global::Parameter,
    ),
    ("torch._tensor", "_rebuild_from_type_v2", Global::FromType),
    ("torch", "Tensor", Class),
    ("torch.nn.parameter", "Parameter", Class),
    ("torch.nn.parameter", "Buffer", Class),
    ("torch.storage", "UntypedStorage", Storage(None)),
    ("torch", "UntypedStorage", Storage(None)),
    ("torch", "BoolStorage", Storage(Some(own(DType::Bool)))),
    ("torch", "ByteStorage", Storage(Some(own(DType::U8)))),
    ("torch", "CharStorage", Storage(Some(own(DType::I8)))),
    ("torch", "ShortStorage", Storage(Some(own(DType::I16)))),
    ("torch", "IntStorage", Storage(Some(own(DType::I32)))),
    ("torch", "LongStorage", Storage(Some(own(DType::I64)))),
    ("torch", "HalfStorage", Storage(Some(own(DType::F16)))),
    ("torch", "BFloat16Storage", Storage(Some(own(DType::BF16)))),
    ("torch", "FloatStorage", Storage(Some(own(DType::F32)))),
    ("torch", "DoubleStorage", Storage(Some(own(DType::F64)))),
    (
        "torch",
        "ComplexFloatStorage",
        Storage(Some(own(DType::C64))),
    ),
    (
        "torch",
        "ComplexDoubleStorage",
        Storage(Some(own(DType::C128))),
    ),
    ("torch", "bool", Global::DType(own(DType::Bool))),
    ("torch", "uint8", Global::DType(own(DType::U8))),
    ("torch", "int8", Global::DType(own(DType::I8))),
    ("torch", "int16", Global::DType(own(DType::I16))),
    ("torch", "short", Global::DType(own(DType::I16))),
    ("torch", "int32", Global::DType(own(DType::I32))),
    ("torch", "int", Global::DType(own(DType::I32))),
    ("torch", "int64", Global::DType(own(DType::I64))),
    ("torch", "long", Global::DType(own(DType::I64))),
    ("torch", "float16", Global::DType(own(DType::F16))),
    ("torch", "half", Global::DType(own(DType::F16))),
    ("torch", "bfloat16", Global::DType(own(DType::BF16))),
    ("torch", "float32", Global::DType(own(DType::F32))),
    ("torch", "float", Global::DType(own(DType::F32))),
    ("torch", "float64", Global::DType(own(DType::F64))),
    ("torch", "double", Global::DType(own(DType::F64))),
    ("torch", "complex64", Global::DType(own(DType::C64))),
    ("torch", "cfloat", Global::DType(own(DType::C64))),
    ("torch", "complex128", Global::DType(own(DType::C128))),
    ("torch", "cdouble", Global::DType(own(DType::C128))),
    (
        "torch",
        "float8_e4m3fn",
        Global::DType(foreign(ForeignDType::F8E4M3)),
    ),
    (
        "torch",
        "float8_e5m2",
        Global::DType(foreign(ForeignDType::F8E5M2)),
    ),
    ("torch", "uint16", Global::DType(foreign(ForeignDType::U16))),
    ("torch", "uint32", Global::DType(foreign(ForeignDType::U32))),
    ("torch", "uint64", Global::DType(foreign(ForeignDType::U64))),
    ("torch.serialization", "_get_layout", Class),
];

impl Global {
    /// Returns the global of a name, if it is one of those above.
    pub(super) fn find(module: &str, name: &str) -> Option<Self> {
        let found = GLOBALS.iter().find(|row| row.0 == module && row.1 == name);
        found.map(|row| row.2)
    }
}

//! Elements of primitive types, shared with Arrow where the types are equal.

use std::any::Any;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use arrow_schema::DataType;
use bytes::Bytes;
use nomina::{DType, DynTensor, Element, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;

/// The treatment of missing elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// They are an error.
    #[default]
    Refuse,
    /// In columns of floats they become NaN; in others they are an error.
    Nan,
}

/// The bytes of a contiguous tensor on the host, which an Arrow buffer keeps.
struct TensorBytes(DynTensor);

impl AsRef<[u8]> for TensorBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.raw().as_bytes().unwrap_or_default()
    }
}

/// Converts the elements of a contiguous tensor to an array.
pub(super) fn to_array(op: &'static str, tensor: &DynTensor) -> Result<ArrayRef> {
    fn shared<T: ArrowPrimitiveType>(tensor: &DynTensor) -> ArrayRef {
        // The address of no bytes may be any.
        let values = if tensor.numel() == 0 {
            ScalarBuffer::from(Vec::new())
        } else {
            let bytes = Bytes::from_owner(TensorBytes(tensor.clone()));
            ScalarBuffer::new(Buffer::from(bytes), 0, tensor.numel())
        };
        Arc::new(PrimitiveArray::<T>::new(values, None))
    }
    Ok(match tensor.dtype() {
        DType::Bool => Arc::new(BooleanArray::from(tensor.to_vec::<bool>()?)),
        DType::U8 => shared::<UInt8Type>(tensor),
        DType::I8 => shared::<Int8Type>(tensor),
        DType::I16 => shared::<Int16Type>(tensor),
        DType::I32 => shared::<Int32Type>(tensor),
        DType::I64 => shared::<Int64Type>(tensor),
        DType::F16 => shared::<Float16Type>(tensor),
        DType::F32 => shared::<Float32Type>(tensor),
        DType::F64 => shared::<Float64Type>(tensor),
        dtype @ (DType::BF16 | DType::C64 | DType::C128) => {
            let hint = if dtype == DType::BF16 {
                "convert it: `to_dtype(DType::F32)`"
            } else {
                "take its parts: `view_as_real()`"
            };
            let what = format!("Arrow has no elements of {dtype}");
            return Err(Error::new(ErrorKind::DType, op, what)
                .operand(tensor.names(), tensor.shape())
                .hint(hint));
        }
    })
}

/// Converts the elements of an array to a tensor of one dim without a name; `None` if they are no numbers. Elements
/// that `missing` says are NaN, or an error.
pub(super) fn from_array(
    op: &'static str,
    array: &dyn Array,
    missing: Option<&[bool]>,
    nulls: Nulls,
) -> Result<Option<DynTensor>> {
    fn shared<T: ArrowPrimitiveType>(op: &'static str, array: &dyn Array) -> Result<Raw>
    where
        T::Native: Element + Any,
    {
        let values = array.as_primitive::<T>().values().clone();
        Raw::from_owner::<T::Native, _>(op, values, &[array.len()])
    }
    fn widened<T: ArrowPrimitiveType, W: Element + TryFrom<T::Native>>(
        op: &'static str,
        array: &dyn Array,
    ) -> Result<Raw> {
        let values = array.as_primitive::<T>().values().iter();
        let wide = values.map(|&value| W::try_from(value).ok());
        let outside = || {
            let what = "an element exceeds i64, the widest integer dtype";
            Error::new(ErrorKind::DType, op, what)
        };
        let wide: Vec<W> = wide.collect::<Option<_>>().ok_or_else(outside)?;
        Raw::from_vec(wide, &[array.len()])
    }
    let raw = match array.data_type() {
        DataType::Boolean => {
            let values: Vec<bool> = array.as_boolean().values().iter().collect();
            Raw::from_vec(values, &[array.len()])
        }
        DataType::UInt8 => shared::<UInt8Type>(op, array),
        DataType::Int8 => shared::<Int8Type>(op, array),
        DataType::Int16 => shared::<Int16Type>(op, array),
        DataType::Int32 => shared::<Int32Type>(op, array),
        DataType::Int64 => shared::<Int64Type>(op, array),
        DataType::Float16 => shared::<Float16Type>(op, array),
        DataType::Float32 => shared::<Float32Type>(op, array),
        DataType::Float64 => shared::<Float64Type>(op, array),
        // No dtype has them.
        DataType::UInt16 => widened::<UInt16Type, i32>(op, array),
        DataType::UInt32 => widened::<UInt32Type, i64>(op, array),
        DataType::UInt64 => widened::<UInt64Type, i64>(op, array),
        _ => return Ok(None),
    }?;
    let tensor = DynTensor::from_parts(raw, Names::unnamed(1))?;
    let own = array.logical_nulls().filter(|own| own.null_count() > 0);
    let own: Option<Vec<bool>> = own.map(|own| own.iter().map(|is_valid| !is_valid).collect());
    let all = match (own, missing) {
        (None, None) => return Ok(Some(tensor)),
        (Some(own), None) => own,
        (None, Some(missing)) => missing.to_vec(),
        (Some(own), Some(missing)) => own.iter().zip(missing).map(|(a, b)| a | b).collect(),
    };
    if nulls == Nulls::Refuse || !tensor.dtype().is_float() {
        return Err(refuse_nulls(op, &all, tensor.dtype()));
    }
    let mask = DynTensor::from_vec(all, &[tensor.numel()], Names::unnamed(1))?;
    tensor.masked_fill(&mask, f64::NAN).map(Some)
}

/// Returns the error of missing elements.
#[cold]
pub(super) fn refuse_nulls(
    op: &'static str,
    missing: &[bool],
    kind: impl std::fmt::Display,
) -> Error {
    let count = missing.iter().filter(|is_missing| **is_missing).count();
    let first = missing.iter().position(|is_missing| *is_missing);
    let what = format!(
        "{count} nulls among elements of {kind}, the first at {}",
        first.unwrap_or(0)
    );
    Error::new(ErrorKind::Argument, op, what)
        .hint("fill or drop them first, or read floats by `Nulls::Nan`")
}

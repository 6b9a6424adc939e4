//! Arguments in Rust syntax.

use nomina::{DType, DynSparse, DynTensor, Names};
use nomina_by_name::Value;

/// Writes the type of a tensor: `Tensor<(N, C), f64>`, with the given dims.
pub fn tensor_type(x: &DynTensor, dims: &str) -> String {
    format!("Tensor<{dims}, {}>", dtype(x.dtype()))
}

/// Writes the type of a sparse tensor.
pub fn sparse_type(x: &DynSparse, dims: &str) -> String {
    format!("Sparse<{dims}, {}>", dtype(x.dtype()))
}

/// Writes the dims of a type: `(N, C)`, with `Wild` for an unnamed dim.
pub fn dims(names: &Names) -> String {
    tuple(names.iter().map(|name| match name {
        Some(name) => name.to_string(),
        None => "Wild".to_owned(),
    }))
}

/// Writes `(N, C)`, `(N,)`, `()`.
pub fn tuple(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    match &items[..] {
        [one] => format!("({one},)"),
        _ => format!("({})", items.join(", ")),
    }
}

pub fn dtype(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "Complex<f32>",
        DType::C128 => "Complex<f64>",
    }
}

/// Writes a number; `None` if the value is not a number.
pub fn number(value: &Value) -> Option<String> {
    Some(match value {
        Value::Int(v) => format!("{v}_i64"),
        Value::Float(v) if v.is_nan() => "f64::NAN".into(),
        Value::Float(v) if v.is_infinite() && *v > 0.0 => "f64::INFINITY".into(),
        Value::Float(v) if v.is_infinite() => "f64::NEG_INFINITY".into(),
        Value::Float(v) => format!("{v:?}_f64"),
        Value::Bool(v) => v.to_string(),
        Value::Complex(v) => format!("Complex::new({:?}_f64, {:?}_f64)", v.re, v.im),
        _ => return None,
    })
}

/// Returns whether `dims!` can declare a name as a type of the same name.
pub fn is_ident(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && name != "_"
}

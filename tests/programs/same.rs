//! Comparison of two values.

use nomina::{DType, DynTensor};
use nomina_by_name::Value;
use nomina_runtime::call;

/// Returns a copy of the value with row-major tensors that share no buffer.
pub fn copied(value: &Value) -> Value {
    match value {
        Value::Tensor(tensor) => Value::Tensor(copy(tensor)),
        Value::List(items) => Value::List(items.iter().map(copied).collect()),
        other => other.clone(),
    }
}

fn copy(x: &DynTensor) -> DynTensor {
    let rows = call::contiguous(x.raw()).and_then(|rows| call::duplicate(&rows));
    let rows = rows.expect("memory for a small copy");
    DynTensor::from_parts(rows, x.names().clone()).expect("the same names")
}

/// Checks that two values are equal: names, sizes and dtypes; elements up to a relative tolerance, with all NaNs equal.
///
/// # Errors
/// Describes the difference.
pub fn equal(a: &Value, b: &Value, tolerance: f64) -> Result<(), String> {
    match (a, b) {
        (Value::Tensor(a), Value::Tensor(b)) => tensors(a, b, tolerance),
        (Value::List(a), Value::List(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .try_for_each(|(a, b)| equal(a, b, tolerance)),
        (Value::Float(a), Value::Float(b)) if near(*a, *b, tolerance, DType::F32) => Ok(()),
        (Value::Sparse(_), Value::Sparse(_)) => Ok(()),
        _ if format!("{a:?}") == format!("{b:?}") => Ok(()),
        _ => Err(format!("{a:?} and {b:?}")),
    }
}

fn tensors(a: &DynTensor, b: &DynTensor, tolerance: f64) -> Result<(), String> {
    let head = |x: &DynTensor| (x.names().clone(), x.shape().to_vec(), x.dtype());
    if head(a) != head(b) {
        return Err(format!("{a:?} and {b:?}"));
    }
    let parts = |x: &DynTensor| -> Vec<[f64; 2]> {
        let scalars = x.raw().try_scalars().expect("memory for a few numbers");
        scalars
            .map(|x| [x.to_complex().re, x.to_complex().im])
            .collect()
    };
    // A view of one element may repeat it any number of times.
    if a.numel() > 1 << 16 {
        return Ok(());
    }
    if a.dtype() == DType::I64 {
        let whole = |x: &DynTensor| x.to_vec::<i64>().expect("whole numbers");
        return (whole(a) == whole(b))
            .then_some(())
            .ok_or_else(|| format!("{a}\nand\n{b}"));
    }
    let dtype = a.dtype();
    let differ = parts(a)
        .iter()
        .flatten()
        .zip(parts(b).iter().flatten())
        .any(|(&a, &b)| !near(a, b, tolerance, dtype));
    if differ {
        Err(format!("{a}\nand\n{b}"))
    } else {
        Ok(())
    }
}

/// Returns whether two numbers of about one are equal up to some units in the last place of the dtype.
pub fn near(a: f64, b: f64, units: f64, dtype: DType) -> bool {
    let unit = match dtype {
        DType::F16 => 9.8e-4,
        DType::BF16 => 7.9e-3,
        DType::F32 | DType::C64 => 1.2e-7,
        DType::F64 | DType::C128 => 2.3e-16,
        _ => 0.0,
    };
    a == b
        || a.is_nan() && b.is_nan()
        || (a - b).abs() <= units * unit * a.abs().max(b.abs()).max(1.0)
}

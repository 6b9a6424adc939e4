//! Comparison of two results, up to rounding.

use nomina::{DType, DynTensor, Scalar};
use nomina_by_name::Value;

/// Returns the tolerance of a float dtype, relative to the greater of one and the value.
pub fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 1e-2,
        DType::BF16 => 8e-2,
        DType::F64 | DType::C128 => 1e-9,
        // Integers are converted to f32 by functions with fractional results.
        _ => 2e-4,
    }
}

/// Compares two values, with their names if `names` is set; the error describes the difference.
pub fn same(got: &Value, want: &Value, within: f64, names: bool) -> Result<(), String> {
    match (got, want) {
        (Value::Tensor(got), Value::Tensor(want)) => tensors(got, want, within, names),
        (Value::List(got), Value::List(want)) if got.len() == want.len() => got
            .iter()
            .zip(want)
            .try_for_each(|(got, want)| same(got, want, within, names)),
        (Value::Float(got), Value::Float(want)) if near(*got, *want, within) => Ok(()),
        (Value::Int(got), Value::Int(want)) if got == want => Ok(()),
        (Value::Bool(got), Value::Bool(want)) if got == want => Ok(()),
        (Value::Complex(_), Value::Complex(_)) | (Value::None, Value::None) => Ok(()),
        (got, want) => Err(format!("{got:?}, not {want:?}")),
    }
}

fn tensors(got: &DynTensor, want: &DynTensor, within: f64, names: bool) -> Result<(), String> {
    if names && got.names() != want.names() {
        return Err(format!("names {}, not {}", got.names(), want.names()));
    }
    if got.shape() != want.shape() {
        return Err(format!("sizes {:?}, not {:?}", got.shape(), want.shape()));
    }
    for (i, (got, want)) in got.raw().scalars().zip(want.raw().scalars()).enumerate() {
        let same = match (got, want) {
            (Scalar::Complex(got), _) => {
                let want = want.to_complex();
                near(got.re, want.re, within) && near(got.im, want.im, within)
            }
            (Scalar::Int(got), Scalar::Int(want)) => got == want,
            (Scalar::Bool(got), Scalar::Bool(want)) => got == want,
            _ => near(got.to_f64(), want.to_f64(), within),
        };
        if !same {
            return Err(format!("element {i} is {got:?}, not {want:?}"));
        }
    }
    Ok(())
}

fn near(got: f64, want: f64, within: f64) -> bool {
    got == want
        || (got.is_nan() && want.is_nan())
        || (got - want).abs() <= within * want.abs().max(1.0)
}

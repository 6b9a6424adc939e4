//! New tensors from sizes and numbers.

use crate::Device;
use crate::job::Place;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::fill;
use crate::call::backend::backend;
use crate::raw::Raw;

/// Converts integers of any type to `i64`.
///
/// # Errors
/// [`ErrorKind::Argument`] for a value that exceeds `i64`, [`ErrorKind::Memory`].
pub fn integers<U: Copy + TryInto<i64>>(data: &[U]) -> Result<Vec<i64>> {
    let refuse = |kind, what: String| Error::new(kind, "from_integers", what);
    let mut found = Vec::new();
    if found.try_reserve_exact(data.len()).is_err() {
        let what = format!("no memory for {} elements", data.len());
        return Err(refuse(ErrorKind::Memory, what).hint("use smaller sizes"));
    }
    for (i, &value) in data.iter().enumerate() {
        let Ok(value) = value.try_into() else {
            let what = format!("the value at position {i} exceeds i64");
            return Err(refuse(ErrorKind::Argument, what).hint("give values of at most `i64::MAX`"));
        };
        found.push(value);
    }
    Ok(found)
}

/// Returns a tensor filled with one number.
///
/// # Errors
/// If memory or the device is missing, or the sizes overflow.
pub fn full(shape: &[usize], value: Scalar, dtype: DType, device: Device) -> Result<Raw> {
    // Minus zero and a zero with an imaginary part have bits set.
    let zero = match value {
        Scalar::Bool(value) => !value,
        Scalar::Int(value) => value == 0,
        Scalar::Float(value) => value.to_bits() == 0,
        Scalar::Complex(value) => value.re.to_bits() == 0 && value.im.to_bits() == 0,
    };
    if zero {
        // Fresh pages are zero already; nothing is written.
        return Raw::zeros("full", shape, dtype, device);
    }
    let mut out = Raw::empty("full", shape, dtype, device)?;
    fill(out.as_mut()?, value)?;
    Ok(out)
}

/// Returns numbers from `start` to before `end`, `step` apart.
///
/// # Errors
/// If `step` is zero, not finite, or leads away from `end`; for bool and complex dtypes; also if memory or the device
/// is missing.
pub fn arange(
    start: Scalar,
    end: Scalar,
    step: Scalar,
    dtype: DType,
    device: Device,
) -> Result<Raw> {
    let refuse = |kind, what: &str, hint: &str| Err(Error::new(kind, "arange", what).hint(hint));
    let scalars = [start, end, step];
    if !(dtype.is_float() || dtype.is_integral() && dtype != DType::Bool)
        || scalars
            .iter()
            .any(|value| matches!(value, Scalar::Complex(_)))
    {
        let what = format!("no range of {dtype}");
        return refuse(ErrorKind::DType, &what, "use an integer or a float dtype");
    }
    let whole = dtype.is_integral()
        && scalars
            .iter()
            .all(|value| matches!(value, Scalar::Int(_) | Scalar::Bool(_)));
    let count = if whole {
        let [start, end, step] = scalars.map(|value| i128::from(value.to_i64()));
        if step == 0 {
            return refuse(ErrorKind::Argument, "the step is zero", "use another step");
        }
        let span = end - start;
        if span != 0 && (span > 0) != (step > 0) {
            return away(scalars);
        }
        (span.unsigned_abs())
            .div_ceil(step.unsigned_abs())
            .try_into()
            .unwrap_or(usize::MAX)
    } else {
        let [start, end, step] = scalars.map(Scalar::to_f64);
        if !(start.is_finite() && end.is_finite() && step.is_finite()) || step == 0.0 {
            let what = format!("from {start} to {end} by {step}");
            return refuse(
                ErrorKind::Argument,
                &what,
                "use finite bounds and a step other than 0",
            );
        }
        let span = end - start;
        if span != 0.0 && (span > 0.0) != (step > 0.0) {
            return away(scalars);
        }
        (span / step).ceil() as usize
    };
    let mut out = Raw::empty("arange", &[count], dtype, device)?;
    let mut access = out.as_mut()?;
    let dest = Place {
        ptr: access.as_mut_ptr(),
        dtype,
    };
    // SAFETY: a new contiguous tensor of `count` elements.
    unsafe { backend("arange", device)?.arange(count, dest, start, step)? };
    Ok(out)
}

#[cold]
fn away([start, end, step]: [Scalar; 3]) -> Result<Raw> {
    let what = format!("steps of {step} from {start} do not reach {end}");
    Err(Error::new(ErrorKind::Argument, "arange", what).hint("change the sign of the step"))
}

/// Returns an `n` by `m` matrix with ones on the diagonal and zeros elsewhere.
///
/// # Errors
/// If memory or the device is missing, or the sizes overflow.
pub fn eye(n: usize, m: usize, dtype: DType, device: Device) -> Result<Raw> {
    let mut out = Raw::zeros("eye", &[n, m], dtype, device)?;
    fill(out.as_mut()?.diagonal(0, 1, 0)?, Scalar::Int(1))?;
    Ok(out)
}

//! Comparison of a result with the recorded one.

use nomina_by_name::Value;
use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Scalar};
use nomina_runtime::{DynSparse, DynTensor};
use num_complex::Complex;

use super::case::{Recorded, Sparse, Tensor};

/// The absolute and the relative tolerance.
type Tolerance = (f64, f64);

fn tolerance(op: &str, dtype: DType) -> Tolerance {
    match dtype {
        DType::F64 | DType::C128 => (1e-9, 1e-7),
        DType::F16 => (1e-3, 4e-3),
        DType::BF16 => (8e-3, 2e-2),
        _ if ["digamma", "erfinv", "lgamma"]
            .iter()
            .any(|name| op.contains(name)) =>
        {
            (1e-4, 1e-4)
        }
        _ => (1e-5, 1e-5),
    }
}

/// Compares a result with the recorded one; the error describes the difference.
pub fn values(op: &str, got: &Value, want: &Recorded, random: bool) -> Result<(), String> {
    match (got, want) {
        (Value::Tensor(got), Recorded::Tensor(want)) => tensors(op, got, want, random),
        (Value::Sparse(got), Recorded::Sparse(want)) => sparse(op, got, want),
        (Value::List(got), Recorded::List(want)) => {
            if got.len() != want.len() {
                return Err(format!("{} values, not {}", got.len(), want.len()));
            }
            for (i, (got, want)) in got.iter().zip(want).enumerate() {
                values(op, got, want, random).map_err(|e| format!("value {i}: {e}"))?;
            }
            Ok(())
        }
        (got, Recorded::Plain(want)) => plain(op, got, want),
        (got, _) => Err(format!("{} is of another kind", got.kind())),
    }
}

/// Compares two computed results; the error describes the difference.
pub fn alike(op: &str, got: &Value, want: &Value) -> Result<(), String> {
    match (got, want) {
        (Value::Tensor(got), Value::Tensor(want)) => {
            let said = |e: nomina_core::Error| e.to_string();
            let (got, want) = (scalars(got).map_err(said)?, scalars(want).map_err(said)?);
            let bits = |value: &Scalar| format!("{value:?}");
            match got.iter().zip(&want).position(|(a, b)| bits(a) != bits(b)) {
                None if got.len() == want.len() => Ok(()),
                None => Err(format!("{} elements, not {}", got.len(), want.len())),
                Some(i) => Err(format!(
                    "element {i} is {}, on the host {}",
                    got[i], want[i]
                )),
            }
        }
        (Value::List(got), Value::List(want)) if got.len() == want.len() => {
            let mut both = got.iter().zip(want);
            both.try_for_each(|(got, want)| alike(op, got, want))
        }
        (got, want) => plain(op, got, want),
    }
}

fn plain(op: &str, got: &Value, want: &Value) -> Result<(), String> {
    let same = match (got, want) {
        (Value::Float(got), Value::Float(want)) => near(*got, *want, tolerance(op, DType::F64)),
        (Value::Complex(got), Value::Complex(want)) => {
            near_complex(*got, *want, tolerance(op, DType::C128))
        }
        (Value::Int(got), Value::Int(want)) => got == want,
        (Value::Bool(got), Value::Bool(want)) => got == want,
        (Value::Str(got), Value::Str(want)) => got == want,
        (Value::DType(got), Value::DType(want)) => got == want,
        (Value::Device(got), Value::Device(want)) => got == want,
        (Value::None, Value::None) | (Value::Ellipsis, Value::Ellipsis) => true,
        (Value::Dict(got), Value::Dict(want)) => {
            got.len() == want.len()
                && got.iter().zip(want).all(|(got, want)| {
                    plain(op, &got.0, &want.0).is_ok() && plain(op, &got.1, &want.1).is_ok()
                })
        }
        _ => false,
    };
    if same {
        Ok(())
    } else {
        Err(format!("got {got:?}, wanted {want:?}"))
    }
}

/// Compares the coalesced entries; explicit zeros count.
fn sparse(op: &str, got: &DynSparse, want: &Sparse) -> Result<(), String> {
    let said = |e: nomina_core::Error| e.to_string();
    let got = got.coalesce().map_err(said)?;
    if got.shape() != want.shape {
        return Err(format!("shape {:?}, wanted {:?}", got.shape(), want.shape));
    }
    let names: Vec<Option<String>> = got
        .names()
        .iter()
        .map(|name| name.as_ref().map(|name| name.as_str().to_owned()))
        .collect();
    if names != want.names {
        return Err(format!("names {names:?}, wanted {:?}", want.names));
    }
    let indices = got
        .indices()
        .and_then(|x| x.to_vec::<i64>())
        .map_err(said)?;
    if got.sparse_dim() != want.indices.len() || indices != want.indices.concat() {
        return Err(format!("indices {indices:?}, wanted {:?}", want.indices));
    }
    let values = got.values().map_err(said)?.drop_names();
    tensors(op, &values, &want.values, false)
}

fn tensors(op: &str, got: &DynTensor, want: &Tensor, random: bool) -> Result<(), String> {
    let names: Vec<Option<String>> = got
        .names()
        .iter()
        .map(|name| name.as_ref().map(|name| name.as_str().to_owned()))
        .collect();
    if names != want.names {
        return Err(format!("names {names:?}, wanted {:?}", want.names));
    }
    if got.shape() != want.shape {
        return Err(format!("shape {:?}, wanted {:?}", got.shape(), want.shape));
    }
    if got.dtype() != want.dtype {
        return Err(format!("dtype {}, wanted {}", got.dtype(), want.dtype));
    }
    if let Some(strides) = &want.stride
        && got.strides() != &strides[..]
    {
        return Err(format!("strides {:?}, wanted {strides:?}", got.strides()));
    }
    let (Some(want), false) = (&want.data, random) else {
        return Ok(());
    };
    let found = scalars(got).map_err(|e| e.to_string())?;
    for (i, (&got_value, &want)) in found.iter().zip(want).enumerate() {
        let same = match got.dtype() {
            DType::Bool => got_value.to_bool() == want.to_bool(),
            dtype if dtype.is_integral() => got_value.to_i64() == want.to_i64(),
            dtype if dtype.is_complex() => near_complex(
                got_value.to_complex(),
                want.to_complex(),
                tolerance(op, dtype),
            ),
            dtype => near(got_value.to_f64(), want.to_f64(), tolerance(op, dtype)),
        };
        if !same {
            return Err(format!("element {i} is {got_value}, wanted {want}"));
        }
    }
    Ok(())
}

fn near(got: f64, want: f64, (atol, rtol): Tolerance) -> bool {
    got == want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= atol + rtol * want.abs()
}

fn near_complex(got: Complex<f64>, want: Complex<f64>, tolerance: Tolerance) -> bool {
    near(got.re, want.re, tolerance) && near(got.im, want.im, tolerance)
}

/// Returns the elements in row-major order, without converting them to another dtype.
fn scalars(x: &DynTensor) -> nomina_core::Result<Vec<Scalar>> {
    use half::{bf16, f16};
    use nomina_core::Element;
    fn typed<T: Element>(x: &DynTensor) -> nomina_core::Result<Vec<Scalar>> {
        Ok(x.to_vec::<T>()?
            .into_iter()
            .map(Element::to_scalar)
            .collect())
    }
    match x.dtype() {
        DType::Bool => typed::<bool>(x),
        DType::U8 => typed::<u8>(x),
        DType::I8 => typed::<i8>(x),
        DType::I16 => typed::<i16>(x),
        DType::I32 => typed::<i32>(x),
        DType::I64 => typed::<i64>(x),
        DType::F16 => typed::<f16>(x),
        DType::BF16 => typed::<bf16>(x),
        DType::F32 => typed::<f32>(x),
        DType::F64 => typed::<f64>(x),
        DType::C64 => typed::<Complex<f32>>(x),
        DType::C128 => typed::<Complex<f64>>(x),
    }
}

/// Returns the name of an error kind in the recordings; `None` for kinds that PyTorch does not distinguish.
pub fn error_word(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::NameMismatch => "name_mismatch",
        ErrorKind::Misaligned => "misaligned",
        ErrorKind::NameMismatchOut => "name_mismatch_out",
        ErrorKind::DuplicateNames => "duplicate_names",
        ErrorKind::InvalidName => "invalid_name",
        ErrorKind::NamesLen => "names_len",
        ErrorKind::UnnamedDim => "unnamed_dim",
        ErrorKind::Refine => "refine",
        ErrorKind::Ellipsis => "ellipsis",
        ErrorKind::Align => "align",
        ErrorKind::NameNotFound => "name_not_found",
        ErrorKind::Flatten => "flatten",
        ErrorKind::Resize => "resize",
        ErrorKind::DType => "dtype",
        ErrorKind::Rank => "rank",
        ErrorKind::Index => "index",
        ErrorKind::Shape => "shape",
        ErrorKind::Layout => "layout",
        _ => return None,
    })
}

/// Returns why a finite or infinite result is right although PyTorch's formula gives NaN for an infinite or zero
/// operand: these operators have limits there.
pub fn limit(op: &str, outcome: &Result<(), String>) -> Option<&'static str> {
    let has_limits = matches!(
        nomina_by_name::parse(op)?.0,
        Op::Copysign
            | Op::Erfcx
            | Op::Gelu
            | Op::Hardswish
            | Op::Logaddexp
            | Op::Logaddexp2
            | Op::Logcumsumexp
            | Op::Logsumexp
            | Op::Mish
            | Op::Silu
            | Op::Softsign
            | Op::Xlog1py
            | Op::Xlogy
    );
    let wanted_nan =
        matches!(outcome, Err(what) if what.ends_with("not NaN") || what.ends_with("wanted NaN"));
    (has_limits && wanted_nan)
        .then_some("0 times infinity is NaN in PyTorch's formula, where there is a limit")
}

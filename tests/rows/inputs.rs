//! Variations of the inputs of a recorded call.

use nomina::{DType, DynTensor, Result, Scalar};
use nomina_by_name::Value;

use crate::recorded::Call;

/// The arguments of a call.
#[derive(Clone)]
pub struct Inputs {
    pub args: Vec<Value>,
    pub kwargs: Vec<(String, Value)>,
}

/// Returns the principal dtype of a call: that of its first float or complex tensor, else of its
/// first tensor that is not bool, else bool.
pub fn principal(call: &Call) -> Option<DType> {
    let mut tensors = Vec::new();
    for arg in call
        .args
        .iter()
        .chain(call.kwargs.iter().map(|(_, arg)| arg))
    {
        tensors_in(arg, &mut tensors);
    }
    let inexact = |x: &&DynTensor| x.dtype().is_float() || x.dtype().is_complex();
    let first = tensors
        .iter()
        .copied()
        .find(inexact)
        .or_else(|| tensors.iter().copied().find(|x| x.dtype() != DType::Bool))
        .or_else(|| tensors.first().copied());
    first.map(DynTensor::dtype)
}

/// Collects the tensors of an argument.
pub fn tensors_in<'a>(value: &'a Value, found: &mut Vec<&'a DynTensor>) {
    match value {
        Value::Tensor(x) => found.push(x),
        Value::List(items) => items.iter().for_each(|item| tensors_in(item, found)),
        _ => {}
    }
}

impl Inputs {
    pub fn of(call: &Call) -> Self {
        Self {
            args: call.args.clone(),
            kwargs: call.kwargs.clone(),
        }
    }

    /// Replaces every tensor.
    pub fn map(&self, change: &mut impl FnMut(&DynTensor) -> Result<DynTensor>) -> Result<Self> {
        fn value(
            from: &Value,
            change: &mut impl FnMut(&DynTensor) -> Result<DynTensor>,
        ) -> Result<Value> {
            Ok(match from {
                Value::Tensor(x) => Value::Tensor(change(x)?),
                Value::List(items) => Value::List(
                    items
                        .iter()
                        .map(|item| value(item, change))
                        .collect::<Result<_>>()?,
                ),
                other => other.clone(),
            })
        }
        let args = self.args.iter().map(|arg| value(arg, change));
        let args = args.collect::<Result<_>>()?;
        let kwargs = self.kwargs.iter();
        let kwargs = kwargs.map(|(name, arg)| Ok((name.clone(), value(arg, change)?)));
        let kwargs = kwargs.collect::<Result<_>>()?;
        Ok(Self { args, kwargs })
    }

    /// Replaces every string.
    pub fn texts(&self, change: &mut impl FnMut(&str) -> String) -> Self {
        fn value(from: &Value, change: &mut impl FnMut(&str) -> String) -> Value {
            match from {
                Value::Str(text) => Value::Str(change(text)),
                Value::List(items) => {
                    Value::List(items.iter().map(|item| value(item, change)).collect())
                }
                other => other.clone(),
            }
        }
        let args = self.args.iter().map(|arg| value(arg, change)).collect();
        let kwargs = self.kwargs.iter();
        let kwargs = kwargs.map(|(name, arg)| (name.clone(), value(arg, change)));
        Self {
            args,
            kwargs: kwargs.collect(),
        }
    }

    /// Converts the tensors of the principal dtype to another dtype.
    pub fn in_dtype(&self, principal: DType, dtype: DType) -> Result<Self> {
        self.map(&mut |x| {
            if x.dtype() == principal {
                x.to_dtype(dtype)
            } else {
                Ok(x.clone())
            }
        })
    }

    pub fn tensors(&self) -> Vec<&DynTensor> {
        let mut found = Vec::new();
        let kwargs = self.kwargs.iter().map(|(_, arg)| arg);
        self.args
            .iter()
            .chain(kwargs)
            .for_each(|arg| tensors_in(arg, &mut found));
        found
    }
}

/// Returns the same elements with gaps between them.
pub fn strided(x: &DynTensor) -> Result<DynTensor> {
    let names = x.names().clone();
    let (raw, _) = x.clone().into_parts();
    let rank = raw.rank();
    let unnamed = DynTensor::from_parts(raw, nomina::Names::unnamed(rank))?;
    let apart = match rank {
        0 => unnamed,
        1 => DynTensor::stack(&[&unnamed, &unnamed], 1, None)?.select(1, 0)?,
        _ => {
            let back: Vec<i64> = (0..rank as i64).rev().collect();
            unnamed
                .permute(&back[..])?
                .contiguous()?
                .permute(&back[..])?
        }
    };
    DynTensor::from_parts(apart.into_parts().0, names)
}

/// Removes all elements along dim `name`, if `x` has it.
pub fn emptied(x: &DynTensor, name: &str) -> Result<DynTensor> {
    if x.names().iter().flatten().any(|own| own.as_str() == name) {
        return x.narrow(name, 0, 0);
    }
    Ok(x.clone())
}

/// Replaces some elements of a float tensor by NaN and infinities.
pub fn extreme(x: &DynTensor) -> Result<DynTensor> {
    if !x.dtype().is_float() || x.numel() == 0 {
        return Ok(x.clone());
    }
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0];
    let values: Vec<f64> = x
        .raw()
        .scalars()
        .enumerate()
        .map(|(i, value)| match (i % 3, value) {
            (0, _) => odd[(i / 3) % odd.len()],
            (_, Scalar::Float(value)) => value,
            (_, other) => other.to_f64(),
        })
        .collect();
    let made = DynTensor::from_vec(values, x.shape(), ())?.to_dtype(x.dtype())?;
    DynTensor::from_parts(made.into_parts().0, x.names().clone())
}

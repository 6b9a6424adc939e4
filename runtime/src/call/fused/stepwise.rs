//! Programs that are computed step by step.

use crate::Device;
use crate::job::Node;
use nomina_core::{DType, Result, Scalar};

use crate::SmallVec;
use crate::call::arg::Arg;
use crate::call::pointwise::pointwise;
use crate::call::{full, to_dtype};
use crate::raw::Raw;

/// Computes the program step by step.
pub(crate) fn stepwise(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    enum Value<'a> {
        Lent(&'a Raw),
        Own(Raw),
        Number(Scalar),
    }
    fn arg<'a>(value: &'a Value<'_>) -> Arg<'a> {
        match value {
            Value::Lent(raw) => Arg::Tensor(raw),
            Value::Own(raw) => Arg::Tensor(raw),
            Value::Number(value) => Arg::Scalar(*value),
        }
    }
    let mut values: Vec<Value<'_>> = Vec::with_capacity(program.len());
    for node in program {
        let value = match *node {
            Node::Tensor(at) => Value::Lent(tensors[at]),
            Node::Scalar(at) => Value::Number(numbers[at]),
            Node::To(dtype, of) => match arg(&values[of]) {
                Arg::Tensor(raw) => Value::Own(to_dtype(raw, dtype)?),
                Arg::Scalar(value) => Value::Number(value),
            },
            Node::Apply(op, args) => {
                let args: SmallVec<[Arg<'_>; 3]> =
                    args.iter().map(|&at| arg(&values[at])).collect();
                Value::Own(pointwise(op, &args)?)
            }
        };
        values.push(value);
    }
    match values.pop() {
        Some(Value::Own(raw)) => Ok(raw),
        Some(Value::Lent(raw)) => Ok(raw.clone()),
        Some(Value::Number(value)) => full(
            &[],
            value,
            value.dtype(crate::config::default_dtype()),
            Device::Cpu,
        ),
        None => full(&[], Scalar::Bool(false), DType::Bool, Device::Cpu),
    }
}

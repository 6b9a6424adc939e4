//! Programs that are computed step by step.

use crate::Device;
use crate::job::Node;
use nomina_core::{DType, Result, Scalar};

use crate::SmallVec;
use crate::call::arg::Arg;
use crate::call::pointwise::pointwise;
use crate::call::{full, to_dtype};
use crate::memory::list;
use crate::raw::Raw;

/// Computes the program step by step.
pub(crate) fn stepwise(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> Result<Raw> {
    enum StepResult<'a> {
        Lent(&'a Raw),
        Own(Raw),
        Number(Scalar),
    }
    fn arg<'a>(value: &'a StepResult<'_>) -> Arg<'a> {
        match value {
            StepResult::Lent(raw) => Arg::Tensor(raw),
            StepResult::Own(raw) => Arg::Tensor(raw),
            StepResult::Number(value) => Arg::Scalar(*value),
        }
    }
    let mut values: Vec<StepResult<'_>> = list("fuse", [program.len()])?;
    for node in program {
        let value = match *node {
            Node::Tensor(at) => StepResult::Lent(tensors[at]),
            Node::Scalar(at) => StepResult::Number(numbers[at]),
            Node::To(dtype, of) => match arg(&values[of]) {
                Arg::Tensor(raw) => StepResult::Own(to_dtype(raw, dtype)?),
                Arg::Scalar(value) => StepResult::Number(value),
            },
            Node::Apply(op, args) => {
                let args: SmallVec<[Arg<'_>; 3]> =
                    args.iter().map(|&at| arg(&values[at])).collect();
                StepResult::Own(pointwise(op, &args)?)
            }
        };
        values.push(value);
    }
    match values.pop() {
        Some(StepResult::Own(raw)) => Ok(raw),
        Some(StepResult::Lent(raw)) => Ok(raw.clone()),
        Some(StepResult::Number(value)) => full(
            &[],
            value,
            value.dtype(crate::config::default_dtype()),
            Device::Cpu,
        ),
        None => full(&[], Scalar::Bool(false), DType::Bool, Device::Cpu),
    }
}

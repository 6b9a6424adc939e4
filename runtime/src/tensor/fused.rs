//! Chains of elementwise operators, computed in one pass.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg};
use nomina_core::{Names, Result, Scalar};

use super::{DynTensor, Operand, family};
use crate::call::{FusedReduction, ReduceOptions};
use crate::job::Node;
use crate::raw::Raw;
use crate::{SmallVec, call};

/// Computes a chain of elementwise operators on tensors and their names, with the results of the
/// separate operators.
///
/// # Errors
/// If an operator fails: the error of the first one.
#[doc(hidden)]
pub fn fused(
    program: &[Node<'_>],
    tensors: &[(&Raw, Names)],
    numbers: &[Scalar],
) -> Result<DynTensor> {
    let all = names(program, tensors).and_then(|names| {
        let raw = call::fused(program, &raws(tensors), numbers)?;
        Ok(DynTensor::new(raw, names))
    });
    // The separate operators give the best error messages.
    all.or_else(|_| stepwise(program, tensors, numbers))
}

/// Computes a chain and a reduction of it.
///
/// # Errors
/// If an operator fails: the error of the first one.
#[doc(hidden)]
pub fn fused_reduce(
    program: &[Node<'_>],
    tensors: &[(&Raw, Names)],
    numbers: &[Scalar],
    op: Op,
    dim: &DimArg<'_>,
) -> Result<DynTensor> {
    let all = names(program, tensors).and_then(|names| {
        let dims = dim.positions(op.name(), &names)?;
        let by = FusedReduction {
            op,
            dims: &dims,
            keepdim: dim.keepdim(),
        };
        let raw = call::fused_reduce(program, &raws(tensors), numbers, None, by)?;
        Ok(DynTensor::new(raw, rule::reduce(&names, &dims, by.keepdim)))
    });
    all.or_else(|_| {
        let whole = stepwise(program, tensors, numbers)?;
        family::reduce(op, &whole, dim, ReduceOptions::default())
    })
}

fn raws<'a>(tensors: &[(&'a Raw, Names)]) -> SmallVec<[&'a Raw; 4]> {
    tensors.iter().map(|(raw, _)| *raw).collect()
}

/// Returns the names of the last step.
fn names(program: &[Node<'_>], tensors: &[(&Raw, Names)]) -> Result<Names> {
    let mut all: Vec<Option<Names>> = Vec::with_capacity(program.len());
    for node in program {
        let names = match *node {
            Node::Tensor(at) => Some(tensors[at].1.clone()),
            Node::Scalar(_) => None,
            Node::To(_, of) => all[of].clone(),
            Node::Apply(op, args) => {
                let operands = args.iter().filter_map(|&at| all[at].as_ref());
                Some(rule::unify_all(op.name(), operands)?)
            }
        };
        all.push(names);
    }
    Ok(all.pop().flatten().unwrap_or_default())
}

/// Computes the program step by step.
fn stepwise(
    program: &[Node<'_>],
    tensors: &[(&Raw, Names)],
    numbers: &[Scalar],
) -> Result<DynTensor> {
    enum FusedValue {
        Tensor(Box<DynTensor>),
        Number(Scalar),
    }
    let mut values: Vec<FusedValue> = Vec::with_capacity(program.len());
    for node in program {
        let value = match *node {
            Node::Tensor(at) => {
                let (raw, names) = &tensors[at];
                FusedValue::Tensor(Box::new(DynTensor::new((*raw).clone(), names.clone())))
            }
            Node::Scalar(at) => FusedValue::Number(numbers[at]),
            Node::To(dtype, of) => match &values[of] {
                FusedValue::Tensor(tensor) => FusedValue::Tensor(Box::new(tensor.to_dtype(dtype)?)),
                FusedValue::Number(number) => FusedValue::Number(*number),
            },
            Node::Apply(op, args) => {
                let operands = args.iter().map(|&at| match &values[at] {
                    FusedValue::Tensor(tensor) => Operand::Tensor(tensor),
                    FusedValue::Number(number) => Operand::Scalar(*number),
                });
                let operands: SmallVec<[Operand<'_>; 4]> = operands.collect();
                FusedValue::Tensor(Box::new(family::pointwise(op, &operands)?))
            }
        };
        values.push(value);
    }
    match values.pop() {
        Some(FusedValue::Tensor(tensor)) => Ok(*tensor),
        _ => Ok(DynTensor::new(
            call::fused(program, &raws(tensors), numbers)?,
            Names::default(),
        )),
    }
}

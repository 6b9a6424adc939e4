//! Chains of elementwise operators.

use std::panic::Location;

use nomina_core::op::Op;
use nomina_core::{DType, Error, Names, Result, Scalar, rule};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, FusedReduction, Node};
use smallvec::SmallVec;

use super::reduce::Picked;
use super::{Blamed, Erased, ErasedRef, Static, explain, explain_with, typed, wilds};

/// Computes a program on its tensors and numbers.
pub(crate) fn new(
    program: &[Node<'_>],
    operands: &[ErasedRef<'_>],
    numbers: &[Scalar],
    dtype: DType,
    out: &'static Static,
) -> Result<Erased> {
    let mut wild = None;
    if operands.iter().any(|operand| operand.of.wild) {
        let names = names(program, operands)?.pop().flatten();
        wild = names.and_then(|names| wilds(names, out));
    } else if let Some(raw) = small(program, operands, numbers)
        && raw.dtype() == dtype
    {
        return Ok(Erased { raw, wild });
    }
    let raws: SmallVec<[&Raw; 4]> = operands.iter().map(|operand| operand.raw).collect();
    let raw = typed(|| call::fused(program, &raws, numbers));
    let raw = raw.map_err(|error| blame(error, program, operands))?;
    // With three operands, promotion in pairs may differ from promotion of all at once.
    let raw = if raw.dtype() == dtype {
        raw
    } else {
        call::to_dtype(&raw, dtype)?
    };
    Ok(Erased { raw, wild })
}

/// Computes a program on few small tensors; `None` if [`call::fused_small`] does not support them.
#[inline]
fn small(program: &[Node<'_>], operands: &[ErasedRef<'_>], numbers: &[Scalar]) -> Option<Raw> {
    /// The maximum number of tensors, so that the list is on the stack.
    const FEW: usize = 6;
    let mut raws = [operands.first()?.raw; FEW];
    for (raw, operand) in raws.iter_mut().zip(operands) {
        *raw = operand.raw;
    }
    call::fused_small(program, raws.get(..operands.len())?, numbers)
}

/// Computes a program and reduces its result, as `dtype`.
pub(crate) fn reduce(
    program: &[Node<'_>],
    operands: &[ErasedRef<'_>],
    numbers: &[Scalar],
    dtype: DType,
    (op, picked): (Op, Picked),
    out: &'static Static,
) -> Result<Erased> {
    let mut wild = None;
    if operands.iter().any(|operand| operand.of.wild) {
        let names = names(program, operands)?.pop().flatten();
        wild = names.and_then(|names| wilds(rule::reduce(&names, picked.at, picked.keepdim), out));
    }
    let by = FusedReduction {
        op,
        dims: picked.at,
        keepdim: picked.keepdim,
    };
    let raws: SmallVec<[&Raw; 4]> = operands.iter().map(|operand| operand.raw).collect();
    let raw = typed(|| call::fused_reduce(program, &raws, numbers, Some(dtype), by));
    let raw = raw.map_err(|error| blame_last(error, program, operands))?;
    Ok(Erased { raw, wild })
}

/// Returns the names of each step; those of a number are empty.
fn names(program: &[Node<'_>], operands: &[ErasedRef<'_>]) -> Result<Vec<Option<Names>>> {
    let mut all: Vec<Option<Names>> = Vec::with_capacity(program.len());
    for node in program {
        let names = match *node {
            Node::Tensor(at) => Some(operands[at].names()),
            Node::Scalar(_) => None,
            Node::To(_, of) => all[of].clone(),
            Node::Apply(op, args) => {
                let each: Vec<&Names> = args.iter().filter_map(|&at| all[at].as_ref()).collect();
                let unified = rule::unify_all(op.name(), each);
                Some(unified.map_err(|error| blame(error, program, operands))?)
            }
        };
        all.push(names);
    }
    Ok(all)
}

/// Adds to an error the names and sizes of the operands of the step that does not fit.
#[cold]
fn blame(error: Error, program: &[Node<'_>], operands: &[ErasedRef<'_>]) -> Error {
    match steps(program, operands) {
        Err(found) => found,
        Ok(_) => explain(error, operands),
    }
}

/// Like [`blame`], but for a program whose result is reduced: if all steps fit, their result does
/// not.
#[cold]
fn blame_last(error: Error, program: &[Node<'_>], operands: &[ErasedRef<'_>]) -> Error {
    match steps(program, operands) {
        Err(found) => found,
        Ok(Some(last)) if error.operands().is_empty() => error.operand(&last.names, &last.shape),
        Ok(Some(last)) => explain_with(error, [last.blamed()]),
        Ok(None) => explain(error, operands),
    }
}

/// The names and sizes of the result of a step.
#[derive(Clone)]
struct StepShape {
    names: Names,
    shape: Vec<usize>,
    made: Option<&'static Location<'static>>,
}

impl StepShape {
    fn blamed(&self) -> Blamed<'_> {
        Blamed {
            names: self.names.clone(),
            shape: &self.shape,
            made: self.made,
        }
    }
}

/// Returns the properties of the last step, or the error of the first step that does not fit.
fn steps(program: &[Node<'_>], operands: &[ErasedRef<'_>]) -> Result<Option<StepShape>> {
    let mut known: Vec<Option<StepShape>> = Vec::with_capacity(program.len());
    for node in program {
        let step = match *node {
            Node::Tensor(at) => Some(StepShape {
                names: operands[at].names(),
                shape: operands[at].raw.shape().to_vec(),
                made: operands[at].raw.created_at(),
            }),
            Node::Scalar(_) => None,
            Node::To(_, of) => known[of].clone(),
            Node::Apply(op, args) => {
                let operands: Vec<&StepShape> =
                    args.iter().filter_map(|&at| known[at].as_ref()).collect();
                let names = operands.iter().map(|x| &x.names);
                let shapes = operands.iter().map(|x| &x.shape[..]);
                let fit = rule::unify_all(op.name(), names.clone()).and_then(|unified| {
                    let shape = rule::broadcast_all(op.name(), shapes.clone())?;
                    Ok(StepShape {
                        names: unified,
                        shape: shape.to_vec(),
                        made: None,
                    })
                });
                match fit {
                    Ok(fit) => Some(fit),
                    Err(found) => {
                        return Err(explain_with(found, operands.iter().map(|x| x.blamed())));
                    }
                }
            }
        };
        known.push(step);
    }
    Ok(known.pop().flatten())
}

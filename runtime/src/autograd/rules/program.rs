//! Programs of elementwise operators that grow step by step.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::folding::{Folded, fold_constants};
use crate::SmallVec;
use crate::call::{
    FusedReduction, ReduceOptions, fused_reduce, fused_unrecorded, reduce, several, stepwise,
};
use crate::job::Node;
use crate::raw::Raw;
use crate::tape::narrow;

/// A step of a program.
#[derive(Clone)]
enum ProgramStep {
    Tensor(usize),
    Number(usize),
    To(DType, usize),
    Apply(Op, SmallVec<[usize; 3]>),
}

/// Steps that refer to earlier ones by position.
#[derive(Clone, Default)]
pub(super) struct Program {
    steps: SmallVec<[ProgramStep; 16]>,
    /// The dtype of each step that is a 16-bit float.
    narrow: SmallVec<[Option<DType>; 16]>,
    tensors: SmallVec<[Raw; 4]>,
    numbers: SmallVec<[Scalar; 4]>,
}

impl Program {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    fn push(&mut self, step: ProgramStep, dtype: Option<DType>) -> usize {
        self.steps.push(step);
        self.narrow.push(dtype.and_then(narrow));
        self.steps.len() - 1
    }

    pub(super) fn tensor(&mut self, raw: Raw) -> usize {
        let dtype = raw.dtype();
        self.tensors.push(raw);
        self.push(ProgramStep::Tensor(self.tensors.len() - 1), Some(dtype))
    }

    pub(super) fn number(&mut self, number: Scalar) -> usize {
        self.numbers.push(number);
        self.push(ProgramStep::Number(self.numbers.len() - 1), None)
    }

    pub(super) fn to(&mut self, dtype: DType, of: usize) -> usize {
        self.push(ProgramStep::To(dtype, of), Some(dtype))
    }

    /// Appends an operator of steps that are no 16-bit floats, unless its result is known.
    pub(super) fn apply(&mut self, op: Op, args: SmallVec<[usize; 3]>) -> usize {
        match fold_constants(op, &args, |at| self.number_of(at)) {
            Some(Folded::Step(at)) => at,
            Some(Folded::Number(number)) => self.number(number),
            None => self.push(ProgramStep::Apply(op, args), None),
        }
    }

    /// Appends an operator whose result has this dtype.
    pub(super) fn apply_as(
        &mut self,
        op: Op,
        args: SmallVec<[usize; 3]>,
        dtype: Option<DType>,
    ) -> usize {
        self.push(ProgramStep::Apply(op, args), dtype)
    }

    /// Returns the dtype of a step that is a 16-bit float.
    pub(super) fn narrow(&self, at: usize) -> Option<DType> {
        self.narrow[at]
    }

    /// Converts a step to `f32` if it is a 16-bit float.
    pub(super) fn widened(&mut self, at: usize) -> usize {
        match self.narrow[at] {
            Some(_) => self.to(DType::F32, at),
            None => at,
        }
    }

    /// Returns the number that a step is.
    pub(super) fn number_of(&self, at: usize) -> Option<Scalar> {
        match self.steps[at] {
            ProgramStep::Number(of) => Some(self.numbers[of]),
            _ => None,
        }
    }

    /// Computes one step and a reduction of it; step by step if they are to be recorded.
    ///
    /// # Errors
    /// The errors of the operators.
    pub(super) fn compute(
        &self,
        last: usize,
        reduction: Option<FusedReduction<'_>>,
        records: bool,
    ) -> Result<Raw> {
        if let ProgramStep::Tensor(at) = self.steps[last] {
            return reduce_by(self.tensors[at].clone(), reduction);
        }
        let numbers = &self.numbers[..];
        self.with_nodes(&[last], |nodes, read, _| match reduction {
            _ if records => reduce_by(stepwise(nodes, read, numbers)?, reduction),
            None => fused_unrecorded(nodes, read, numbers),
            Some(by) => fused_reduce(nodes, read, numbers, None, by),
        })
    }

    /// Computes some steps of equal sizes, on the host in one pass.
    ///
    /// # Errors
    /// The errors of the operators.
    pub(super) fn compute_all(&self, steps: &[usize]) -> Result<SmallVec<[Raw; 4]>> {
        let mut apart: SmallVec<[usize; 4]> = steps.into();
        apart.retain(|&mut at| !matches!(self.steps[at], ProgramStep::Tensor(_)));
        apart.sort_unstable();
        apart.dedup();
        let mut found: SmallVec<[Raw; 4]> = SmallVec::new();
        if !apart.is_empty() {
            found = self.with_nodes(&apart, |nodes, read, places| {
                let also = &places[..places.len() - 1];
                let (last, others) = several(nodes, read, &self.numbers, also)?;
                Ok(others.into_iter().chain([last]).collect())
            })?;
        }
        let of = |&at: &usize| match (&self.steps[at], apart.binary_search(&at)) {
            (ProgramStep::Tensor(of), _) => Ok(self.tensors[*of].clone()),
            (_, Ok(place)) => Ok(found[place].clone()),
            (_, Err(_)) => self.compute(at, None, false),
        };
        steps.iter().map(of).collect()
    }

    /// Calls `f` with the nodes that some sorted steps need, the tensors that they read, and the positions of these steps.
    fn with_nodes<R>(
        &self,
        of: &[usize],
        f: impl FnOnce(&[Node<'_>], &[&Raw], &[usize]) -> Result<R>,
    ) -> Result<R> {
        let last = of.last().copied().unwrap_or(0);
        // Only steps that are needed: they determine the sizes of the results.
        let mut live: SmallVec<[bool; 16]> = SmallVec::from_elem(false, last + 1);
        of.iter().for_each(|&at| live[at] = true);
        for (at, step) in self.steps[..=last].iter().enumerate().rev() {
            match step {
                ProgramStep::Apply(_, args) if live[at] => {
                    args.iter().for_each(|&arg| live[arg] = true)
                }
                ProgramStep::To(_, of) if live[at] => live[*of] = true,
                _ => {}
            }
        }
        let place = |at: usize| live[..at].iter().filter(|live| **live).count();
        let args: SmallVec<[SmallVec<[usize; 3]>; 16]> = self.steps[..=last]
            .iter()
            .map(|step| match step {
                ProgramStep::Apply(_, args) => args.iter().map(|&arg| place(arg)).collect(),
                _ => SmallVec::new(),
            })
            .collect();
        let mut read: SmallVec<[&Raw; 4]> = SmallVec::new();
        let mut nodes: SmallVec<[Node<'_>; 16]> = SmallVec::new();
        let steps = self.steps[..=last].iter().enumerate();
        for (at, step) in steps.filter(|(at, _)| live[*at]) {
            nodes.push(match step {
                ProgramStep::Tensor(of) => {
                    read.push(&self.tensors[*of]);
                    Node::Tensor(read.len() - 1)
                }
                ProgramStep::Number(of) => Node::Scalar(*of),
                ProgramStep::To(dtype, of) => Node::To(*dtype, place(*of)),
                ProgramStep::Apply(op, _) => Node::Apply(*op, &args[at]),
            });
        }
        let places: SmallVec<[usize; 4]> = of.iter().map(|&at| place(at)).collect();
        f(&nodes, &read, &places)
    }
}

/// Applies a reduction, if there is one.
fn reduce_by(raw: Raw, by: Option<FusedReduction<'_>>) -> Result<Raw> {
    match by {
        None => Ok(raw),
        Some(FusedReduction { op, dims, keepdim }) => {
            reduce(op, &raw, dims, keepdim, ReduceOptions::default())
        }
    }
}

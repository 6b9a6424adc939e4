//! Programs of elementwise operators that grow while they are written.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::lines::{Folded, folded, narrow};
use crate::SmallVec;
use crate::call::fused::{several, stepwise, unrecorded};
use crate::call::{ReduceOptions, Reduction, fused_reduce, reduce};
use crate::job::Node;
use crate::raw::Raw;

#[derive(Clone)]
pub(super) enum Step {
    Tensor(usize),
    Number(usize),
    To(DType, usize),
    Apply(Op, SmallVec<[usize; 3]>),
}

/// Steps that name earlier ones by their places.
#[derive(Clone, Default)]
pub(super) struct Program {
    steps: SmallVec<[Step; 16]>,
    /// The dtype of each step that is known to be a 16-bit float.
    narrow: SmallVec<[Option<DType>; 16]>,
    tensors: SmallVec<[Raw; 4]>,
    numbers: SmallVec<[Scalar; 4]>,
}

impl Program {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    fn push(&mut self, step: Step, dtype: Option<DType>) -> usize {
        self.steps.push(step);
        self.narrow.push(dtype.and_then(narrow));
        self.steps.len() - 1
    }

    pub(super) fn tensor(&mut self, raw: Raw) -> usize {
        let dtype = raw.dtype();
        self.tensors.push(raw);
        self.push(Step::Tensor(self.tensors.len() - 1), Some(dtype))
    }

    pub(super) fn number(&mut self, number: Scalar) -> usize {
        self.numbers.push(number);
        self.push(Step::Number(self.numbers.len() - 1), None)
    }

    pub(super) fn to(&mut self, dtype: DType, of: usize) -> usize {
        self.push(Step::To(dtype, of), Some(dtype))
    }

    /// An operator of steps that are no 16-bit floats; a step that is known is not computed.
    pub(super) fn apply(&mut self, op: Op, args: SmallVec<[usize; 3]>) -> usize {
        match folded(op, &args, |at| self.number_of(at)) {
            Some(Folded::Step(at)) => at,
            Some(Folded::Number(number)) => self.number(number),
            None => self.push(Step::Apply(op, args), None),
        }
    }

    /// An operator whose result has this dtype.
    pub(super) fn apply_as(
        &mut self,
        op: Op,
        args: SmallVec<[usize; 3]>,
        dtype: Option<DType>,
    ) -> usize {
        self.push(Step::Apply(op, args), dtype)
    }

    /// The dtype of a step that is a 16-bit float.
    pub(super) fn narrow(&self, at: usize) -> Option<DType> {
        self.narrow[at]
    }

    /// A step in `f32` where it is a 16-bit float.
    pub(super) fn widened(&mut self, at: usize) -> usize {
        match self.narrow[at] {
            Some(_) => self.to(DType::F32, at),
            None => at,
        }
    }

    /// The number that a step is.
    pub(super) fn number_of(&self, at: usize) -> Option<Scalar> {
        match self.steps[at] {
            Step::Number(of) => Some(self.numbers[of]),
            _ => None,
        }
    }

    /// What one step computes, over whose dims there may be a reduction; step by step where that is to be recorded.
    ///
    /// # Errors
    /// As the operators.
    pub(super) fn compute(
        &self,
        last: usize,
        over: Option<Reduction<'_>>,
        records: bool,
    ) -> Result<Raw> {
        if let Step::Tensor(at) = self.steps[last] {
            return over_of(self.tensors[at].clone(), over);
        }
        let numbers = &self.numbers[..];
        self.written(&[last], |nodes, read, _| match over {
            _ if records => over_of(stepwise(nodes, read, numbers)?, over),
            None => unrecorded(nodes, read, numbers),
            Some(by) => fused_reduce(nodes, read, numbers, None, by),
        })
    }

    /// What some steps compute, which have the same sizes: in one pass where the host computes them.
    ///
    /// # Errors
    /// As the operators.
    pub(super) fn compute_all(&self, steps: &[usize]) -> Result<SmallVec<[Raw; 4]>> {
        let mut apart: SmallVec<[usize; 4]> = steps.into();
        apart.retain(|&mut at| !matches!(self.steps[at], Step::Tensor(_)));
        apart.sort_unstable();
        apart.dedup();
        let mut found: SmallVec<[Raw; 4]> = SmallVec::new();
        if !apart.is_empty() {
            found = self.written(&apart, |nodes, read, places| {
                let also = &places[..places.len() - 1];
                let (last, others) = several(nodes, read, &self.numbers, also)?;
                Ok(others.into_iter().chain([last]).collect())
            })?;
        }
        let of = |&at: &usize| match (&self.steps[at], apart.binary_search(&at)) {
            (Step::Tensor(of), _) => Ok(self.tensors[*of].clone()),
            (_, Ok(place)) => Ok(found[place].clone()),
            (_, Err(_)) => self.compute(at, None, false),
        };
        steps.iter().map(of).collect()
    }

    /// Calls `f` with what some steps in order need, written out up to the last of them, the tensors that are read, and where
    /// these steps are.
    fn written<R>(
        &self,
        of: &[usize],
        f: impl FnOnce(&[Node<'_>], &[&Raw], &[usize]) -> Result<R>,
    ) -> Result<R> {
        let last = of.last().copied().unwrap_or(0);
        // Only what the steps read, whose sizes the results have.
        let mut live: SmallVec<[bool; 16]> = SmallVec::from_elem(false, last + 1);
        of.iter().for_each(|&at| live[at] = true);
        for (at, step) in self.steps[..=last].iter().enumerate().rev() {
            match step {
                Step::Apply(_, args) if live[at] => args.iter().for_each(|&arg| live[arg] = true),
                Step::To(_, of) if live[at] => live[*of] = true,
                _ => {}
            }
        }
        let place = |at: usize| live[..at].iter().filter(|live| **live).count();
        let args: SmallVec<[SmallVec<[usize; 3]>; 16]> = self.steps[..=last]
            .iter()
            .map(|step| match step {
                Step::Apply(_, args) => args.iter().map(|&arg| place(arg)).collect(),
                _ => SmallVec::new(),
            })
            .collect();
        let mut read: SmallVec<[&Raw; 4]> = SmallVec::new();
        let mut nodes: SmallVec<[Node<'_>; 16]> = SmallVec::new();
        let steps = self.steps[..=last].iter().enumerate();
        for (at, step) in steps.filter(|(at, _)| live[*at]) {
            nodes.push(match step {
                Step::Tensor(of) => {
                    read.push(&self.tensors[*of]);
                    Node::Tensor(read.len() - 1)
                }
                Step::Number(of) => Node::Scalar(*of),
                Step::To(dtype, of) => Node::To(*dtype, place(*of)),
                Step::Apply(op, _) => Node::Apply(*op, &args[at]),
            });
        }
        let places: SmallVec<[usize; 4]> = of.iter().map(|&at| place(at)).collect();
        f(&nodes, &read, &places)
    }
}

fn over_of(raw: Raw, over: Option<Reduction<'_>>) -> Result<Raw> {
    match over {
        None => Ok(raw),
        Some(Reduction { op, dims, keepdim }) => {
            reduce(op, &raw, dims, keepdim, ReduceOptions::default())
        }
    }
}

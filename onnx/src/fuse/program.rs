//! The program of a chain of elementwise operators.

use nomina::{DType, DynTensor, Scalar};
use nomina_core::op::Op;
use nomina_core::{Names, Result};
use nomina_runtime::call::{self, Node as Job};

/// A step of a program.
#[derive(Clone, Debug)]
enum Step {
    Tensor(usize),
    Number(usize),
    To(DType, usize),
    Apply(Op, Vec<usize>),
}

impl Step {
    fn job(&self) -> Job<'_> {
        match self {
            Step::Tensor(at) => Job::Tensor(*at),
            Step::Number(at) => Job::Scalar(*at),
            Step::To(dtype, operand) => Job::To(*dtype, *operand),
            Step::Apply(op, operands) => Job::Apply(*op, operands),
        }
    }
}

/// Elementwise operators on earlier steps; the last step is the result.
#[derive(Clone, Debug, Default)]
pub struct Program {
    steps: Vec<Step>,
    operands: usize,
    numbers: Vec<f64>,
}

impl Program {
    fn push(&mut self, step: Step) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Adds the next operand, and returns the index of its step.
    pub fn operand(&mut self) -> usize {
        self.operands += 1;
        self.push(Step::Tensor(self.operands - 1))
    }

    /// Adds a number, and returns the index of its step.
    pub fn number(&mut self, value: f64) -> usize {
        self.numbers.push(value);
        let at = self.numbers.len() - 1;
        self.push(Step::Number(at))
    }

    /// Adds an operator on earlier steps, and returns the index of its step.
    pub fn apply(&mut self, op: Op, operands: &[usize]) -> usize {
        self.push(Step::Apply(op, operands.to_vec()))
    }

    /// Adds a conversion of an earlier step, and returns the index of its step.
    pub fn to(&mut self, dtype: DType, operand: usize) -> usize {
        self.push(Step::To(dtype, operand))
    }

    /// Computes the program.
    ///
    /// # Errors
    /// If sizes do not broadcast, or memory is missing.
    pub fn run(&self, tensors: &[&DynTensor]) -> Result<DynTensor> {
        let jobs: Vec<Job<'_>> = self.steps.iter().map(Step::job).collect();
        let raws: Vec<_> = tensors.iter().map(|tensor| tensor.raw()).collect();
        let numbers: Vec<Scalar> = self.numbers.iter().map(|&n| Scalar::Float(n)).collect();
        let raw = call::fused(&jobs, &raws, &numbers)?;
        let rank = raw.rank();
        DynTensor::from_parts(raw, Names::unnamed(rank))
    }
}

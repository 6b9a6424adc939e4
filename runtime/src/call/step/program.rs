//! Optimizer steps as programs of fused operators, for devices, other dtypes and strided tensors.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::SmallVec;
use crate::call::fused;
use crate::job::{Formula, Node, StepNumber};
use crate::raw::Raw;

/// Computes the new parameter and state by one chain of operators each.
pub(super) fn programs<const K: usize>(
    param: Raw,
    grad: &Raw,
    state: &[Raw],
    by: impl Formula<K>,
) -> Result<(Raw, [Raw; K])> {
    let (param, grad) = (param.detach(), grad.clone().detach());
    let state: [Raw; K] = std::array::from_fn(|at| state[at].clone().detach());
    let mut tensors: SmallVec<[&Raw; 4]> = SmallVec::from_slice(&[&param, &grad]);
    tensors.extend(&state);
    let chain = ProgramBuilder::default();
    let [param, grad] = [0, 1].map(|at| chain.step(BuilderStep::Tensor(at)));
    let state: [TracedValue<'_>; K] =
        std::array::from_fn(|at| chain.step(BuilderStep::Tensor(2 + at)));
    let (param, state) = by.step(param, grad, state);
    let param = chain.compute(&param, &tensors)?;
    let mut computed: [Raw; K] = std::array::from_fn(|_| param.clone());
    for (to, value) in computed.iter_mut().zip(&state) {
        *to = chain.compute(value, &tensors)?;
    }
    Ok((param, computed))
}

/// A step of a program under construction.
#[derive(Clone, Copy)]
enum BuilderStep {
    Tensor(usize),
    Number(f64),
    Apply(Op, [usize; 2]),
    Map(Op, [usize; 1]),
}

/// A program under construction.
#[derive(Default)]
struct ProgramBuilder(RefCell<SmallVec<[BuilderStep; 32]>>);

impl ProgramBuilder {
    fn step(&self, step: BuilderStep) -> TracedValue<'_> {
        let mut steps = self.0.borrow_mut();
        steps.push(step);
        TracedValue {
            chain: self,
            at: steps.len() - 1,
        }
    }

    fn compute(&self, value: &TracedValue<'_>, tensors: &[&Raw]) -> Result<Raw> {
        let steps = self.0.borrow();
        let mut numbers: SmallVec<[Scalar; 16]> = SmallVec::new();
        let nodes = steps[..=value.at].iter().map(|step| match step {
            BuilderStep::Tensor(at) => Node::Tensor(*at),
            BuilderStep::Number(number) => {
                numbers.push(Scalar::Float(*number));
                Node::Scalar(numbers.len() - 1)
            }
            BuilderStep::Apply(op, args) => Node::Apply(*op, args),
            BuilderStep::Map(op, args) => Node::Apply(*op, args),
        });
        let program: SmallVec<[Node<'_>; 32]> = nodes.collect();
        fused(&program, tensors, &numbers)
    }
}

/// A value of a program under construction.
#[derive(Clone)]
struct TracedValue<'a> {
    chain: &'a ProgramBuilder,
    at: usize,
}

impl TracedValue<'_> {
    fn map(self, op: Op) -> Self {
        self.chain.step(BuilderStep::Map(op, [self.at]))
    }
}

macro_rules! traced {
    ($($op:ident $method:ident),*) => {$(
        impl $op for TracedValue<'_> {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                self.chain.step(BuilderStep::Apply(Op::$op, [self.at, other.at]))
            }
        }
    )*};
}
traced!(Add add, Sub sub, Mul mul, Div div);

impl StepNumber for TracedValue<'_> {
    fn times(self, factor: f64) -> Self {
        let factor = self.chain.step(BuilderStep::Number(factor));
        self * factor
    }
    fn plus(self, number: f64) -> Self {
        let number = self.chain.step(BuilderStep::Number(number));
        self + number
    }
    fn sqrt(self) -> Self {
        self.map(Op::Sqrt)
    }
    fn sign(self) -> Self {
        self.map(Op::Sign)
    }
    fn relu(self) -> Self {
        self.map(Op::Relu)
    }
}

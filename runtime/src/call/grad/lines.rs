//! The steps of lines, of rows that are elementwise or go over dims.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};
use num_complex::Complex64;

/// The gradient of one operand.
#[derive(Debug)]
pub(super) struct Line {
    /// Which operand.
    pub(super) operand: usize,
    /// The last step is the gradient; none where it has no derivative.
    pub(super) steps: &'static [Step],
    /// The steps of complex numbers, where they differ.
    complex: Option<&'static [Step]>,
    /// What the steps read, as bits: the operands by their places, and the result.
    reads: u8,
}

const RESULT: u8 = 1 << 7;

/// Set where the result is read by more than comparisons, so that its rounding counts.
const ROUNDED: u8 = 1 << 6;

impl Line {
    pub(super) const fn new(operand: usize, steps: &'static [Step]) -> Self {
        Self {
            operand,
            steps,
            complex: None,
            reads: reads(steps),
        }
    }

    /// A line with other steps for complex numbers than for real ones.
    pub(super) const fn by_kind(
        operand: usize,
        steps: &'static [Step],
        complex: &'static [Step],
    ) -> Self {
        Self {
            operand,
            steps,
            complex: Some(complex),
            reads: reads(steps) | reads(complex),
        }
    }

    /// The steps for operands that are complex, or are not.
    pub(super) fn steps_of(&self, complex: bool) -> &'static [Step] {
        match self.complex {
            Some(steps) if complex => steps,
            _ => self.steps,
        }
    }

    /// Whether its steps are elementwise operators of real numbers.
    pub(super) fn is_chain(&self) -> bool {
        let other = |step: &Step| {
            matches!(
                step,
                Step::Imaginary | Step::Spread(_) | Step::Count | Step::Over(..)
            )
        };
        !self.steps.is_empty() && !self.steps.iter().any(other)
    }

    pub(super) const fn reads_operand(&self, at: usize) -> bool {
        self.reads >> at & 1 == 1
    }

    pub(super) const fn reads_result(&self) -> bool {
        self.reads & RESULT != 0
    }

    /// Whether the rounding of a 16-bit result would show in the gradient, so that it is computed once more in `f32`.
    pub(super) const fn repeats_result(&self) -> bool {
        self.reads & ROUNDED != 0
    }
}

const fn reads(steps: &[Step]) -> u8 {
    let (mut reads, mut at) = (0, 0);
    while at < steps.len() {
        reads |= match steps[at] {
            Step::Operand(of) => {
                assert!(of < ROUNDED.ilog2() as usize);
                1 << of
            }
            Step::Result if is_rounded(steps, at) => RESULT | ROUNDED,
            Step::Result => RESULT,
            _ => 0,
        };
        at += 1;
    }
    reads
}

/// Whether a step is read by others than comparisons.
const fn is_rounded(steps: &[Step], of: usize) -> bool {
    let mut at = 0;
    while at < steps.len() {
        let read = match steps[at] {
            Step::Apply(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Isnan, _) => {
                false
            }
            Step::Apply(_, args) => {
                let (mut found, mut arg) = (false, 0);
                while arg < args.len() {
                    found |= args[arg] == of;
                    arg += 1;
                }
                found
            }
            Step::Conj(from) | Step::Real(from) | Step::Spread(from) | Step::Over(_, from, _) => {
                from == of
            }
            _ => false,
        };
        if read {
            return true;
        }
        at += 1;
    }
    false
}

/// The dtype of a 16-bit float, whose gradients are computed in `f32` and rounded once.
pub(super) fn narrow(dtype: DType) -> Option<DType> {
    matches!(dtype, DType::F16 | DType::BF16).then_some(dtype)
}

/// The result of an operator that needs no tensor.
pub(super) enum Folded {
    Number(Scalar),
    /// An earlier step, which was chosen.
    Step(usize),
}

/// An operator whose operands are numbers, or a choice by a number.
pub(super) fn folded(
    op: Op,
    args: &[usize],
    number: impl Fn(usize) -> Option<Scalar>,
) -> Option<Folded> {
    let (a, b) = match *args {
        [condition, a, b] if op == Op::Where => {
            let holds = number(condition)?.to_complex() != Complex64::ZERO;
            return Some(Folded::Step(if holds { a } else { b }));
        }
        [a, b] => (number(a)?, number(b)?),
        _ => return None,
    };
    if matches!(a, Scalar::Complex(_)) || matches!(b, Scalar::Complex(_)) {
        let (a, b) = (a.to_complex(), b.to_complex());
        return Some(Folded::Number(match op {
            Op::Add => Scalar::Complex(a + b),
            Op::Sub => Scalar::Complex(a - b),
            Op::Mul => Scalar::Complex(a * b),
            Op::Div => Scalar::Complex(a / b),
            Op::Eq => Scalar::Bool(a == b),
            _ => return None,
        }));
    }
    let (a, b) = (a.to_f64(), b.to_f64());
    Some(Folded::Number(match op {
        Op::Add => Scalar::Float(a + b),
        Op::Sub => Scalar::Float(a - b),
        Op::Mul => Scalar::Float(a * b),
        Op::Div => Scalar::Float(a / b),
        Op::Eq => Scalar::Bool(a == b),
        Op::Ge => Scalar::Bool(a >= b),
        Op::Gt => Scalar::Bool(a > b),
        Op::LogicalAnd => Scalar::Bool(a != 0.0 && b != 0.0),
        Op::LogicalOr => Scalar::Bool(a != 0.0 || b != 0.0),
        _ => return None,
    }))
}

/// A step of a line; steps name earlier ones by their places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Grad,
    Result,
    Operand(usize),
    Number(f64),
    /// The imaginary unit.
    Imaginary,
    Apply(Op, &'static [usize]),
    /// The conjugate; of real numbers themselves.
    Conj(usize),
    /// The real part; of real numbers themselves.
    Real(usize),
    /// A result of a reduction, with size 1 in the dims that went.
    Spread(usize),
    /// How many elements became one.
    Count,
    /// A reduction over the operator's dims, which stay with size 1, or stay as in its result.
    Over(Op, usize, bool),
}

/// What the signature says of a number of an elementwise operator that is left out.
pub(super) fn default(op: Op, operand: usize) -> Option<Scalar> {
    let (tensors, _) = op.row().expression()?;
    let number = op.row().numbers().nth(operand.checked_sub(tensors)?)?;
    number.default?.parse().ok().map(Scalar::Float)
}

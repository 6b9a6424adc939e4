//! The steps of lines, of rows that are elementwise or go over dims.

use nomina_core::Scalar;
use nomina_core::op::Op;

/// The gradient of one operand.
#[derive(Debug)]
pub(super) struct Line {
    /// Which operand.
    pub(super) operand: usize,
    /// The last step is the gradient; none where it has no derivative.
    pub(super) steps: &'static [Step],
    /// What the steps read, as bits: the operands by their places, and the result.
    reads: u8,
}

const RESULT: u8 = 1 << 7;

impl Line {
    pub(super) const fn new(operand: usize, steps: &'static [Step]) -> Self {
        let (mut reads, mut at) = (0, 0);
        while at < steps.len() {
            reads |= match steps[at] {
                Step::Operand(of) => {
                    assert!(of < RESULT.ilog2() as usize);
                    1 << of
                }
                Step::Result => RESULT,
                _ => 0,
            };
            at += 1;
        }
        Self {
            operand,
            steps,
            reads,
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

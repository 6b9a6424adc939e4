//! Derivatives as lines: expressions of elementwise operators and reductions, in steps.

use nomina_core::DType;
use nomina_core::op::Op;

/// The expression of one operand's gradient.
#[derive(Debug)]
pub(crate) struct Line {
    /// The operand's position.
    pub(crate) operand: usize,
    /// The steps, of which the last one is the gradient; empty if there is no derivative.
    pub(crate) steps: &'static [Step],
    /// The steps of complex numbers, if they differ.
    complex: Option<&'static [Step]>,
    /// A bit for each operand that the steps read, and one for the result.
    reads: u8,
}

const RESULT: u8 = 1 << 7;

/// Set if more than comparisons read the result, so that its rounding matters.
const ROUNDED: u8 = 1 << 6;

impl Line {
    pub(crate) const fn new(operand: usize, steps: &'static [Step]) -> Self {
        Self {
            operand,
            steps,
            complex: None,
            reads: reads(steps),
        }
    }

    /// A line whose steps differ for complex numbers.
    pub(crate) const fn by_kind(
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

    /// Returns the steps for complex or for real operands.
    pub(crate) fn steps_of(&self, complex: bool) -> &'static [Step] {
        match self.complex {
            Some(steps) if complex => steps,
            _ => self.steps,
        }
    }

    /// Whether all steps are elementwise operators of real numbers.
    pub(crate) fn is_chain(&self) -> bool {
        let other = |step: &Step| {
            matches!(
                step,
                Step::Imaginary | Step::Spread(_) | Step::Count | Step::Over(..)
            )
        };
        !self.steps.is_empty() && !self.steps.iter().any(other)
    }

    pub(crate) const fn reads_operand(&self, at: usize) -> bool {
        self.reads >> at & 1 == 1
    }

    pub(crate) const fn reads_result(&self) -> bool {
        self.reads & RESULT != 0
    }

    /// Whether rounding of a 16-bit result would affect the gradient, so that the result is computed again in `f32`.
    pub(crate) const fn repeats_result(&self) -> bool {
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

/// Whether more than comparisons read a step.
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

/// Returns the dtype if it is a 16-bit float, whose gradients are computed in `f32` and rounded once.
pub(crate) fn narrow(dtype: DType) -> Option<DType> {
    matches!(dtype, DType::F16 | DType::BF16).then_some(dtype)
}

/// A step of a line, which refers to earlier steps by position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Grad,
    Result,
    Operand(usize),
    Number(f64),
    /// The imaginary unit.
    Imaginary,
    Apply(Op, &'static [usize]),
    /// The conjugate; the identity of real numbers.
    Conj(usize),
    /// The real part; the identity of real numbers.
    Real(usize),
    /// The result of a reduction, with size 1 in the reduced dims.
    Spread(usize),
    /// The number of elements that were reduced to one.
    Count,
    /// A reduction over the operator's dims; the flag keeps them with size 1.
    Over(Op, usize, bool),
}

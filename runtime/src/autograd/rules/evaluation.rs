//! Evaluation of lines, in passes or step by step.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};
use num_complex::Complex64;

use super::folding::{Folded, default_number, fold_constants};
use super::program::Program;
use crate::SmallVec;
use crate::call::{
    Arg, FusedReduction, ReduceOptions, conjugated, full, pointwise, real, reduce, to_dtype,
};
use crate::raw::Raw;
use crate::tape::{Line, ReducedDims, Step, narrow};

/// An operand, as a line reads it.
#[derive(Clone, Copy)]
pub(super) enum LineOperand<'a> {
    Tensor(&'a Raw),
    Number(Scalar),
    /// No needed line reads the operand.
    Unread,
}

/// The most elements for which lines are computed step by step.
pub(super) const SMALL: usize = 1 << 10;

/// The values that a line reads.
pub(super) struct Evaluation<'a> {
    pub(super) op: Op,
    pub(super) grad: &'a Raw,
    pub(super) result: Option<&'a Raw>,
    pub(super) operands: &'a [LineOperand<'a>],
    pub(super) reduced: Option<&'a ReducedDims>,
}

impl Evaluation<'_> {
    /// Computes a line: in one pass for each sum, or step by step if it is recorded, small or complex. 16-bit floats are read as `f32`,
    /// and the gradient is rounded once.
    pub(super) fn compute(&self, line: &Line, records: bool) -> Result<Raw> {
        let is_complex = |raw: &Raw| raw.dtype().is_complex();
        let complex = is_complex(self.grad)
            || self.result.is_some_and(is_complex)
            || self.operands.iter().any(|operand| match *operand {
                LineOperand::Tensor(raw) => is_complex(raw),
                LineOperand::Number(number) => matches!(number, Scalar::Complex(_)),
                LineOperand::Unread => false,
            });
        let mut values: SmallVec<[KnownValue<'_>; 16]> = SmallVec::new();
        for step in line.steps_of(complex) {
            values.push(match *step {
                Step::Grad => KnownValue::Tensor(self.grad),
                Step::Result => match self.result {
                    Some(result) => KnownValue::Tensor(result),
                    None if line.repeats_result() && self.reduced.is_none() => KnownValue::Result,
                    None => return Err(self.unread()),
                },
                Step::Imaginary => KnownValue::Number(Scalar::Complex(Complex64::I)),
                Step::Number(number) => KnownValue::Number(Scalar::Float(number)),
                Step::Operand(at) => self.operand(at)?,
                Step::Apply(op, args) => match fold_constants(op, args, |at| number(&values, at)) {
                    Some(Folded::Number(number)) => KnownValue::Number(number),
                    Some(Folded::Step(at)) => KnownValue::Same(at),
                    None => KnownValue::Apply(op, args),
                },
                Step::Conj(at) => match number(&values, at) {
                    Some(Scalar::Complex(z)) => KnownValue::Number(Scalar::Complex(z.conj())),
                    Some(number) => KnownValue::Number(number),
                    None => KnownValue::Conj(at),
                },
                Step::Real(at) => match number(&values, at) {
                    Some(number) => KnownValue::Number(Scalar::Float(number.to_complex().re)),
                    None => KnownValue::Real(at),
                },
                Step::Spread(at) => KnownValue::Spread(at, self.reduced()?),
                Step::Count => KnownValue::Number(Scalar::Float(self.reduced()?.count)),
                Step::Over(op, at, keep) => KnownValue::Over(op, at, keep, self.reduced()?),
            });
        }
        let complex = complex
            || values
                .iter()
                .any(|value| matches!(value, KnownValue::Number(Scalar::Complex(_))));
        // A pass is worth its plan if the tensors between steps are large.
        let small = self.grad.numel() <= SMALL;
        let dtype = self.grad.dtype();
        let last = values.len().checked_sub(1);
        if let Some(number) = last.and_then(|last| number(&values, last)) {
            return full(self.grad.shape(), number, dtype, self.grad.device());
        }
        let found = if records || small || complex {
            self.stepwise(&values)?
        } else {
            self.in_passes(&values)?
        };
        match narrow(dtype) {
            Some(dtype) => to_dtype(&found, dtype),
            None => Ok(found),
        }
    }

    fn operand(&self, at: usize) -> Result<KnownValue<'_>> {
        Ok(match self.operands.get(at) {
            Some(&LineOperand::Tensor(raw)) => KnownValue::Tensor(raw),
            Some(&LineOperand::Number(number)) => KnownValue::Number(number),
            _ => KnownValue::Number(default_number(self.op, at).ok_or_else(|| self.unread())?),
        })
    }

    fn reduced(&self) -> Result<&ReducedDims> {
        self.reduced.ok_or_else(|| self.unread())
    }

    #[cold]
    fn unread(&self) -> Error {
        let what = "a line of its derivative reads an unsaved value";
        Error::new(ErrorKind::Argument, self.op.name(), what)
    }
}

/// A step, with its value if it is known.
#[derive(Clone, Copy)]
enum KnownValue<'a> {
    Tensor(&'a Raw),
    Number(Scalar),
    /// The operator's result, computed again.
    Result,
    /// An earlier step.
    Same(usize),
    Apply(Op, &'static [usize]),
    Conj(usize),
    Real(usize),
    Spread(usize, &'a ReducedDims),
    Over(Op, usize, bool, &'a ReducedDims),
}

/// Returns the number that a value is.
fn number(values: &[KnownValue<'_>], at: usize) -> Option<Scalar> {
    match *values.get(at)? {
        KnownValue::Number(number) => Some(number),
        KnownValue::Same(at) => number(values, at),
        _ => None,
    }
}

/// Converts a tensor to `f32` if it is a 16-bit float.
pub(super) fn widened(raw: &Raw) -> Result<Raw> {
    match narrow(raw.dtype()) {
        Some(_) => to_dtype(raw, DType::F32),
        None => Ok(raw.clone()),
    }
}

impl Evaluation<'_> {
    /// Computes real steps in one pass, and one more for each sum. Conjugates of real numbers are the identity.
    fn in_passes(&self, values: &[KnownValue<'_>]) -> Result<Raw> {
        let mut program = Program::default();
        let mut places: SmallVec<[usize; 16]> = SmallVec::new();
        let tensor = |program: &mut Program, raw: &Raw| {
            let at = program.tensor(raw.clone());
            program.widened(at)
        };
        for value in values {
            let place = match *value {
                KnownValue::Tensor(raw) => tensor(&mut program, raw),
                KnownValue::Number(number) => program.number(number),
                KnownValue::Result => {
                    let mut args: SmallVec<[usize; 3]> = SmallVec::new();
                    for operand in self.operands {
                        args.push(match *operand {
                            LineOperand::Tensor(raw) => tensor(&mut program, raw),
                            LineOperand::Number(number) => program.number(number),
                            LineOperand::Unread => return Err(self.unread()),
                        });
                    }
                    program.apply(self.op, args)
                }
                KnownValue::Same(at) => places[at],
                KnownValue::Apply(op, args) => {
                    program.apply(op, args.iter().map(|&at| places[at]).collect())
                }
                KnownValue::Conj(at) | KnownValue::Real(at) => places[at],
                KnownValue::Spread(at, reduced) => {
                    let raw = program.compute(places[at], None, false)?;
                    program.tensor(raw.reshape(&reduced.kept)?)
                }
                KnownValue::Over(op, at, keep, reduced) => {
                    let reduction = FusedReduction {
                        op,
                        dims: &reduced.dims,
                        keepdim: true,
                    };
                    let sum = program.compute(places[at], Some(reduction), false)?;
                    program.tensor(if keep {
                        sum
                    } else {
                        sum.reshape(&reduced.left)?
                    })
                }
            };
            places.push(place);
        }
        match places.last() {
            Some(&last) => program.compute(last, None, false),
            None => Err(no_tensor()),
        }
    }

    /// Computes operators step by step, so that they can be recorded.
    fn stepwise(&self, values: &[KnownValue<'_>]) -> Result<Raw> {
        let mut steps: SmallVec<[Result<Raw, Scalar>; 16]> = SmallVec::new();
        for value in values {
            steps.push(match *value {
                KnownValue::Tensor(raw) => Ok(widened(raw)?),
                KnownValue::Number(number) => Err(number),
                KnownValue::Result => {
                    let mut own: SmallVec<[Result<Raw, Scalar>; 3]> = SmallVec::new();
                    for operand in self.operands {
                        own.push(match *operand {
                            LineOperand::Tensor(raw) => Ok(widened(raw)?),
                            LineOperand::Number(number) => Err(number),
                            LineOperand::Unread => return Err(self.unread()),
                        });
                    }
                    let args: SmallVec<[Arg<'_>; 4]> = own.iter().map(arg).collect();
                    Ok(pointwise(self.op, &args)?)
                }
                KnownValue::Same(at) => steps[at].clone(),
                KnownValue::Conj(at) => match &steps[at] {
                    Ok(raw) => Ok(conjugated(raw)?),
                    Err(number) => Err(*number),
                },
                KnownValue::Real(at) => match &steps[at] {
                    Ok(raw) if raw.dtype().is_complex() => Ok(real(raw)?),
                    Ok(raw) => Ok(raw.clone()),
                    Err(number) => Err(Scalar::Float(number.to_complex().re)),
                },
                KnownValue::Spread(at, reduced) => match &steps[at] {
                    Ok(raw) => Ok(raw.reshape(&reduced.kept)?),
                    Err(number) => Err(*number),
                },
                KnownValue::Over(op, at, keep, reduced) => match &steps[at] {
                    Ok(raw) => {
                        let sum = reduce(op, raw, &reduced.dims, true, ReduceOptions::default())?;
                        Ok(if keep {
                            sum
                        } else {
                            sum.reshape(&reduced.left)?
                        })
                    }
                    Err(number) => Err(*number),
                },
                KnownValue::Apply(op, args) => {
                    let args: SmallVec<[Arg<'_>; 4]> =
                        args.iter().map(|&at| arg(&steps[at])).collect();
                    Ok(pointwise(op, &args)?)
                }
            });
        }
        match steps.pop() {
            Some(Ok(raw)) => Ok(raw),
            _ => Err(no_tensor()),
        }
    }
}

fn arg(step: &Result<Raw, Scalar>) -> Arg<'_> {
    match step {
        Ok(raw) => Arg::Tensor(raw),
        Err(number) => Arg::Scalar(*number),
    }
}

#[cold]
pub(super) fn no_tensor() -> Error {
    Error::new(ErrorKind::Argument, "backward", "a line gives no tensor")
}

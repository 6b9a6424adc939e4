//! Steps of lines, computed in passes or one by one.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};
use num_complex::Complex64;

use super::lines::{Folded, Line, Step, default, folded, narrow};
use super::program::Program;
use crate::SmallVec;
use crate::call::product::conjugated;
use crate::call::{Arg, ReduceOptions, Reduction, full, pointwise, real, reduce, to_dtype};
use crate::raw::Raw;
use crate::shape::{Shape, product as numel};

/// An operand as a line reads it.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    Tensor(&'a Raw),
    Number(Scalar),
    /// No line that is needed reads it.
    Unread,
}

/// Up to so many elements steps are computed one by one.
pub(super) const SMALL: usize = 1 << 10;

/// The dims that an operator goes over.
pub(in crate::call) struct Over {
    pub(super) dims: SmallVec<[usize; 8]>,
    /// The sizes of the operand, with size 1 in these dims, and those of the result.
    kept: Shape,
    left: Shape,
    /// How many elements of the operand there are for each of `kept`.
    count: f64,
}

impl Over {
    pub(in crate::call) fn new(x: &Raw, dims: &[usize], result: &Raw) -> Self {
        let mut kept = Shape::from_slice(x.shape());
        let mut sizes: SmallVec<[usize; 8]> = SmallVec::new();
        for &dim in dims {
            sizes.push(std::mem::replace(&mut kept[dim], 1));
        }
        Self {
            dims: dims.into(),
            kept,
            left: Shape::from_slice(result.shape()),
            count: numel(sizes) as f64,
        }
    }
}

/// What steps read.
pub(super) struct Read<'a> {
    pub(super) op: Op,
    pub(super) grad: &'a Raw,
    pub(super) result: Option<&'a Raw>,
    pub(super) operands: &'a [Operand<'a>],
    pub(super) over: Option<&'a Over>,
}

impl Read<'_> {
    /// The last step of a line: in as few passes as there are sums, or step by step where they are recorded or there are conjugates
    /// to take. 16-bit floats are read as `f32`, and the gradient is rounded once.
    pub(super) fn computed(&self, line: &Line, records: bool) -> Result<Raw> {
        let is_complex = |raw: &Raw| raw.dtype().is_complex();
        let complex = is_complex(self.grad)
            || self.result.is_some_and(is_complex)
            || self.operands.iter().any(|operand| match *operand {
                Operand::Tensor(raw) => is_complex(raw),
                Operand::Number(number) => matches!(number, Scalar::Complex(_)),
                Operand::Unread => false,
            });
        let mut values: SmallVec<[Value<'_>; 16]> = SmallVec::new();
        for step in line.steps_of(complex) {
            values.push(match *step {
                Step::Grad => Value::Tensor(self.grad),
                Step::Result => match self.result {
                    Some(result) => Value::Tensor(result),
                    None if line.repeats_result() && self.over.is_none() => Value::Result,
                    None => return Err(self.unread()),
                },
                Step::Imaginary => Value::Number(Scalar::Complex(Complex64::I)),
                Step::Number(number) => Value::Number(Scalar::Float(number)),
                Step::Operand(at) => self.operand(at)?,
                Step::Apply(op, args) => match folded(op, args, |at| number(&values, at)) {
                    Some(Folded::Number(number)) => Value::Number(number),
                    Some(Folded::Step(at)) => Value::Same(at),
                    None => Value::Apply(op, args),
                },
                Step::Conj(at) => match number(&values, at) {
                    Some(Scalar::Complex(z)) => Value::Number(Scalar::Complex(z.conj())),
                    Some(number) => Value::Number(number),
                    None => Value::Conj(at),
                },
                Step::Real(at) => match number(&values, at) {
                    Some(number) => Value::Number(Scalar::Float(number.to_complex().re)),
                    None => Value::Real(at),
                },
                Step::Spread(at) => Value::Spread(at, self.over()?),
                Step::Count => Value::Number(Scalar::Float(self.over()?.count)),
                Step::Over(op, at, keep) => Value::Over(op, at, keep, self.over()?),
            });
        }
        let complex = complex
            || values
                .iter()
                .any(|value| matches!(value, Value::Number(Scalar::Complex(_))));
        // A pass is worth its plan where what lies between steps is large.
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

    fn operand(&self, at: usize) -> Result<Value<'_>> {
        Ok(match self.operands.get(at) {
            Some(&Operand::Tensor(raw)) => Value::Tensor(raw),
            Some(&Operand::Number(number)) => Value::Number(number),
            _ => Value::Number(default(self.op, at).ok_or_else(|| self.unread())?),
        })
    }

    fn over(&self) -> Result<&Over> {
        self.over.ok_or_else(|| self.unread())
    }

    #[cold]
    fn unread(&self) -> Error {
        let what = "a line of its derivative reads what was not saved";
        Error::new(ErrorKind::Argument, self.op.name(), what)
    }
}

/// A step with its value, where it has one already.
#[derive(Clone, Copy)]
enum Value<'a> {
    Tensor(&'a Raw),
    Number(Scalar),
    /// The operator's result, computed once more.
    Result,
    /// An earlier step.
    Same(usize),
    Apply(Op, &'static [usize]),
    Conj(usize),
    Real(usize),
    Spread(usize, &'a Over),
    Over(Op, usize, bool, &'a Over),
}

/// The number that a value is.
fn number(values: &[Value<'_>], at: usize) -> Option<Scalar> {
    match *values.get(at)? {
        Value::Number(number) => Some(number),
        Value::Same(at) => number(values, at),
        _ => None,
    }
}

/// A tensor in `f32` where it is a 16-bit float.
pub(super) fn widened(raw: &Raw) -> Result<Raw> {
    match narrow(raw.dtype()) {
        Some(_) => to_dtype(raw, DType::F32),
        None => Ok(raw.clone()),
    }
}

impl Read<'_> {
    /// Real steps in one pass, and one more for each sum on the way: what is conjugated is what it was.
    fn in_passes(&self, values: &[Value<'_>]) -> Result<Raw> {
        let mut program = Program::default();
        let mut places: SmallVec<[usize; 16]> = SmallVec::new();
        let tensor = |program: &mut Program, raw: &Raw| {
            let at = program.tensor(raw.clone());
            program.widened(at)
        };
        for value in values {
            let place = match *value {
                Value::Tensor(raw) => tensor(&mut program, raw),
                Value::Number(number) => program.number(number),
                Value::Result => {
                    let mut args: SmallVec<[usize; 3]> = SmallVec::new();
                    for operand in self.operands {
                        args.push(match *operand {
                            Operand::Tensor(raw) => tensor(&mut program, raw),
                            Operand::Number(number) => program.number(number),
                            Operand::Unread => return Err(self.unread()),
                        });
                    }
                    program.apply(self.op, args)
                }
                Value::Same(at) => places[at],
                Value::Apply(op, args) => {
                    program.apply(op, args.iter().map(|&at| places[at]).collect())
                }
                Value::Conj(at) | Value::Real(at) => places[at],
                Value::Spread(at, over) => {
                    let raw = program.compute(places[at], None, false)?;
                    program.tensor(raw.reshape(&over.kept)?)
                }
                Value::Over(op, at, keep, over) => {
                    let by = Reduction {
                        op,
                        dims: &over.dims,
                        keepdim: true,
                    };
                    let sum = program.compute(places[at], Some(by), false)?;
                    program.tensor(if keep { sum } else { sum.reshape(&over.left)? })
                }
            };
            places.push(place);
        }
        match places.last() {
            Some(&last) => program.compute(last, None, false),
            None => Err(nothing()),
        }
    }

    /// Operators one by one, which are recorded.
    fn stepwise(&self, values: &[Value<'_>]) -> Result<Raw> {
        let mut steps: SmallVec<[Result<Raw, Scalar>; 16]> = SmallVec::new();
        for value in values {
            steps.push(match *value {
                Value::Tensor(raw) => Ok(widened(raw)?),
                Value::Number(number) => Err(number),
                Value::Result => {
                    let mut own: SmallVec<[Result<Raw, Scalar>; 3]> = SmallVec::new();
                    for operand in self.operands {
                        own.push(match *operand {
                            Operand::Tensor(raw) => Ok(widened(raw)?),
                            Operand::Number(number) => Err(number),
                            Operand::Unread => return Err(self.unread()),
                        });
                    }
                    let args: SmallVec<[Arg<'_>; 4]> = own.iter().map(arg).collect();
                    Ok(pointwise(self.op, &args)?)
                }
                Value::Same(at) => steps[at].clone(),
                Value::Conj(at) => match &steps[at] {
                    Ok(raw) => Ok(conjugated(raw)?),
                    Err(number) => Err(*number),
                },
                Value::Real(at) => match &steps[at] {
                    Ok(raw) if raw.dtype().is_complex() => Ok(real(raw)?),
                    Ok(raw) => Ok(raw.clone()),
                    Err(number) => Err(Scalar::Float(number.to_complex().re)),
                },
                Value::Spread(at, over) => match &steps[at] {
                    Ok(raw) => Ok(raw.reshape(&over.kept)?),
                    Err(number) => Err(*number),
                },
                Value::Over(op, at, keep, over) => match &steps[at] {
                    Ok(raw) => {
                        let sum = reduce(op, raw, &over.dims, true, ReduceOptions::default())?;
                        Ok(if keep { sum } else { sum.reshape(&over.left)? })
                    }
                    Err(number) => Err(*number),
                },
                Value::Apply(op, args) => {
                    let args: SmallVec<[Arg<'_>; 4]> =
                        args.iter().map(|&at| arg(&steps[at])).collect();
                    Ok(pointwise(op, &args)?)
                }
            });
        }
        match steps.pop() {
            Some(Ok(raw)) => Ok(raw),
            _ => Err(nothing()),
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
pub(super) fn nothing() -> Error {
    Error::new(ErrorKind::Argument, "backward", "a line gives no tensor")
}

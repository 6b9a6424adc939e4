//! Steps of lines, computed in passes or one by one.

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Result, Scalar};
use num_complex::Complex64;

use super::lines::{Step, default};
use super::program::Program;
use crate::SmallVec;
use crate::call::product::conjugated;
use crate::call::{Arg, ReduceOptions, Reduction, pointwise, real, reduce};
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
    /// The last step: in as few passes as there are sums, or step by step where they are recorded or there are conjugates to
    /// take.
    pub(super) fn computed(&self, steps: &'static [Step], records: bool) -> Result<Raw> {
        let mut values: SmallVec<[Value<'_>; 16]> = SmallVec::new();
        for step in steps {
            values.push(match *step {
                Step::Grad => Value::Tensor(self.grad),
                Step::Result => Value::Tensor(self.result.ok_or_else(|| self.unread())?),
                Step::Imaginary => Value::Number(Scalar::Complex(Complex64::I)),
                Step::Number(number) => Value::Number(Scalar::Float(number)),
                Step::Operand(at) => match self.operands.get(at) {
                    Some(&Operand::Tensor(raw)) => Value::Tensor(raw),
                    Some(&Operand::Number(number)) => Value::Number(number),
                    _ => Value::Number(default(self.op, at).ok_or_else(|| self.unread())?),
                },
                Step::Apply(op, args) => match folded(op, args, &values) {
                    Some(number) => Value::Number(number),
                    None => Value::Apply(op, args),
                },
                Step::Conj(at) => Value::Conj(at),
                Step::Real(at) => Value::Real(at),
                Step::Spread(at) => Value::Spread(at, self.over()?),
                Step::Count => Value::Number(Scalar::Float(self.over()?.count)),
                Step::Over(op, at, keep) => Value::Over(op, at, keep, self.over()?),
            });
        }
        let complex = |value: &Value<'_>| match value {
            Value::Tensor(raw) => raw.dtype().is_complex(),
            Value::Number(number) => matches!(number, Scalar::Complex(_)),
            _ => false,
        };
        // A pass is worth its plan where what lies between steps is large.
        let small = self.grad.numel() <= SMALL;
        match records || small || values.iter().any(complex) {
            false => in_passes(&values),
            true => stepwise(&values),
        }
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
    Apply(Op, &'static [usize]),
    Conj(usize),
    Real(usize),
    Spread(usize, &'a Over),
    Over(Op, usize, bool, &'a Over),
}

/// What is known before any tensor is.
fn folded(op: Op, args: &[usize], values: &[Value<'_>]) -> Option<Scalar> {
    let number = |&at: &usize| match values[at] {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    };
    let (a, b) = match args {
        [a, b] => (number(a)?, number(b)?),
        _ => return None,
    };
    Some(Scalar::Float(match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a * b,
        Op::Div => a / b,
        _ => return None,
    }))
}

/// Real steps in one pass, and one more for each sum on the way: what is conjugated is what it was.
fn in_passes(values: &[Value<'_>]) -> Result<Raw> {
    let mut program = Program::default();
    let mut places: SmallVec<[usize; 16]> = SmallVec::new();
    for value in values {
        places.push(match *value {
            Value::Tensor(raw) => program.tensor(raw.clone()),
            Value::Number(number) => program.number(number),
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
        });
    }
    match places.last() {
        Some(&last) => program.compute(last, None, false),
        None => Err(nothing()),
    }
}

#[cold]
pub(super) fn nothing() -> Error {
    Error::new(ErrorKind::Argument, "backward", "a line gives no tensor")
}

/// Operators one by one, which are recorded.
fn stepwise(values: &[Value<'_>]) -> Result<Raw> {
    let mut steps: SmallVec<[Result<Raw, Scalar>; 16]> = SmallVec::new();
    for value in values {
        steps.push(match *value {
            Value::Tensor(raw) => Ok(raw.clone()),
            Value::Number(number) => Err(number),
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
                let arg = |&at: &usize| match &steps[at] {
                    Ok(raw) => Arg::Tensor(raw),
                    Err(number) => Arg::Scalar(*number),
                };
                let args: SmallVec<[Arg<'_>; 4]> = args.iter().map(arg).collect();
                Ok(pointwise(op, &args)?)
            }
        });
    }
    match steps.pop() {
        Some(Ok(raw)) => Ok(raw),
        _ => Err(nothing()),
    }
}

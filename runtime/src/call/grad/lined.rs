//! What rows say about their derivatives in lines: of elementwise operators in one pass, over dims with sums.

use nomina_core::op::{Grad, Op};
use nomina_core::{Error, ErrorKind, Result, Scalar};
use num_complex::Complex64;

use super::generated::lines;
use super::lines::{Line, Step, default};
use super::never::refused;
use super::program::Program;
use super::{Target, has_gradient, never};
use crate::SmallVec;
use crate::call::pointwise::computed;
use crate::call::product::conjugated;
use crate::call::{Arg, ReduceOptions, Reduction, pointwise, real, reduce};
use crate::raw::Raw;
use crate::raw::graph::{Found, Given, Results, Rule, Run, is_wanted, record};
use crate::shape::{Shape, product as numel};

/// An operand as a line reads it.
pub(super) enum Operand {
    Tensor(Raw),
    Number(Scalar),
    /// No line that is needed reads it.
    Unread,
}

/// The dims that an operator goes over.
pub(in crate::call) struct Over {
    dims: SmallVec<[usize; 8]>,
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

struct Lined {
    op: Op,
    lines: &'static [Line],
    operands: SmallVec<[Operand; 3]>,
    result: Option<Raw>,
    targets: SmallVec<[Option<Target>; 3]>,
    over: Option<Over>,
}

/// An elementwise operator one of whose operands has a node.
#[cold]
pub(in crate::call) fn elementwise(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    lined(op, computed(op, args)?, args, |_| None)
}

/// The result of an operator over dims of its first operand, of which `numbers` are the others.
pub(in crate::call) fn over_dims(
    op: Op,
    result: Raw,
    x: &Raw,
    numbers: &[f64],
    dims: &[usize],
) -> Result<Raw> {
    if !is_wanted([x]) {
        return Ok(result);
    }
    let mut args: SmallVec<[Arg<'_>; 3]> = SmallVec::new();
    args.push(Arg::Tensor(x));
    args.extend(numbers.iter().map(|&number| Arg::Scalar(number.into())));
    lined(op, result, &args, |result| Some(Over::new(x, dims, result)))
}

/// A result with the lines of its row, if it has any.
fn lined(
    op: Op,
    result: Raw,
    args: &[Arg<'_>],
    over: impl FnOnce(&Raw) -> Option<Over>,
) -> Result<Raw> {
    let Some(lines) = lines(op).filter(|_| has_gradient(result.dtype())) else {
        let tensors = args.iter().filter_map(|arg| match *arg {
            Arg::Tensor(raw) => Some(raw),
            Arg::Scalar(_) => None,
        });
        return match op.row().grad {
            Grad::Never(_) => never(op, result, tensors.collect::<SmallVec<[&Raw; 3]>>()),
            _ => Ok(result),
        };
    };
    let wanted = |at: usize| matches!(args.get(at), Some(Arg::Tensor(raw)) if raw.requires_grad());
    let needed = || lines.iter().filter(|line| wanted(line.operand));
    let reads = |step: Step| needed().any(|line| line.steps.contains(&step));
    let operands = args.iter().enumerate().map(|(at, arg)| match *arg {
        _ if !reads(Step::Operand(at)) => Operand::Unread,
        Arg::Tensor(raw) => Operand::Tensor(raw.clone()),
        Arg::Scalar(number) => Operand::Number(number),
    });
    let rule = Lined {
        op,
        lines,
        operands: operands.collect(),
        result: reads(Step::Result).then(|| result.clone()),
        targets: args.iter().map(target).collect(),
        over: over(&result),
    };
    let tensors = args.iter().map(|arg| match *arg {
        Arg::Tensor(raw) => Some(raw),
        Arg::Scalar(_) => None,
    });
    record(result, tensors, rule)
}

fn target(arg: &Arg<'_>) -> Option<Target> {
    match *arg {
        Arg::Tensor(raw) if raw.requires_grad() => Some(Target::of(raw)),
        _ => None,
    }
}

impl Rule for Lined {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &Given, run: &Run<'_>) -> Result<Found> {
        let Some(Some(grad)) = given.first() else {
            return Ok(Found::new());
        };
        let saved = self.result.as_ref();
        let result = saved
            .map(|result| run.result(result, Results::One))
            .transpose()?;
        let mut found = Found::new();
        for (at, target) in self.targets.iter().enumerate() {
            let line = self.lines.iter().find(|line| line.operand == at);
            found.push(match (target, line) {
                (Some(_), Some(line)) if line.steps.is_empty() => return Err(refused(self.op)),
                (Some(target), Some(line)) => {
                    let grad = self.computed(line, grad, result.as_ref(), run.records())?;
                    let grad = match &self.over {
                        Some(_) => grad.expand(&target.shape)?,
                        None => grad,
                    };
                    Some(target.take(grad)?)
                }
                _ => None,
            });
        }
        Ok(found)
    }
}

impl Lined {
    fn computed(
        &self,
        line: &Line,
        grad: &Raw,
        result: Option<&Raw>,
        records: bool,
    ) -> Result<Raw> {
        let read = Read {
            op: self.op,
            grad,
            result,
            operands: &self.operands,
            over: self.over.as_ref(),
        };
        read.computed(line.steps, records)
    }
}

/// What steps read.
pub(super) struct Read<'a> {
    pub(super) op: Op,
    pub(super) grad: &'a Raw,
    pub(super) result: Option<&'a Raw>,
    pub(super) operands: &'a [Operand],
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
                    Some(Operand::Tensor(raw)) => Value::Tensor(raw),
                    Some(Operand::Number(number)) => Value::Number(*number),
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
        match records || values.iter().any(complex) {
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
fn nothing() -> Error {
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

//! What rows say about their derivatives in lines: of elementwise operators in one pass, over dims with sums.

use nomina_core::op::{Grad, Op};
use nomina_core::{Error, ErrorKind, Result, Scalar};
use num_complex::Complex64;

use super::generated::lines;
use super::lines::{Line, Step, default};
use super::never::refused;
use super::program::Program;
use super::rows::{Scales, row_gradient};
use super::{Target, has_gradient, never};
use crate::SmallVec;
use crate::call::alike::of_recorded;
use crate::call::pointwise::computed;
use crate::call::product::conjugated;
use crate::call::{Arg, ReduceOptions, Reduction, contiguous, pointwise, real, reduce};
use crate::job::RowGradient;
use crate::raw::Raw;
use crate::raw::graph::{Found, Given, Results, Rule, Run, is_wanted, record};
use crate::shape::{Shape, product as numel};

/// An operand as a line reads it.
#[derive(Clone, Copy)]
pub(super) enum Operand<'a> {
    Tensor(&'a Raw),
    Number(Scalar),
    /// No line that is needed reads it.
    Unread,
}

/// An operand as it is kept.
#[derive(Clone, Copy)]
enum Kept {
    /// By its place among what was saved.
    Saved(u8),
    Number(Scalar),
    Unread,
}

impl Kept {
    fn read(self, saved: &[Raw]) -> Operand<'_> {
        match self {
            Self::Saved(at) => Operand::Tensor(&saved[usize::from(at)]),
            Self::Number(number) => Operand::Number(number),
            Self::Unread => Operand::Unread,
        }
    }
}

/// Up to so many elements steps are computed one by one.
const SMALL: usize = 1 << 10;

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

/// An operator on up to two tensors like its result, and numbers: their gradients are like its own.
struct Alike<const SAVED: usize> {
    op: Op,
    operands: u8,
    wants: [bool; 2],
    lines: &'static [Line],
    kept: [Kept; 2],
    /// Operands, and behind them the result where a line reads it.
    saved: [Raw; SAVED],
}

/// Any other operator.
struct Lined {
    op: Op,
    lines: &'static [Line],
    kept: SmallVec<[Kept; 3]>,
    /// As above.
    saved: SmallVec<[Raw; 3]>,
    targets: SmallVec<[Option<Target>; 3]>,
    over: Option<Over>,
}

/// An elementwise operator one of whose operands has a node.
#[cold]
pub(in crate::call) fn elementwise(op: Op, args: &[Arg<'_>]) -> Result<Raw> {
    let result = match of_recorded(op, args) {
        Some(result) => result,
        None => computed(op, args)?,
    };
    lined(op, result, args, |_| None)
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
    let wants = |at: usize| matches!(args.get(at), Some(Arg::Tensor(raw)) if raw.requires_grad());
    let needed = || lines.iter().filter(|line| wants(line.operand));
    let own;
    let mut saved: SmallVec<[&Raw; 4]> = SmallVec::new();
    let mut keep = |at: usize| match args.get(at) {
        Some(arg) if needed().any(|line| line.reads_operand(at)) => match *arg {
            Arg::Tensor(raw) => {
                saved.push(raw);
                Kept::Saved(saved.len() as u8 - 1)
            }
            Arg::Scalar(number) => Kept::Number(number),
        },
        _ => Kept::Unread,
    };
    let tensors = args.iter().map(|arg| match *arg {
        Arg::Tensor(raw) => Some(raw),
        Arg::Scalar(_) => None,
    });
    let like = |arg: &Arg<'_>| match *arg {
        Arg::Tensor(raw) => raw.dtype() == result.dtype() && raw.shape() == result.shape(),
        Arg::Scalar(_) => true,
    };
    let over = over(&result);
    if over.is_none() && args.len() <= 2 && args.iter().all(like) {
        let kept = [keep(0), keep(1)];
        if needed().any(Line::reads_result) {
            own = result.clone();
            saved.push(&own);
        }
        macro_rules! alike {
            ($($at:literal),*) => {
                record(result, tensors, Alike {
                    op,
                    operands: args.len() as u8,
                    wants: [wants(0), wants(1)],
                    lines,
                    kept,
                    saved: [$(saved[$at].clone()),*],
                })
            };
        }
        return match saved.len() {
            0 => alike!(),
            1 => alike!(0),
            2 => alike!(0, 1),
            _ => alike!(0, 1, 2),
        };
    }
    let kept = (0..args.len()).map(&mut keep).collect();
    let mut saved: SmallVec<[Raw; 3]> = saved.into_iter().cloned().collect();
    if needed().any(Line::reads_result) {
        saved.push(result.clone());
    }
    let rule = Lined {
        op,
        lines,
        kept,
        saved,
        targets: args.iter().map(target).collect(),
        over,
    };
    record(result, tensors, rule)
}

fn target(arg: &Arg<'_>) -> Option<Target> {
    match *arg {
        Arg::Tensor(raw) if raw.requires_grad() => Some(Target::of(raw)),
        _ => None,
    }
}

impl<const SAVED: usize> Rule for Alike<SAVED> {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &Given, run: &Run<'_>) -> Result<Found> {
        let lines = Lines {
            op: self.op,
            lines: self.lines,
            operands: &self.kept.map(|kept| kept.read(&self.saved))[..self.operands.into()],
            saved: &self.saved,
            over: None,
        };
        lines.backward(given, run, |at, grad| match self.wants[at] {
            true => grad().map(Some),
            false => Ok(None),
        })
    }
}

impl Rule for Lined {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &Given, run: &Run<'_>) -> Result<Found> {
        let operands = self.kept.iter().map(|kept| kept.read(&self.saved));
        let operands: SmallVec<[Operand<'_>; 3]> = operands.collect();
        let lines = Lines {
            op: self.op,
            lines: self.lines,
            operands: &operands,
            saved: &self.saved,
            over: self.over.as_ref(),
        };
        lines.backward(given, run, |at, grad| {
            let Some(target) = &self.targets[at] else {
                return Ok(None);
            };
            let grad = match &self.over {
                Some(_) => repeated(&grad()?, &target.shape)?,
                None => grad()?,
            };
            target.take(grad).map(Some)
        })
    }
}

/// A gradient of these sizes. Small ones are written out, so that operators which follow take their short ways.
fn repeated(grad: &Raw, shape: &[usize]) -> Result<Raw> {
    let grad = grad.expand(shape)?;
    match grad.numel() <= SMALL {
        true => contiguous(&grad),
        false => Ok(grad),
    }
}

/// The lines of an operator, and what was kept for them.
struct Lines<'a> {
    op: Op,
    lines: &'static [Line],
    operands: &'a [Operand<'a>],
    /// The result is the last of it, where a line reads it.
    saved: &'a [Raw],
    over: Option<&'a Over>,
}

impl Lines<'_> {
    /// The gradients of the operands: `take` gets the place of each that has a line, and what computes the line.
    fn backward(
        &self,
        given: &Given,
        run: &Run<'_>,
        take: impl Fn(usize, &dyn Fn() -> Result<Raw>) -> Result<Option<Raw>>,
    ) -> Result<Found> {
        let Some(Some(grad)) = given.first() else {
            return Ok(Found::new());
        };
        let mut found = Found::new();
        for at in 0..self.operands.len() {
            let line = self.lines.iter().find(|line| line.operand == at);
            found.push(match line {
                Some(line) => take(at, &|| self.gradient(line, grad, run))?,
                None => None,
            });
        }
        Ok(found)
    }

    fn gradient(&self, line: &Line, grad: &Raw, run: &Run<'_>) -> Result<Raw> {
        let result = match (line.steps, self.saved.last()) {
            ([], _) => return Err(refused(self.op)),
            ([Step::Grad], _) => return Ok(grad.clone()),
            (_, Some(result)) if line.reads_result() => Some(run.result(result, Results::One)?),
            _ => None,
        };
        let by = match self.op {
            Op::Softmax => Some(RowGradient::Softmax),
            Op::LogSoftmax => Some(RowGradient::LogSoftmax),
            _ => None,
        };
        if let (Some(by), Some(over), Some(result)) = (by, self.over, &result)
            && !run.records()
            && let name = self.op.name()
            && let Some(found) =
                row_gradient(name, by, result, grad, &over.dims, Scales::default())?
        {
            return Ok(found);
        }
        let read = Read {
            op: self.op,
            grad,
            result: result.as_ref(),
            operands: self.operands,
            over: self.over,
        };
        read.computed(line.steps, run.records())
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

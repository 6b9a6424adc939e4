//! Derivatives that rows state as lines: of elementwise operators, and of those that go over dims.

use nomina_core::op::{Grad, Op};
use nomina_core::{Result, Scalar};

use super::deferred::{Deferred, LARGE};
use super::generated::lines;
use super::lines::{Line, Step, narrow};
use super::never::refused;
use super::read::{Operand, Over, Read, SMALL};
use super::rows::{Scales, row_gradient};
use super::{Target, has_gradient, never};
use crate::SmallVec;
use crate::call::alike::of_recorded;
use crate::call::pointwise::computed;
use crate::call::{Arg, contiguous};
use crate::job::RowGradient;
use crate::raw::Raw;
use crate::raw::graph::{
    Chains, Extended, Incoming, OperandGrads, ResultGrads, Results, Rule, Run, is_wanted, record,
};

/// An operand as it is kept.
#[derive(Clone, Copy)]
enum SavedOperand {
    /// By its place among what was saved.
    Saved(u8),
    Number(Scalar),
    Unread,
}

impl SavedOperand {
    fn read(self, saved: &[Raw]) -> Operand<'_> {
        match self {
            Self::Saved(at) => Operand::Tensor(&saved[usize::from(at)]),
            Self::Number(number) => Operand::Number(number),
            Self::Unread => Operand::Unread,
        }
    }
}

/// An operator on up to two tensors like its result, and numbers: their gradients are like its own.
struct Alike<const SAVED: usize> {
    op: Op,
    operands: u8,
    wants: [bool; 2],
    lines: &'static [Line],
    kept: [SavedOperand; 2],
    /// Operands, and behind them the result where a line reads it.
    saved: [Raw; SAVED],
}

/// Any other operator.
struct Lined {
    op: Op,
    lines: &'static [Line],
    kept: SmallVec<[SavedOperand; 3]>,
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
    let over = over(&result);
    // A 16-bit result is computed once more, in `f32`, from its operands.
    let repeats =
        over.is_none() && narrow(result.dtype()).is_some() && needed().any(Line::repeats_result);
    let keeps_result =
        needed().any(|line| line.reads_result() && !(repeats && line.repeats_result()));
    let own;
    let mut saved: SmallVec<[&Raw; 4]> = SmallVec::new();
    let mut keep = |at: usize| match args.get(at) {
        Some(arg) if repeats || needed().any(|line| line.reads_operand(at)) => match *arg {
            Arg::Tensor(raw) => {
                saved.push(raw);
                SavedOperand::Saved(saved.len() as u8 - 1)
            }
            Arg::Scalar(number) => SavedOperand::Number(number),
        },
        _ => SavedOperand::Unread,
    };
    let tensors = args.iter().map(|arg| match *arg {
        Arg::Tensor(raw) => Some(raw),
        Arg::Scalar(_) => None,
    });
    let like = |arg: &Arg<'_>| match *arg {
        Arg::Tensor(raw) => raw.dtype() == result.dtype() && raw.shape() == result.shape(),
        Arg::Scalar(_) => true,
    };
    if over.is_none() && args.len() <= 2 && args.iter().all(like) {
        let kept = [keep(0), keep(1)];
        if keeps_result {
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
    if keeps_result {
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

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let lines = Lines {
            op: self.op,
            lines: self.lines,
            operands: &self.kept.map(|kept| kept.read(&self.saved))[..self.operands.into()],
            saved: &self.saved,
            targets: &[],
            over: None,
        };
        lines.backward(given, run, |at, grad| {
            let (true, Some(Some(given))) = (self.wants[at], given.first()) else {
                return Ok(None);
            };
            let grad = grad()?;
            // That of a real operand may be complex on its way.
            match grad.dtype() == given.dtype() {
                true => Ok(Some(grad)),
                false => Target::of(given).take(grad).map(Some),
            }
        })
    }

    fn extend(&self, given: Incoming, _: &Run<'_>) -> Result<Extended> {
        let Some(lines) = self.chained(&given) else {
            return Ok(Extended::Not(given));
        };
        let kept = self.kept.map(|kept| kept.read(&self.saved));
        let operands = &kept[..self.operands.into()];
        let start = Deferred::new(given, lines.len() > 1)?;
        let mut chains = Chains::new();
        chains.resize_with(operands.len(), || None);
        for line in lines {
            let mut own = start.clone();
            own.extend(self.op, line, operands, self.saved.last())?;
            chains[line.operand] = Some(Box::new(own));
        }
        Ok(Extended::Chains(chains))
    }
}

impl<const SAVED: usize> Alike<SAVED> {
    /// The lines of the operands that are wanted, where all of them can go on in a chain.
    fn chained(&self, given: &Incoming) -> Option<SmallVec<[&'static Line; 2]>> {
        let grad = given.like();
        if grad.numel() < LARGE || !grad.dtype().is_float() || !grad.device().is_cpu() {
            return None;
        }
        let wants = |line: &&Line| self.wants.get(line.operand) == Some(&true);
        let wanted: SmallVec<[&Line; 2]> = self.lines.iter().filter(wants).collect();
        // What goes through as it is, is not computed for that.
        let moves = match given {
            Incoming::Chain(_) if wanted.len() == 1 => true,
            _ => wanted.iter().any(|line| line.steps != [Step::Grad]),
        };
        (moves && wanted.iter().all(|line| line.is_chain())).then_some(wanted)
    }
}

impl Rule for Lined {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let operands = self.kept.iter().map(|kept| kept.read(&self.saved));
        let operands: SmallVec<[Operand<'_>; 3]> = operands.collect();
        let lines = Lines {
            op: self.op,
            lines: self.lines,
            operands: &operands,
            saved: &self.saved,
            targets: &self.targets,
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
    /// None where all have the sizes of the result.
    targets: &'a [Option<Target>],
    over: Option<&'a Over>,
}

impl Lines<'_> {
    /// The gradients of the operands: `take` gets the place of each that has a line, and what computes the line.
    fn backward(
        &self,
        given: &ResultGrads,
        run: &Run<'_>,
        take: impl Fn(usize, &dyn Fn() -> Result<Raw>) -> Result<Option<Raw>>,
    ) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let mut found = OperandGrads::new();
        found.resize_with(self.operands.len(), || None);
        // Sums before all others: what is summed is a buffer that is gone when theirs are computed.
        let is_sum = |at: usize| match self.targets.get(at) {
            Some(Some(target)) => target.shape[..] != *grad.shape(),
            _ => false,
        };
        for sums in [true, false] {
            for line in self.lines {
                let at = line.operand;
                if at < found.len() && is_sum(at) == sums {
                    found[at] = take(at, &|| self.gradient(line, grad, run))?;
                }
            }
        }
        Ok(found)
    }

    fn gradient(&self, line: &Line, grad: &Raw, run: &Run<'_>) -> Result<Raw> {
        let result = match (line.steps, self.saved.last()) {
            ([], _) => return Err(refused(self.op)),
            ([Step::Grad], _) => return Ok(grad.clone()),
            (_, Some(result)) if line.reads_result() && !self.repeats(line, grad) => {
                Some(run.result(result, Results::One)?)
            }
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
        read.computed(line, run.records())
    }

    /// Whether a line reads the result as computed once more: `lined` kept the operands instead.
    fn repeats(&self, line: &Line, grad: &Raw) -> bool {
        self.over.is_none() && line.repeats_result() && narrow(grad.dtype()).is_some()
    }
}

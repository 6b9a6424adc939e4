//! Gradients of operators whose rows state derivatives as lines: elementwise operators, and those that reduce dims.

use nomina_core::Result;
use nomina_core::op::Op;

use super::deferred::{Deferred, LARGE};
use super::evaluation::{Evaluation, LineOperand, SMALL};
use crate::SmallVec;
use crate::call::{Scales, contiguous, row_gradient};
use crate::job::RowGradient;
use crate::raw::Raw;
use crate::raw::graph::{
    Chains, Extended, Incoming, OperandGrads, ResultGrads, Results, Rule, Run,
};
use crate::tape::{
    GradTarget, Line, LinesSaved, ReducedDims, SameShapeSaved, SavedOperand, Step, narrow,
    no_derivative,
};

impl SavedOperand {
    fn as_operand(self, saved: &[Raw]) -> LineOperand<'_> {
        match self {
            Self::Saved(at) => LineOperand::Tensor(&saved[usize::from(at)]),
            Self::Number(number) => LineOperand::Number(number),
            Self::Unread => LineOperand::Unread,
        }
    }
}

impl<const SAVED: usize> Rule for SameShapeSaved<SAVED> {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let lines = SavedLines {
            op: self.op,
            lines: self.lines,
            operands: &self.kept.map(|kept| kept.as_operand(&self.saved))[..self.operands.into()],
            saved: &self.saved,
            targets: &[],
            reduced: None,
        };
        lines.backward(given, run, |at, grad| {
            let (true, Some(Some(given))) = (self.wants[at], given.first()) else {
                return Ok(None);
            };
            let grad = grad()?;
            // The gradient of a real operand may be complex at first.
            if grad.dtype() == given.dtype() {
                Ok(Some(grad))
            } else {
                GradTarget::new(given).fit(grad).map(Some)
            }
        })
    }

    fn extend(&self, given: Incoming, _: &Run<'_>) -> Result<Extended> {
        let Some(lines) = self.chained_lines(&given) else {
            return Ok(Extended::Not(given));
        };
        let kept = self.kept.map(|kept| kept.as_operand(&self.saved));
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

impl<const SAVED: usize> SameShapeSaved<SAVED> {
    /// Returns the lines of the wanted operands, if all of them can continue a chain.
    fn chained_lines(&self, given: &Incoming) -> Option<SmallVec<[&'static Line; 2]>> {
        let grad = given.like();
        if grad.numel() < LARGE || !grad.dtype().is_float() || !grad.device().is_cpu() {
            return None;
        }
        let wants = |line: &&Line| self.wants.get(line.operand) == Some(&true);
        let wanted: SmallVec<[&Line; 2]> = self.lines.iter().filter(wants).collect();
        // A gradient that passes through unchanged is not computed for that.
        let moves = match given {
            Incoming::Chain(_) if wanted.len() == 1 => true,
            _ => wanted.iter().any(|line| line.steps != [Step::Grad]),
        };
        (moves && wanted.iter().all(|line| line.is_chain())).then_some(wanted)
    }
}

impl Rule for LinesSaved {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let operands = self.kept.iter().map(|kept| kept.as_operand(&self.saved));
        let operands: SmallVec<[LineOperand<'_>; 3]> = operands.collect();
        let lines = SavedLines {
            op: self.op,
            lines: self.lines,
            operands: &operands,
            saved: &self.saved,
            targets: &self.targets,
            reduced: self.reduced.as_ref(),
        };
        lines.backward(given, run, |at, grad| {
            let Some(target) = &self.targets[at] else {
                return Ok(None);
            };
            let grad = match &self.reduced {
                Some(_) => expand(&grad()?, &target.shape)?,
                None => grad()?,
            };
            target.fit(grad).map(Some)
        })
    }
}

/// Expands a gradient to `shape`. Small ones are copied, so that operators on them take their short ways.
fn expand(grad: &Raw, shape: &[usize]) -> Result<Raw> {
    let grad = grad.expand(shape)?;
    if grad.numel() <= SMALL {
        contiguous(&grad)
    } else {
        Ok(grad)
    }
}

/// The lines of an operator, and the values saved for them.
struct SavedLines<'a> {
    op: Op,
    lines: &'static [Line],
    operands: &'a [LineOperand<'a>],
    /// The saved tensors, of which the last is the result if a line reads it.
    saved: &'a [Raw],
    /// Empty if all operands have the sizes of the result.
    targets: &'a [Option<GradTarget>],
    reduced: Option<&'a ReducedDims>,
}

impl SavedLines<'_> {
    /// Computes the gradients of the operands. `take` gets the position of each operand that has a line, and a function that computes
    /// the line.
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
        // Sums are computed first, so that their buffers are free when the others are computed.
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
            ([], _) => return Err(no_derivative(self.op)),
            ([Step::Grad], _) => return Ok(grad.clone()),
            (_, Some(result)) if line.reads_result() && !self.repeats(line, grad) => {
                Some(run.result(result, Results::One)?)
            }
            _ => None,
        };
        let row_kernel = match self.op {
            Op::Softmax => Some(RowGradient::Softmax),
            Op::LogSoftmax => Some(RowGradient::LogSoftmax),
            _ => None,
        };
        if let (Some(kernel), Some(reduced), Some(result)) = (row_kernel, self.reduced, &result)
            && !run.records()
            && let name = self.op.name()
            && let Some(found) =
                row_gradient(name, kernel, result, grad, &reduced.dims, Scales::default())?
        {
            return Ok(found);
        }
        let values = Evaluation {
            op: self.op,
            grad,
            result: result.as_ref(),
            operands: self.operands,
            reduced: self.reduced,
        };
        values.compute(line, run.records())
    }

    /// Whether a line reads the result computed again: then the operands were saved instead.
    fn repeats(&self, line: &Line, grad: &Raw) -> bool {
        self.reduced.is_none() && line.repeats_result() && narrow(grad.dtype()).is_some()
    }
}

//! Deferred gradients of elementwise operators: lines are appended to one program until its result is needed.

use std::any::Any;

use nomina_core::Result;
use nomina_core::op::Op;

use super::chain::append_line;
use super::evaluation::{LineOperand, no_tensor};
use super::program::Program;
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::graph::{Chain, Incoming};
use crate::tape::{Line, Step};

/// The number of elements from which a pass over them costs more than its plan.
pub(super) const LARGE: usize = if cfg!(test) { 2 } else { 1 << 12 };

/// The most steps of a program before it is computed, so that its blocks stay in the first-level cache.
const MOST: usize = 32;

/// A program, and the step that is the gradient.
#[derive(Clone)]
pub(super) struct Deferred {
    program: Program,
    at: usize,
    /// The gradient at which the program starts; all others have its sizes and dtype.
    start: Raw,
}

impl Chain for Deferred {
    fn like(&self) -> &Raw {
        &self.start
    }

    fn compute(&self) -> Result<Raw> {
        self.program.compute(self.at, None, false)
    }

    fn plus(&mut self, other: Raw) {
        let args = [self.at, self.program.tensor(other)];
        let dtype = self.start.dtype();
        self.at = self
            .program
            .apply_as(Op::Add, args.into_iter().collect(), Some(dtype));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl Deferred {
    /// Continues a gradient, for `several` operands or for one.
    ///
    /// # Errors
    /// The errors of computing the gradient, if it cannot be continued as it is.
    pub(super) fn new(given: Incoming, several: bool) -> Result<Self> {
        let start = match given {
            Incoming::Computed(raw) => raw,
            Incoming::Chain(chain) => match (&*chain as &dyn Any).is::<Self>() {
                // Another kind of chain is computed.
                false => chain.compute()?,
                true => match chain.into_any().downcast::<Self>() {
                    Ok(own) if !several && own.program.len() < MOST => return Ok(*own),
                    Ok(own) => own.compute()?,
                    Err(_) => return Err(no_tensor()),
                },
            },
        };
        let mut program = Program::default();
        let at = program.tensor(start.clone());
        Ok(Self { program, at, start })
    }

    /// Appends the line of an operand of `op`.
    ///
    /// # Errors
    /// If the line is not elementwise.
    pub(super) fn extend(
        &mut self,
        op: Op,
        line: &Line,
        operands: &[LineOperand<'_>],
        result: Option<&Raw>,
    ) -> Result<()> {
        if let [Step::Grad] = line.steps {
            return Ok(());
        }
        let program = &mut self.program;
        // The result is computed again if its rounding would affect the gradient.
        let repeats = line.repeats_result() && program.narrow(self.at).is_some();
        let result = result.filter(|_| line.reads_result() && !repeats);
        let result = result.map_or(0, |result| program.tensor(result.clone()));
        let each = operands.iter().enumerate();
        let args: SmallVec<[usize; 3]> = each
            .map(|(at, operand)| match *operand {
                LineOperand::Tensor(raw) if line.reads_operand(at) || repeats => {
                    program.tensor(raw.clone())
                }
                LineOperand::Number(number) => program.number(number),
                LineOperand::Tensor(_) | LineOperand::Unread => 0,
            })
            .collect();
        self.at = append_line(program, (op, line), self.at, result, &args)?;
        Ok(())
    }
}

//! Gradients of elementwise operators that are computed together: what one line gives goes into the next one's, until somebody
//! else asks for it.

use std::any::Any;

use nomina_core::Result;
use nomina_core::op::Op;

use super::fused::write;
use super::lines::{Line, Step};
use super::program::Program;
use super::read::Operand;
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::graph::{Chain, Incoming};

/// From so many elements on a pass over them costs more than its plan.
pub(super) const LARGE: usize = if cfg!(test) { 2 } else { 1 << 12 };

/// Steps of a program that is computed before it grows further: its blocks are to stay in the cache near the core.
const MOST: usize = 32;

/// A program and the step that is the gradient.
#[derive(Clone)]
pub(super) struct Deferred {
    program: Program,
    at: usize,
    /// The gradient that it starts from, which has the sizes and the dtype of all others.
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
    /// What goes on from a gradient, for `several` operands or for one.
    ///
    /// # Errors
    /// Those of computing it where it does not go on as it is.
    pub(super) fn new(given: Incoming, several: bool) -> Result<Self> {
        let start = match given {
            Incoming::Computed(raw) => raw,
            Incoming::Chain(chain) => match (&*chain as &dyn Any).is::<Self>() {
                // What somebody else computes is waited for.
                false => chain.compute()?,
                true => match chain.into_any().downcast::<Self>() {
                    Ok(own) if !several && own.program.len() < MOST => return Ok(*own),
                    Ok(own) => own.compute()?,
                    Err(_) => return Err(super::read::nothing()),
                },
            },
        };
        let mut program = Program::default();
        let at = program.tensor(start.clone());
        Ok(Self { program, at, start })
    }

    /// The gradient of an operand of `op`, by its line.
    ///
    /// # Errors
    /// When the line is no chain.
    pub(super) fn extend(
        &mut self,
        op: Op,
        line: &Line,
        operands: &[Operand<'_>],
        result: Option<&Raw>,
    ) -> Result<()> {
        if let [Step::Grad] = line.steps {
            return Ok(());
        }
        let program = &mut self.program;
        // Written as a step of its own where its rounding would show.
        let repeats = line.repeats_result() && program.narrow(self.at).is_some();
        let result = result.filter(|_| line.reads_result() && !repeats);
        let result = result.map_or(0, |result| program.tensor(result.clone()));
        let each = operands.iter().enumerate();
        let args: SmallVec<[usize; 3]> = each
            .map(|(at, operand)| match *operand {
                Operand::Tensor(raw) if line.reads_operand(at) || repeats => {
                    program.tensor(raw.clone())
                }
                Operand::Number(number) => program.number(number),
                Operand::Tensor(_) | Operand::Unread => 0,
            })
            .collect();
        self.at = write(program, (op, line), self.at, result, &args)?;
        Ok(())
    }
}

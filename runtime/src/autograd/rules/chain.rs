//! The gradients of chains, which are chains too, one for each operand.

use nomina_core::op::{Grad, Op};
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::folding::default_number;
use super::program::Program;
use crate::SmallVec;
use crate::call::FusedReduction;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};
use crate::tape::{ChainSaved, ChainStep, Line, Step, has_gradient, lines, narrow, no_derivative};

impl Rule for ChainSaved {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let (program, found) = self.derived(grad, run.records())?;
        let wanted = || self.targets.iter().zip(&found);
        // Gradients of whole operands are computed together; the sum of one may be the gradient of a repeated operand.
        let mut whole: SmallVec<[usize; 4]> = SmallVec::new();
        if !run.records() {
            whole.extend(wanted().filter_map(|(target, at)| {
                let target = target.as_ref()?;
                at.filter(|_| self.repeated_dims(&target.shape).is_empty())
            }));
        }
        let computed = program.compute_all(&whole)?;
        let mut grads = OperandGrads::new();
        for (target, at) in wanted() {
            grads.push(match (target, *at) {
                (Some(target), Some(at)) => {
                    let dims = self.repeated_dims(&target.shape);
                    let sum = FusedReduction {
                        op: Op::Sum,
                        dims: &dims,
                        keepdim: true,
                    };
                    let sum = (!dims.is_empty()).then_some(sum);
                    let grad = match whole.iter().position(|&other| other == at) {
                        Some(place) => computed[place].clone(),
                        None => program.compute(at, sum, run.records())?,
                    };
                    Some(target.fit(grad)?)
                }
                _ => None,
            });
        }
        Ok(grads)
    }
}

impl ChainSaved {
    /// Returns the dims along which a tensor of these sizes is repeated.
    fn repeated_dims(&self, shape: &[usize]) -> SmallVec<[usize; 8]> {
        let new = self.shape.len() - shape.len();
        let own = |dim: usize| dim.checked_sub(new).map(|dim| shape[dim]);
        let dims = 0..self.shape.len();
        dims.filter(|&dim| own(dim) != Some(self.shape[dim]))
            .collect()
    }

    /// Returns the dtype of a step that is a 16-bit float.
    fn narrow(&self, step: usize) -> Option<DType> {
        self.dtypes.get(step).copied().and_then(narrow)
    }

    /// Converts a gradient to the dtype of its step.
    fn rounded(&self, program: &mut Program, grad: usize, step: usize) -> usize {
        match self.dtypes.get(step) {
            Some(&dtype) if program.narrow(grad) != narrow(dtype) => program.to(dtype, grad),
            _ => grad,
        }
    }

    /// Returns the program extended by the gradients of its tensors, and the step of each.
    fn derived(&self, grad: &Raw, records: bool) -> Result<(Program, Vec<Option<usize>>)> {
        let mut program = Program::default();
        let mut wanted: Vec<bool> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            let (wants, _) = match step {
                ChainStep::Tensor(at) => (
                    self.targets[*at].is_some(),
                    program.tensor(self.tensors[*at].clone()),
                ),
                ChainStep::Number(number) => (false, program.number(*number)),
                ChainStep::To(dtype, of) => {
                    (wanted[*of] && has_gradient(*dtype), program.to(*dtype, *of))
                }
                ChainStep::Apply(op, args) => {
                    let saved = self.saved.iter().find(|(step, _)| *step == at && !records);
                    let own = match saved {
                        Some((_, saved)) => program.tensor(saved.clone()),
                        None => program.apply_as(*op, args.clone(), self.narrow(at)),
                    };
                    (args.iter().any(|&arg| wanted[arg]), own)
                }
            };
            wanted.push(wants);
        }
        // The gradient of each step so far.
        let mut grads: Vec<Option<usize>> = vec![None; self.steps.len()];
        if let Some(last) = grads.last_mut() {
            *last = Some(program.tensor(grad.clone()));
        }
        let mut found = vec![None; self.tensors.len()];
        for (at, step) in self.steps.iter().enumerate().rev() {
            let Some(grad) = grads[at].filter(|_| wanted[at]) else {
                continue;
            };
            match step {
                ChainStep::Number(_) => {}
                ChainStep::Tensor(of) => {
                    found[*of] = Some(add_step(&mut program, found[*of], grad))
                }
                ChainStep::To(_, of) => {
                    let grad = self.rounded(&mut program, grad, *of);
                    grads[*of] = Some(add_step(&mut program, grads[*of], grad));
                }
                ChainStep::Apply(op, args) => {
                    for (operand, &arg) in args.iter().enumerate().filter(|(_, arg)| wanted[**arg])
                    {
                        let Some(line) = find_line(*op, operand)? else {
                            continue;
                        };
                        let own = append_line(&mut program, (*op, line), grad, at, args)?;
                        let own = self.rounded(&mut program, own, arg);
                        grads[arg] = Some(add_step(&mut program, grads[arg], own));
                    }
                }
            }
        }
        Ok((program, found))
    }
}

fn add_step(program: &mut Program, before: Option<usize>, more: usize) -> usize {
    match before {
        None => more,
        Some(before) => {
            let dtype = program.narrow(before);
            program.apply_as(Op::Add, [before, more].into_iter().collect(), dtype)
        }
    }
}

fn find_line(op: Op, operand: usize) -> Result<Option<&'static Line>> {
    if matches!(op.row().grad, Grad::Never(_)) {
        return Err(no_derivative(op));
    }
    let line = lines(op).and_then(|lines| lines.iter().find(|line| line.operand == operand));
    match line {
        Some(line) if line.steps.is_empty() => Err(no_derivative(op)),
        line => Ok(line),
    }
}

/// Appends a line of real numbers to the program. 16-bit floats are computed in `f32` and rounded once.
pub(super) fn append_line(
    program: &mut Program,
    (op, line): (Op, &Line),
    grad: usize,
    result: usize,
    args: &[usize],
) -> Result<usize> {
    if let [Step::Grad] = line.steps {
        return Ok(grad);
    }
    let dtype = program.narrow(grad);
    let mut at: SmallVec<[usize; 16]> = SmallVec::new();
    for step in line.steps {
        at.push(match *step {
            Step::Grad => program.widened(grad),
            Step::Result if dtype.is_some() && line.repeats_result() => {
                let args = args.iter().map(|&arg| program.widened(arg)).collect();
                program.apply(op, args)
            }
            Step::Result => program.widened(result),
            Step::Operand(of) => match (args.get(of), default_number(op, of)) {
                (Some(&arg), _) => program.widened(arg),
                (None, Some(number)) => program.number(number),
                (None, None) => return Err(no_derivative(op)),
            },
            Step::Number(number) => program.number(Scalar::Float(number)),
            Step::Apply(of, from) => program.apply(of, from.iter().map(|&of| at[of]).collect()),
            Step::Conj(of) | Step::Real(of) => at[of],
            Step::Imaginary | Step::Spread(_) | Step::Count | Step::Over(..) => {
                let what = "chains lack this derivative";
                return Err(Error::new(ErrorKind::Gradient, "fuse", what)
                    .hint("compute it outside of `fuse!`"));
            }
        });
    }
    let last = at.last().copied().unwrap_or(grad);
    let last = match program.number_of(last) {
        // Broadcasts the number to all elements.
        Some(_) => program.apply(Op::Clamp, [grad, last, last].into_iter().collect()),
        None => last,
    };
    Ok(match dtype {
        Some(dtype) => program.to(dtype, last),
        None => last,
    })
}

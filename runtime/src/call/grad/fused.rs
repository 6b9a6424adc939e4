//! Chains that were computed in one pass, as one node: its gradients are chains, too, one for each operand.

use nomina_core::op::{Grad, Op};
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::generated::lines;
use super::lines::{Line, Step, default, narrow};
use super::never::refused;
use super::program::Program;
use super::{Target, has_gradient};
use crate::SmallVec;
use crate::call::Reduction;
use crate::call::fused::{several, unrecorded};
use crate::job::Node;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run, record};
use crate::shape::{Shape, broadcast, count};

/// A step of a program as it is kept.
enum OwnedNode {
    Tensor(usize),
    Number(Scalar),
    /// Its operand and, where it applies an operator, the operator and all operands.
    To(DType, usize),
    Apply(Op, SmallVec<[usize; 3]>),
}

struct Fused {
    op: Op,
    steps: Vec<OwnedNode>,
    tensors: Vec<Raw>,
    targets: Vec<Option<Target>>,
    shape: Shape,
    /// What steps computed that take longer to compute than to read.
    saved: Vec<(usize, Raw)>,
    /// The dtype of each step where some are 16-bit floats, else none.
    dtypes: Vec<DType>,
}

/// From so many elements on, what some steps compute is kept.
const MANY: usize = 1 << 12;

/// Whether an operator takes longer to compute than its result to read.
fn is_slow(op: Op) -> bool {
    use Op::{
        Abs, Add, Clamp, Eq, Ge, Gt, Le, Lt, Maximum, Minimum, Mul, Ne, Neg, Relu, Sign, Square,
        Sub, Where,
    };
    !matches!(
        op,
        Abs | Add
            | Clamp
            | Eq
            | Ge
            | Gt
            | Le
            | Lt
            | Maximum
            | Minimum
            | Mul
            | Ne
            | Neg
            | Relu
            | Sign
            | Square
            | Sub
            | Where
    )
}

/// The steps of a program whose results its lines read, and that are slow: none of what is small, nor where each would be a
/// kernel of its own.
fn kept(program: &[Node<'_>], tensors: &[&Raw]) -> Result<SmallVec<[usize; 2]>> {
    let shapes: SmallVec<[&[usize]; 4]> = tensors.iter().map(|raw| raw.shape()).collect();
    let shape = broadcast("fuse", &shapes)?;
    let mut kept = SmallVec::new();
    if count(&shape) < MANY || !tensors.iter().all(|raw| raw.device().is_cpu()) {
        return Ok(kept);
    }
    // Of the whole sizes, and with a gradient.
    let mut of: SmallVec<[(bool, bool); 16]> = SmallVec::new();
    for node in program {
        let from = |args: &[usize]| {
            let args = || args.iter().map(|&arg| of[arg]);
            (args().any(|arg| arg.0), args().any(|arg| arg.1))
        };
        let own = match *node {
            Node::Tensor(at) => (
                tensors[at].shape() == &shape[..],
                tensors[at].requires_grad(),
            ),
            Node::Scalar(_) => (false, false),
            Node::To(_, of) => from(&[of]),
            Node::Apply(_, args) => from(args),
        };
        of.push(own);
    }
    let reads = |(at, node): (usize, &Node<'_>), step: usize| match *node {
        Node::Apply(op, args) => lines(op).into_iter().flatten().any(|line| {
            let wanted = args.get(line.operand).is_some_and(|&arg| of[arg].1);
            let read = |read: &Step| match *read {
                Step::Result => at == step,
                Step::Operand(operand) => args.get(operand) == Some(&step),
                _ => false,
            };
            wanted && line.steps.iter().any(read)
        }),
        _ => false,
    };
    for (at, node) in program.iter().enumerate() {
        let slow = matches!(*node, Node::Apply(op, _) if is_slow(op)) && of[at].0;
        if slow && program.iter().enumerate().any(|node| reads(node, at)) {
            kept.push(at);
        }
    }
    Ok(kept)
}

/// The result of a program of real numbers, with the dtype of each step where some are 16-bit floats.
pub(in crate::call) fn chained(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    dtypes: Vec<DType>,
) -> Result<Raw> {
    let kept = kept(program, tensors)?;
    let last = program.len().saturating_sub(1);
    let also: SmallVec<[usize; 2]> = kept.iter().copied().filter(|&at| at < last).collect();
    let (out, others) = match also.is_empty() {
        true => (unrecorded(program, tensors, numbers)?, SmallVec::new()),
        false => several(program, tensors, numbers, &also)?,
    };
    if !has_gradient(out.dtype()) {
        return Ok(out);
    }
    let mut saved: Vec<(usize, Raw)> = also.into_iter().zip(others).collect();
    if kept.last() == Some(&last) {
        saved.push((last, out.clone()));
    }
    let steps = program.iter().map(|node| match *node {
        Node::Tensor(at) => OwnedNode::Tensor(at),
        Node::Scalar(at) => OwnedNode::Number(numbers[at]),
        Node::To(dtype, of) => OwnedNode::To(dtype, of),
        Node::Apply(op, args) => OwnedNode::Apply(op, args.into()),
    });
    let op = program.iter().rev().find_map(|node| match *node {
        Node::Apply(op, _) => Some(op),
        _ => None,
    });
    let rule = Fused {
        op: op.unwrap_or(Op::Clone),
        steps: steps.collect(),
        tensors: tensors.iter().map(|&raw| raw.clone()).collect(),
        targets: tensors
            .iter()
            .map(|raw| raw.requires_grad().then(|| Target::of(raw)))
            .collect(),
        shape: Shape::from_slice(out.shape()),
        saved,
        dtypes,
    };
    record(out, tensors.iter().map(|&raw| Some(raw)), rule)
}

impl Rule for Fused {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let Some(Some(grad)) = given.first() else {
            return Ok(OperandGrads::new());
        };
        let (program, found) = self.derived(grad, run.records())?;
        let wanted = || self.targets.iter().zip(&found);
        // Those of whole operands together; the same, summed, may be that of one that is repeated.
        let mut whole: SmallVec<[usize; 4]> = SmallVec::new();
        if !run.records() {
            whole.extend(wanted().filter_map(|(target, at)| {
                let target = target.as_ref()?;
                at.filter(|_| self.repeated(&target.shape).is_empty())
            }));
        }
        let computed = program.compute_all(&whole)?;
        let mut grads = OperandGrads::new();
        for (target, at) in wanted() {
            grads.push(match (target, *at) {
                (Some(target), Some(at)) => {
                    let dims = self.repeated(&target.shape);
                    let over = Reduction {
                        op: Op::Sum,
                        dims: &dims,
                        keepdim: true,
                    };
                    let over = (!dims.is_empty()).then_some(over);
                    let grad = match whole.iter().position(|&other| other == at) {
                        Some(place) => computed[place].clone(),
                        None => program.compute(at, over, run.records())?,
                    };
                    Some(target.take(grad)?)
                }
                _ => None,
            });
        }
        Ok(grads)
    }
}

impl Fused {
    /// The dims along which a tensor of these sizes is repeated.
    fn repeated(&self, shape: &[usize]) -> SmallVec<[usize; 8]> {
        let new = self.shape.len() - shape.len();
        let own = |dim: usize| dim.checked_sub(new).map(|dim| shape[dim]);
        let dims = 0..self.shape.len();
        dims.filter(|&dim| own(dim) != Some(self.shape[dim]))
            .collect()
    }

    /// The dtype of a step that is a 16-bit float.
    fn narrow(&self, step: usize) -> Option<DType> {
        self.dtypes.get(step).copied().and_then(narrow)
    }

    /// A gradient in the dtype of the step that it is of.
    fn rounded(&self, program: &mut Program, grad: usize, step: usize) -> usize {
        match self.dtypes.get(step) {
            Some(&dtype) if program.narrow(grad) != narrow(dtype) => program.to(dtype, grad),
            _ => grad,
        }
    }

    /// The program, and behind it the gradients of its tensors: where each stands.
    fn derived(&self, grad: &Raw, records: bool) -> Result<(Program, Vec<Option<usize>>)> {
        let mut program = Program::default();
        let mut wanted: Vec<bool> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            let (wants, _) = match step {
                OwnedNode::Tensor(at) => (
                    self.targets[*at].is_some(),
                    program.tensor(self.tensors[*at].clone()),
                ),
                OwnedNode::Number(number) => (false, program.number(*number)),
                OwnedNode::To(dtype, of) => {
                    (wanted[*of] && has_gradient(*dtype), program.to(*dtype, *of))
                }
                OwnedNode::Apply(op, args) => {
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
        // What has come for each step so far.
        let mut come: Vec<Option<usize>> = vec![None; self.steps.len()];
        if let Some(last) = come.last_mut() {
            *last = Some(program.tensor(grad.clone()));
        }
        let mut found = vec![None; self.tensors.len()];
        for (at, step) in self.steps.iter().enumerate().rev() {
            let Some(grad) = come[at].filter(|_| wanted[at]) else {
                continue;
            };
            match step {
                OwnedNode::Number(_) => {}
                OwnedNode::Tensor(of) => found[*of] = Some(sum(&mut program, found[*of], grad)),
                OwnedNode::To(_, of) => {
                    let grad = self.rounded(&mut program, grad, *of);
                    come[*of] = Some(sum(&mut program, come[*of], grad));
                }
                OwnedNode::Apply(op, args) => {
                    for (operand, &arg) in args.iter().enumerate().filter(|(_, arg)| wanted[**arg])
                    {
                        let Some(line) = line(*op, operand)? else {
                            continue;
                        };
                        let own = write(&mut program, (*op, line), grad, at, args)?;
                        let own = self.rounded(&mut program, own, arg);
                        come[arg] = Some(sum(&mut program, come[arg], own));
                    }
                }
            }
        }
        Ok((program, found))
    }
}

fn sum(program: &mut Program, before: Option<usize>, more: usize) -> usize {
    match before {
        None => more,
        Some(before) => {
            let dtype = program.narrow(before);
            program.apply_as(Op::Add, [before, more].into_iter().collect(), dtype)
        }
    }
}

fn line(op: Op, operand: usize) -> Result<Option<&'static Line>> {
    if matches!(op.row().grad, Grad::Never(_)) {
        return Err(refused(op));
    }
    let line = lines(op).and_then(|lines| lines.iter().find(|line| line.operand == operand));
    match line {
        Some(line) if line.steps.is_empty() => Err(refused(op)),
        line => Ok(line),
    }
}

/// A line of real numbers, behind the program: of 16-bit floats in `f32`, rounded once.
pub(super) fn write(
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
            Step::Operand(of) => match (args.get(of), default(op, of)) {
                (Some(&arg), _) => program.widened(arg),
                (None, Some(number)) => program.number(number),
                (None, None) => return Err(refused(op)),
            },
            Step::Number(number) => program.number(Scalar::Float(number)),
            Step::Apply(of, from) => program.apply(of, from.iter().map(|&of| at[of]).collect()),
            Step::Conj(of) | Step::Real(of) => at[of],
            Step::Imaginary | Step::Spread(_) | Step::Count | Step::Over(..) => {
                let what = "no chain has such a derivative";
                return Err(Error::new(ErrorKind::Gradient, "fuse", what)
                    .hint("compute it outside of `fuse!`"));
            }
        });
    }
    let last = at.last().copied().unwrap_or(grad);
    let last = match program.number_of(last) {
        // A number for each element.
        Some(_) => program.apply(Op::Clamp, [grad, last, last].into_iter().collect()),
        None => last,
    };
    Ok(match dtype {
        Some(dtype) => program.to(dtype, last),
        None => last,
    })
}

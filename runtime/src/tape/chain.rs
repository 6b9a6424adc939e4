//! Chains of elementwise operators that are computed in one pass and recorded as one node.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::derivative::Step;
use super::generated::lines;
use super::target::{GradTarget, has_gradient};
use crate::SmallVec;
use crate::job::Node;
use crate::raw::Raw;
use crate::raw::graph::record;
use crate::shape::{Shape, broadcast, count};

/// A step of a saved program; steps refer to earlier ones by position.
pub(crate) enum ChainStep {
    /// The position of a tensor.
    Tensor(usize),
    Number(Scalar),
    /// A conversion of a step.
    To(DType, usize),
    /// An operator and its operands.
    Apply(Op, SmallVec<[usize; 3]>),
}

/// The saved values of a chain.
pub(crate) struct ChainSaved {
    /// The last operator.
    pub(crate) op: Op,
    pub(crate) steps: Vec<ChainStep>,
    pub(crate) tensors: Vec<Raw>,
    pub(crate) targets: Vec<Option<GradTarget>>,
    /// The sizes of the result.
    pub(crate) shape: Shape,
    /// The results of slow steps that gradients read.
    pub(crate) saved: Vec<(usize, Raw)>,
    /// The dtype of each step; empty unless some are 16-bit floats.
    pub(crate) dtypes: Vec<DType>,
}

/// The number of elements from which the results of slow steps are saved.
const MANY: usize = 1 << 12;

/// Whether computing an operator takes longer than reading its result.
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

/// Returns the slow steps of a program whose results the gradients read. Small programs have none, nor have those of devices, where
/// each saved step would be a kernel of its own.
pub(crate) fn steps_to_save(
    program: &[Node<'_>],
    tensors: &[&Raw],
) -> Result<SmallVec<[usize; 2]>> {
    let shapes: SmallVec<[&[usize]; 4]> = tensors.iter().map(|raw| raw.shape()).collect();
    let shape = broadcast("fuse", &shapes)?;
    let mut kept = SmallVec::new();
    if count(&shape) < MANY || !tensors.iter().all(|raw| raw.device().is_cpu()) {
        return Ok(kept);
    }
    // Whether each step has the result's sizes, and whether it has a gradient.
    let mut known: SmallVec<[(bool, bool); 16]> = SmallVec::new();
    for node in program {
        let from = |args: &[usize]| {
            let args = || args.iter().map(|&arg| known[arg]);
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
        known.push(own);
    }
    let reads = |(at, node): (usize, &Node<'_>), step: usize| match *node {
        Node::Apply(op, args) => lines(op).into_iter().flatten().any(|line| {
            let wanted = args.get(line.operand).is_some_and(|&arg| known[arg].1);
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
        let slow = matches!(*node, Node::Apply(op, _) if is_slow(op)) && known[at].0;
        if slow && program.iter().enumerate().any(|node| reads(node, at)) {
            kept.push(at);
        }
    }
    Ok(kept)
}

/// Records the result of a program of real numbers as one node. `saved` are the results of [`steps_to_save`]. `dtypes` are those of
/// all steps if some are 16-bit floats, else empty.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_chain(
    out: Raw,
    (program, tensors, numbers): (&[Node<'_>], &[&Raw], &[Scalar]),
    dtypes: Vec<DType>,
    saved: Vec<(usize, Raw)>,
) -> Result<Raw> {
    if !has_gradient(out.dtype()) {
        return Ok(out);
    }
    let steps = program.iter().map(|node| match *node {
        Node::Tensor(at) => ChainStep::Tensor(at),
        Node::Scalar(at) => ChainStep::Number(numbers[at]),
        Node::To(dtype, of) => ChainStep::To(dtype, of),
        Node::Apply(op, args) => ChainStep::Apply(op, args.into()),
    });
    let op = program.iter().rev().find_map(|node| match *node {
        Node::Apply(op, _) => Some(op),
        _ => None,
    });
    let rule = ChainSaved {
        op: op.unwrap_or(Op::Clone),
        steps: steps.collect(),
        tensors: tensors.iter().map(|&raw| raw.clone()).collect(),
        targets: tensors
            .iter()
            .map(|raw| raw.requires_grad().then(|| GradTarget::new(raw)))
            .collect(),
        shape: Shape::from_slice(out.shape()),
        saved,
        dtypes,
    };
    record(out, tensors.iter().map(|&raw| Some(raw)), rule)
}

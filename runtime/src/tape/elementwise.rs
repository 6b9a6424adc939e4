//! Operators whose rows state derivatives as lines: elementwise operators, and those that reduce dims.

use nomina_core::op::{Grad, Op};
use nomina_core::{Result, Scalar};

use super::derivative::{Line, narrow};
use super::generated::lines;
use super::no_derivative::record_no_derivative;
use super::target::{GradTarget, has_gradient};
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::arg::Arg;
use crate::raw::graph::{is_wanted, record};
use crate::shape::{Shape, product};

/// A saved operand.
#[derive(Clone, Copy)]
pub(crate) enum SavedOperand {
    /// The position among the saved tensors.
    Saved(u8),
    Number(Scalar),
    /// No needed line reads the operand.
    Unread,
}

/// The saved values of an operator on up to two tensors with the sizes and dtype of its result, and numbers. Their gradients have
/// the form of the result's.
pub(crate) struct SameShapeSaved<const SAVED: usize> {
    pub(crate) op: Op,
    pub(crate) operands: u8,
    pub(crate) wants: [bool; 2],
    pub(crate) lines: &'static [Line],
    pub(crate) kept: [SavedOperand; 2],
    /// The saved operands, followed by the result if a line reads it.
    pub(crate) saved: [Raw; SAVED],
}

/// The saved values of any other operator that has lines.
pub(crate) struct LinesSaved {
    pub(crate) op: Op,
    pub(crate) lines: &'static [Line],
    pub(crate) kept: SmallVec<[SavedOperand; 3]>,
    /// The saved operands, followed by the result if a line reads it.
    pub(crate) saved: SmallVec<[Raw; 3]>,
    pub(crate) targets: SmallVec<[Option<GradTarget>; 3]>,
    pub(crate) reduced: Option<ReducedDims>,
}

/// The dims that an operator reduces.
pub(crate) struct ReducedDims {
    pub(crate) dims: SmallVec<[usize; 8]>,
    /// The sizes of the operand, with size 1 in `dims`.
    pub(crate) kept: Shape,
    /// The sizes of the result.
    pub(crate) left: Shape,
    /// The number of elements of the operand for each element of `kept`.
    pub(crate) count: f64,
}

impl ReducedDims {
    pub(crate) fn new(x: &Raw, dims: &[usize], result: &Raw) -> Self {
        let mut kept = Shape::from_slice(x.shape());
        let mut sizes: SmallVec<[usize; 8]> = SmallVec::new();
        for &dim in dims {
            sizes.push(std::mem::replace(&mut kept[dim], 1));
        }
        Self {
            dims: dims.into(),
            kept,
            left: Shape::from_slice(result.shape()),
            count: product(sizes) as f64,
        }
    }
}

/// Records the result of an elementwise operator. The caller checks that an operand requires a gradient.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_elementwise(op: Op, result: Raw, args: &[Arg<'_>]) -> Result<Raw> {
    record_lines(op, result, args, |_| None)
}

/// Records the result of an operator that reduces `dims` of its first operand; `numbers` are the other operands.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_reduction(
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
    record_lines(op, result, &args, |result| {
        Some(ReducedDims::new(x, dims, result))
    })
}

/// Records a result with the lines of its row, if it has any.
fn record_lines(
    op: Op,
    result: Raw,
    args: &[Arg<'_>],
    reduced: impl FnOnce(&Raw) -> Option<ReducedDims>,
) -> Result<Raw> {
    let Some(lines) = lines(op).filter(|_| has_gradient(result.dtype())) else {
        let tensors = args.iter().filter_map(|arg| match *arg {
            Arg::Tensor(raw) => Some(raw),
            Arg::Scalar(_) => None,
        });
        return match op.row().grad {
            Grad::Never(_) => {
                record_no_derivative(op, result, tensors.collect::<SmallVec<[&Raw; 3]>>())
            }
            _ => Ok(result),
        };
    };
    let wants = |at: usize| matches!(args.get(at), Some(Arg::Tensor(raw)) if raw.requires_grad());
    let needed = || lines.iter().filter(|line| wants(line.operand));
    let reduced = reduced(&result);
    // The backward pass computes a 16-bit result again in `f32`, from its operands.
    let repeats =
        reduced.is_none() && narrow(result.dtype()).is_some() && needed().any(Line::repeats_result);
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
    if reduced.is_none() && args.len() <= 2 && args.iter().all(like) {
        let kept = [keep(0), keep(1)];
        if keeps_result {
            own = result.clone();
            saved.push(&own);
        }
        macro_rules! record_same_shape {
            ($($at:literal),*) => {
                record(result, tensors, SameShapeSaved {
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
            0 => record_same_shape!(),
            1 => record_same_shape!(0),
            2 => record_same_shape!(0, 1),
            _ => record_same_shape!(0, 1, 2),
        };
    }
    let kept = (0..args.len()).map(&mut keep).collect();
    let mut saved: SmallVec<[Raw; 3]> = saved.into_iter().cloned().collect();
    if keeps_result {
        saved.push(result.clone());
    }
    let rule = LinesSaved {
        op,
        lines,
        kept,
        saved,
        targets: args.iter().map(target).collect(),
        reduced,
    };
    record(result, tensors, rule)
}

fn target(arg: &Arg<'_>) -> Option<GradTarget> {
    match *arg {
        Arg::Tensor(raw) if raw.requires_grad() => Some(GradTarget::new(raw)),
        _ => None,
    }
}

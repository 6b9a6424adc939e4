//! Rules that compute the gradient of each operand on its own.

use nomina_core::Result;
use nomina_core::op::Op;

use super::target::{GradTarget, has_gradient};
use crate::SmallVec;
use crate::memory::refused;
use crate::raw::Raw;
use crate::raw::graph::{ResultGrads, Results, Run, is_wanted, record, record_all};

/// The saved values of an operator, from which the gradient of each operand is computed.
pub(crate) trait Backward: Send + Sync {
    /// Computes the gradient of one operand; `None` is zero.
    ///
    /// It may have the sizes of the result, be complex or have another dtype: the caller fits it to the operand.
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>>;
}

/// The gradients of an operator's results, and the results that it saved.
pub(crate) struct Upstream<'a> {
    op: Op,
    given: &'a ResultGrads,
    results: &'a [Raw],
    run: &'a Run<'a>,
}

impl Upstream<'_> {
    /// The operator.
    pub(crate) fn op(&self) -> Op {
        self.op
    }

    /// Returns the gradient of the only result.
    pub(crate) fn grad(&self) -> Result<Raw> {
        match self.given.first() {
            Some(Some(grad)) => Ok(grad.clone()),
            _ => self.grad_of(0),
        }
    }

    /// Returns the gradient of a result: zeros if none arrived.
    pub(crate) fn grad_of(&self, result: usize) -> Result<Raw> {
        match (self.given.get(result), &self.results[result]) {
            (Some(Some(grad)), _) => Ok(grad.clone()),
            (_, own) => Raw::zeros("backward", own.shape(), own.dtype(), own.device()),
        }
    }

    /// Whether a gradient of a result arrived.
    #[cfg_attr(
        not(feature = "linalg"),
        expect(dead_code, reason = "only decompositions have several results")
    )]
    pub(crate) fn has_grad(&self, result: usize) -> bool {
        matches!(self.given.get(result), Some(Some(_)))
    }

    /// Whether the backward pass is recorded.
    pub(crate) fn records(&self) -> bool {
        self.run.records()
    }

    /// Returns the only result, which was saved.
    pub(crate) fn result(&self) -> Result<Raw> {
        self.run.result(&self.results[0], Results::One)
    }

    /// Returns one of several results, which were saved.
    #[cfg_attr(
        not(feature = "linalg"),
        expect(dead_code, reason = "only decompositions have several results")
    )]
    pub(crate) fn result_of(&self, at: usize) -> Result<Raw> {
        self.run.result(&self.results[at], Results::Several(at))
    }
}

/// The rule of an operator whose saved values are `S`.
pub(crate) struct OperandRule<S> {
    pub(crate) op: Op,
    results: SmallVec<[Raw; 1]>,
    pub(crate) targets: Targets,
    pub(crate) saved: S,
}

impl<S> OperandRule<S> {
    /// The gradients that a backward pass brought to this operator.
    pub(crate) fn upstream<'a>(&'a self, given: &'a ResultGrads, run: &'a Run<'a>) -> Upstream<'a> {
        Upstream {
            op: self.op,
            given,
            results: &self.results,
            run,
        }
    }
}

/// The targets of the operands' gradients; none for an operand without a gradient.
type Targets = SmallVec<[Option<GradTarget>; 2]>;

fn targets(op: Op, operands: &[&Raw]) -> Result<Targets> {
    let (mut targets, count) = (SmallVec::new(), operands.len());
    let room = targets.try_reserve(count);
    room.map_err(|_| refused(op.name(), count.saturating_mul(size_of::<GradTarget>())))?;
    for x in operands {
        targets.push(x.requires_grad().then(|| GradTarget::new(x)));
    }
    Ok(targets)
}

/// Records a result if it has a gradient and an operand requires one; `save` returns the saved values then.
///
/// # Errors
/// If there is no memory for a node.
pub(crate) fn record_saved<'r, S: Backward + 'static>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    save: impl FnOnce() -> S,
) -> Result<Raw> {
    record_one(op, result, operands, false, save)
}

/// Like [`record_saved`], but also saves the result.
///
/// # Errors
/// Like [`record_saved`].
pub(crate) fn record_with_result<'r, S: Backward + 'static>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    save: impl FnOnce() -> S,
) -> Result<Raw> {
    record_one(op, result, operands, true, save)
}

/// Returns whether a result has a gradient and an operand requires one.
fn is_recorded(result: &Raw, operands: &[&Raw]) -> bool {
    is_wanted(operands.iter().copied()) && has_gradient(result.dtype())
}

fn record_one<'r, S: Backward + 'static>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    saves_result: bool,
    save: impl FnOnce() -> S,
) -> Result<Raw> {
    let operands = operands.as_ref();
    if !is_recorded(&result, operands) {
        return Ok(result);
    }
    let mut results = SmallVec::new();
    if saves_result {
        results.push(result.clone());
    }
    let rule = OperandRule {
        op,
        results,
        targets: targets(op, operands)?,
        saved: save(),
    };
    record(result, operands.iter().copied().map(Some), rule)
}

/// Like [`record_with_result`], but for an operator with several results.
///
/// # Errors
/// Like [`record_saved`].
#[cfg_attr(
    not(feature = "linalg"),
    expect(dead_code, reason = "only decompositions have several results")
)]
pub(crate) fn record_results<'r, S: Backward + 'static>(
    op: Op,
    results: &mut [Raw],
    operands: impl AsRef<[&'r Raw]>,
    save: impl FnOnce() -> S,
) -> Result<()> {
    let operands = operands.as_ref();
    if !is_wanted(operands.iter().copied()) {
        return Ok(());
    }
    let rule = OperandRule {
        op,
        results: results.iter().cloned().collect(),
        targets: targets(op, operands)?,
        saved: save(),
    };
    record_all(results, operands.iter().copied().map(Some), rule)
}

//! Rules that are closures: what they save is what they capture.

use nomina_core::Result;
use nomina_core::op::Op;

use super::{Target, has_gradient};
use crate::SmallVec;
use crate::raw::Raw;
use crate::raw::graph::{
    OperandGrads, ResultGrads, Results, Rule, Run, is_wanted, record, record_all,
};

/// What a function computes gradients of.
pub(in crate::call) struct Back<'a> {
    given: &'a ResultGrads,
    results: &'a [Raw],
    run: &'a Run<'a>,
}

impl Back<'_> {
    /// The gradient of the only result.
    pub(in crate::call) fn grad(&self) -> Result<Raw> {
        match self.given.first() {
            Some(Some(grad)) => Ok(grad.clone()),
            _ => self.grad_of(0),
        }
    }

    /// The gradient of one of the results: zeros where none came.
    pub(in crate::call) fn grad_of(&self, result: usize) -> Result<Raw> {
        match (self.given.get(result), &self.results[result]) {
            (Some(Some(grad)), _) => Ok(grad.clone()),
            (_, own) => Raw::zeros("backward", own.shape(), own.dtype(), own.device()),
        }
    }

    /// Whether a gradient of a result came.
    #[cfg_attr(
        not(feature = "linalg"),
        expect(dead_code, reason = "only decompositions have several results")
    )]
    pub(in crate::call) fn came(&self, result: usize) -> bool {
        matches!(self.given.get(result), Some(Some(_)))
    }

    /// Whether what is computed is recorded.
    pub(in crate::call) fn records(&self) -> bool {
        self.run.records()
    }

    /// The only result, which was kept.
    pub(in crate::call) fn result(&self) -> Result<Raw> {
        self.run.result(&self.results[0], Results::One)
    }

    /// One of several results.
    #[cfg_attr(
        not(feature = "linalg"),
        expect(dead_code, reason = "only decompositions have several results")
    )]
    pub(in crate::call) fn result_of(&self, at: usize) -> Result<Raw> {
        self.run.result(&self.results[at], Results::Several(at))
    }
}

/// What goes back by a function of the number of an operand.
struct By<F> {
    op: Op,
    results: SmallVec<[Raw; 1]>,
    targets: SmallVec<[Option<Target>; 2]>,
    back: F,
}

impl<F> Rule for By<F>
where
    F: Fn(&Back<'_>, usize) -> Result<Option<Raw>> + Send + Sync,
{
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let back = Back {
            given,
            results: &self.results,
            run,
        };
        for (operand, target) in self.targets.iter().enumerate() {
            found.push(match target {
                Some(target) => match (self.back)(&back, operand)? {
                    Some(grad) => Some(target.take(grad)?),
                    None => None,
                },
                None => None,
            });
        }
        Ok(found)
    }
}

fn targets(operands: &[&Raw]) -> SmallVec<[Option<Target>; 2]> {
    let target = |x: &&Raw| x.requires_grad().then(|| Target::of(x));
    operands.iter().map(target).collect()
}

/// A result whose gradient goes back by a function, which `make` makes where one of the operands asks for it: it gives the
/// gradient of the operand of a number; none is zero. Broadcasting is undone, the real part taken and the dtype converted
/// behind it.
///
/// # Errors
/// When there is no memory for a node.
pub(in crate::call) fn by<'r, F>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    make: impl FnOnce() -> F,
) -> Result<Raw>
where
    F: Fn(&Back<'_>, usize) -> Result<Option<Raw>> + Send + Sync + 'static,
{
    one_by(op, result, operands, false, make)
}

/// As [`by`], where the function reads the result.
///
/// # Errors
/// As [`by`].
pub(in crate::call) fn by_result<'r, F>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    make: impl FnOnce() -> F,
) -> Result<Raw>
where
    F: Fn(&Back<'_>, usize) -> Result<Option<Raw>> + Send + Sync + 'static,
{
    one_by(op, result, operands, true, make)
}

fn one_by<'r, F>(
    op: Op,
    result: Raw,
    operands: impl AsRef<[&'r Raw]>,
    keeps: bool,
    make: impl FnOnce() -> F,
) -> Result<Raw>
where
    F: Fn(&Back<'_>, usize) -> Result<Option<Raw>> + Send + Sync + 'static,
{
    let operands = operands.as_ref();
    if !is_wanted(operands.iter().copied()) || !has_gradient(result.dtype()) {
        return Ok(result);
    }
    let rule = By {
        op,
        results: keeps.then(|| result.clone()).into_iter().collect(),
        targets: targets(operands),
        back: make(),
    };
    record(result, operands.iter().copied().map(Some), rule)
}

/// As [`by`], of an operator with several results.
///
/// # Errors
/// As [`by`].
#[cfg_attr(
    not(feature = "linalg"),
    expect(dead_code, reason = "only decompositions have several results")
)]
pub(in crate::call) fn all_by<'r, F>(
    op: Op,
    results: &mut [Raw],
    operands: impl AsRef<[&'r Raw]>,
    make: impl FnOnce() -> F,
) -> Result<()>
where
    F: Fn(&Back<'_>, usize) -> Result<Option<Raw>> + Send + Sync + 'static,
{
    let operands = operands.as_ref();
    if !is_wanted(operands.iter().copied()) {
        return Ok(());
    }
    let rule = By {
        op,
        results: results.iter().cloned().collect(),
        targets: targets(operands),
        back: make(),
    };
    record_all(results, operands.iter().copied().map(Some), rule)
}

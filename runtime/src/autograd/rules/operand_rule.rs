//! The backward pass of rules that compute the gradient of each operand on its own.

use nomina_core::Result;

use crate::memory::refused;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};
use crate::tape::{Backward, GradTarget, NoDerivative, OperandRule, Upstream, no_derivative};

impl<S: Backward> Rule for OperandRule<S> {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        gradients(&self.saved, &self.targets, &self.upstream(given, run))
    }
}

/// Returns the gradients of the operands that have a target.
fn gradients(
    saved: &dyn Backward,
    targets: &[Option<GradTarget>],
    upstream: &Upstream<'_>,
) -> Result<OperandGrads> {
    let mut found = OperandGrads::new();
    let room = found.try_reserve(targets.len());
    let bytes = targets.len().saturating_mul(size_of::<Raw>());
    room.map_err(|_| refused(upstream.op().name(), bytes))?;
    for (operand, target) in targets.iter().enumerate() {
        found.push(match target {
            Some(target) => match saved.gradient(upstream, operand)? {
                Some(grad) => Some(target.fit(grad)?),
                None => None,
            },
            None => None,
        });
    }
    Ok(found)
}

impl Backward for NoDerivative {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        Err(no_derivative(upstream.op()))
    }
}

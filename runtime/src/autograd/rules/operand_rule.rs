//! The backward pass of rules that compute the gradient of each operand on its own.

use nomina_core::Result;

use crate::memory::refused;
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};
use crate::tape::{Backward, NoDerivative, OperandRule, Upstream, no_derivative};

impl<S: Backward> Rule for OperandRule<S> {
    fn op(&self) -> &'static str {
        self.op.name()
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let count = self.targets.len();
        let room = found.try_reserve(count);
        room.map_err(|_| refused(self.op.name(), count.saturating_mul(size_of::<Raw>())))?;
        let upstream = self.upstream(given, run);
        for (operand, target) in self.targets.iter().enumerate() {
            found.push(match target {
                Some(target) => match self.saved.gradient(&upstream, operand)? {
                    Some(grad) => Some(target.fit(grad)?),
                    None => None,
                },
                None => None,
            });
        }
        Ok(found)
    }
}

impl Backward for NoDerivative {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        Err(no_derivative(upstream.op()))
    }
}

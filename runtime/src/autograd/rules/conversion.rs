//! Gradients of copies.

use nomina_core::Result;

use super::target::only_operand;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};
use crate::tape::ConversionSaved;

impl Rule for ConversionSaved {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => Ok(only_operand(self.target.fit(grad.clone())?)),
            _ => Ok(OperandGrads::new()),
        }
    }
}

//! Copies: in another dtype, another order of the same elements, or on another device.

use nomina_core::Result;

use super::{Target, one};
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, ResultGrads, Rule, Run};

/// Elements written to another buffer.
pub(in crate::call) struct Converted {
    op: &'static str,
    target: Target,
}

impl Converted {
    pub(in crate::call) fn new(op: &'static str, x: &Raw) -> Self {
        let target = Target::of(x);
        Self { op, target }
    }
}

impl Rule for Converted {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, _: &Run<'_>) -> Result<OperandGrads> {
        match given.first() {
            Some(Some(grad)) => Ok(one(self.target.take(grad.clone())?)),
            _ => Ok(OperandGrads::new()),
        }
    }
}

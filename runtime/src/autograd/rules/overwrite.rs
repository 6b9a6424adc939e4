//! Gradients of tensors of which a part was overwritten.

use nomina_core::{Result, Scalar};

use crate::call::{contiguous, fill};
use crate::raw::Raw;
use crate::raw::graph::{OperandGrads, Overwritten, ResultGrads, Rule, Run, View};

/// Sets a part of a gradient to zero.
fn zero_part(grad: &Raw, part: &View) -> Result<Raw> {
    // A view can be written to, unlike a leaf.
    let mut rest = contiguous(grad)?.expand(grad.shape())?;
    fill(rest.as_mut()?.through(part), Scalar::Int(0))?;
    Ok(rest)
}

impl Rule for Overwritten {
    fn op(&self) -> &'static str {
        self.op
    }

    fn backward(&self, given: &ResultGrads, run: &Run<'_>) -> Result<OperandGrads> {
        let mut found = OperandGrads::new();
        let Some(Some(grad)) = given.first() else {
            return Ok(found);
        };
        found.push(if run.wants(0) {
            Some(zero_part(grad, &self.part)?)
        } else {
            None
        });
        found.push(if run.wants(1) {
            Some(contiguous(grad)?.through(&self.part)?)
        } else {
            None
        });
        Ok(found)
    }
}

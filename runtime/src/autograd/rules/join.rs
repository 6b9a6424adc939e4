//! Gradients of tensors joined along a dim, and of triangles of matrices.

use nomina_core::Result;

use crate::call::triangle;
use crate::raw::Raw;
use crate::tape::{Backward, JoinSaved, TriangleSaved, Upstream};

impl Backward for JoinSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let Some((start, len)) = self.ranges[operand] else {
            return Ok(None);
        };
        upstream.grad()?.narrow(self.dim, start, len).map(Some)
    }
}

impl Backward for TriangleSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (name, grad) = (upstream.op().name(), upstream.grad()?);
        triangle(name, &grad, self.diagonal, self.upper).map(Some)
    }
}

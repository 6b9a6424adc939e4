//! Gradients of maximum pools and their inverses. The window's dims are the last ones.

use nomina_core::Result;

use crate::call::{gather, index_select, to_device};
use crate::job::Update;
use crate::raw::Raw;
use crate::shape::{Shape, count};
use crate::tape::{Addressing, Backward, DimIndex, MaxPoolSaved, MaxUnpoolSaved, Upstream};

impl Backward for MaxPoolSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (op, shape, dims) = (upstream.op(), &self.shape, self.filled.len());
        let outer = shape.len() - dims;
        let (mut grad, mut places) = (upstream.grad()?, self.places.clone());
        for (dim, filled) in (outer..).zip(&self.filled) {
            if let Some(filled) = filled {
                let at = Raw::from_vec(filled.clone(), &[filled.len()])?;
                let at = to_device(&at, grad.device())?;
                grad = index_select(op, &grad, dim, &at)?;
                places = index_select(op, &places, dim, &at)?;
            }
        }
        let grad = flatten_last(&grad, dims)?;
        let mut planes = Shape::from_slice(&shape[..outer]);
        planes.push(count(&shape[outer..]));
        let zeros = Raw::zeros("backward", &planes, grad.dtype(), grad.device())?;
        let index = DimIndex {
            op,
            addressing: Addressing::Elements,
            dim: outer,
            index: flatten_last(&places, dims)?,
        };
        let planes = index.update(zeros, &grad, Update::Add)?;
        planes.reshape(shape).map(Some)
    }
}

impl Backward for MaxUnpoolSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let grad = flatten_last(&upstream.grad()?, self.dims)?;
        let index = flatten_last(&self.places, self.dims)?;
        let found = gather(upstream.op(), &grad, grad.rank() - 1, &index)?;
        found.reshape(self.places.shape()).map(Some)
    }
}

/// Flattens the last `dims` dims.
fn flatten_last(x: &Raw, dims: usize) -> Result<Raw> {
    let outer = x.rank() - dims;
    let mut shape = Shape::from_slice(&x.shape()[..outer]);
    shape.push(count(&x.shape()[outer..]));
    x.reshape(&shape)
}

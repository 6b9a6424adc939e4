//! Gradients of Fourier transforms: the adjoint is the transform of the other direction, divided like this one.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::call::arithmetic::mul;
use crate::call::{PadMode, irfft, pad, rfft, to_device, to_dtype, transform};
use crate::raw::Raw;
use crate::tape::{Backward, HalfSpectrumSaved, RealSignalSaved, TransformSaved, Upstream};

impl Backward for TransformSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (op, grad) = (upstream.op(), upstream.grad()?);
        transform(op, &grad, &self.dims, !self.inverse, self.norm.adjoint()).map(Some)
    }
}

impl Backward for HalfSpectrumSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let g = scale_paired(&upstream.grad()?, self.dim, self.n, 0.5)?;
        irfft(Op::Irfft, &g, self.dim, self.n, self.norm.adjoint()).map(Some)
    }
}

impl Backward for RealSignalSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let (dim, n) = (self.dim, self.n);
        let g = rfft(Op::Rfft, &upstream.grad()?, dim, self.norm.adjoint())?;
        let g = scale_paired(&g, dim, n, 2.0)?;
        let more = self.given as i64 - (n / 2 + 1) as i64;
        let pairs = [(0, more)];
        let none = Scalar::Int(0);
        pad(Op::Pad, &g, &[dim], &pairs, PadMode::Constant, none).map(Some)
    }
}

/// Multiplies frequencies of a half spectrum of `n` elements by `factor`, except those that are their own mirror image.
fn scale_paired(like: &Raw, dim: usize, n: usize, factor: f64) -> Result<Raw> {
    let count = like.shape()[dim];
    let alone = |k: usize| k == 0 || 2 * k == n;
    let each = (0..count).map(|k| if alone(k) { 1.0 } else { factor });
    let mut shape = vec![1; like.rank()];
    shape[dim] = count;
    let weights = Raw::from_vec(each.collect::<Vec<f64>>(), &shape)?;
    let weights = to_dtype(&weights, like.dtype().to_real())?;
    mul(like, &to_device(&weights, like.device())?)
}

//! Fourier transforms: the adjoint of one is the other direction, divided as this one is.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arithmetic::mul;
use super::by;
use crate::call::{FftNorm, PadMode, irfft, pad, rfft, transform};
use crate::raw::Raw;

/// The norm by which the other direction is divided as this one is by `norm`.
fn exchanged(norm: FftNorm) -> FftNorm {
    match norm {
        FftNorm::Backward => FftNorm::Forward,
        FftNorm::Ortho => FftNorm::Ortho,
        FftNorm::Forward => FftNorm::Backward,
    }
}

/// Records a transform.
pub(in crate::call) fn transformed(
    op: Op,
    out: Raw,
    x: &Raw,
    dims: &[usize],
    inverse: bool,
    norm: FftNorm,
) -> Result<Raw> {
    by(op, out, [x], || {
        let dims = dims.to_vec();
        move |back, _| transform(op, &back.grad()?, &dims, !inverse, exchanged(norm)).map(Some)
    })
}

/// One for frequencies that stand alone in the half of a transform of `n` elements, `other` for those that stand for two.
fn counted(like: &Raw, dim: usize, n: usize, other: f64) -> Result<Raw> {
    let count = like.shape()[dim];
    let alone = |k: usize| k == 0 || 2 * k == n;
    let each = (0..count).map(|k| if alone(k) { 1.0 } else { other });
    let mut shape = vec![1; like.rank()];
    shape[dim] = count;
    let weights = Raw::from_vec(each.collect::<Vec<f64>>(), &shape)?;
    let weights = crate::call::to_dtype(&weights, like.dtype().to_real())?;
    mul(like, &crate::call::to_device(&weights, like.device())?)
}

/// Records a half of the transform of `n` real elements.
pub(in crate::call) fn halved(op: Op, out: Raw, x: &Raw, dim: usize, norm: FftNorm) -> Result<Raw> {
    by(op, out, [x], || {
        let n = x.shape()[dim];
        move |back, _| {
            let g = counted(&back.grad()?, dim, n, 0.5)?;
            irfft(Op::Irfft, &g, dim, n, exchanged(norm)).map(Some)
        }
    })
}

/// Records the real signal of `n` elements of a half; what is missing of the half is zero, what is too much is not read.
pub(in crate::call) fn made_whole(
    op: Op,
    out: Raw,
    x: &Raw,
    (dim, n): (usize, usize),
    norm: FftNorm,
) -> Result<Raw> {
    by(op, out, [x], || {
        let given = x.shape()[dim];
        move |back, _| {
            let g = rfft(Op::Rfft, &back.grad()?, dim, exchanged(norm))?;
            let g = counted(&g, dim, n, 2.0)?;
            let more = given as i64 - (n / 2 + 1) as i64;
            let pairs = [(0, more)];
            let none = Scalar::Int(0);
            pad(Op::Pad, &g, &[dim], &pairs, PadMode::Constant, none).map(Some)
        }
    })
}

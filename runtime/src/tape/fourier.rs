//! Fourier transforms.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::job::FftNorm;
use crate::raw::Raw;

/// The saved values of a complex transform.
pub(crate) struct TransformSaved {
    pub(crate) dims: Vec<usize>,
    pub(crate) inverse: bool,
    pub(crate) norm: FftNorm,
}

/// The saved values of the half spectrum of `n` real elements.
pub(crate) struct HalfSpectrumSaved {
    pub(crate) dim: usize,
    pub(crate) n: usize,
    pub(crate) norm: FftNorm,
}

/// The saved values of the `n` real elements of a half spectrum, of which `given` frequencies were given.
pub(crate) struct RealSignalSaved {
    pub(crate) dim: usize,
    pub(crate) n: usize,
    pub(crate) given: usize,
    pub(crate) norm: FftNorm,
}

/// Records a complex transform.
pub(crate) fn record_transform(
    op: Op,
    out: Raw,
    x: &Raw,
    dims: &[usize],
    inverse: bool,
    norm: FftNorm,
) -> Result<Raw> {
    record_saved(op, out, [x], || TransformSaved {
        dims: dims.to_vec(),
        inverse,
        norm,
    })
}

/// Records the half spectrum of real elements.
pub(crate) fn record_half_spectrum(
    op: Op,
    out: Raw,
    x: &Raw,
    dim: usize,
    norm: FftNorm,
) -> Result<Raw> {
    record_saved(op, out, [x], || {
        let n = x.shape()[dim];
        HalfSpectrumSaved { dim, n, norm }
    })
}

/// Records the `n` real elements of a half spectrum. Missing frequencies are zero, surplus ones are not read.
pub(crate) fn record_real_signal(
    op: Op,
    out: Raw,
    x: &Raw,
    (dim, n): (usize, usize),
    norm: FftNorm,
) -> Result<Raw> {
    record_saved(op, out, [x], || {
        let given = x.shape()[dim];
        RealSignalSaved {
            dim,
            n,
            given,
            norm,
        }
    })
}

//! Parts of complex numbers.

use nomina_core::Result;
use nomina_core::op::Op;

use super::arithmetic::conj;
use super::by::by;
use crate::call::{as_complex, as_real, contiguous};
use crate::raw::Raw;

/// Real and imaginary parts in a last dim.
pub(in crate::call) fn parts(op: Op, view: Raw, x: &Raw) -> Result<Raw> {
    by(op, view, [x], || {
        |back, _| as_complex(&contiguous(&back.grad()?)?).map(Some)
    })
}

/// Complex numbers of a last dim.
pub(in crate::call) fn joined_parts(op: Op, view: Raw, x: &Raw) -> Result<Raw> {
    by(op, view, [x], || |back, _| as_real(&back.grad()?).map(Some))
}

/// The conjugate of complex numbers.
pub(in crate::call) fn conjugate(out: Raw, x: &Raw) -> Result<Raw> {
    by(Op::ConjPhysical, out, [x], || {
        |back, _| conj(&back.grad()?).map(Some)
    })
}

//! Real and imaginary parts of complex numbers.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::raw::Raw;

/// A view of complex numbers as pairs of real ones in a last dim.
pub(crate) struct ViewAsReal;

/// A view of pairs in a last dim as complex numbers.
pub(crate) struct ViewAsComplex;

/// Complex conjugation.
pub(crate) struct Conjugation;

/// Records a view of complex numbers as pairs of real ones.
pub(crate) fn record_view_as_real(op: Op, view: Raw, x: &Raw) -> Result<Raw> {
    record_saved(op, view, [x], || ViewAsReal)
}

/// Records a view of pairs of real numbers as complex ones.
pub(crate) fn record_view_as_complex(op: Op, view: Raw, x: &Raw) -> Result<Raw> {
    record_saved(op, view, [x], || ViewAsComplex)
}

/// Records the conjugate of complex numbers.
pub(crate) fn record_conjugate(out: Raw, x: &Raw) -> Result<Raw> {
    record_saved(Op::ConjPhysical, out, [x], || Conjugation)
}

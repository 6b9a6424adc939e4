//! Products, norms, extremes and scans.

use nomina_core::Result;
use nomina_core::op::{Op, class};

use super::operand_rule::{record_saved, record_with_result};
use crate::SmallVec;
use crate::raw::Raw;
use crate::shape::Shape;

pub(crate) type Dims = SmallVec<[usize; 8]>;

/// The saved values of a product over dims.
pub(crate) struct ProdSaved {
    pub(crate) x: Raw,
    /// The operand's sizes, with size 1 in `dims`.
    pub(crate) kept: Shape,
    pub(crate) dims: Dims,
}

/// The saved values of a norm over dims.
pub(crate) struct NormSaved {
    pub(crate) x: Raw,
    /// The operand's sizes, with size 1 in `dims`.
    pub(crate) kept: Shape,
    pub(crate) dims: Dims,
    pub(crate) p: f64,
}

/// The saved values of one number chosen among all elements.
pub(crate) struct ExtremeSaved {
    pub(crate) x: Raw,
}

/// The saved values of a running sum.
pub(crate) struct CumsumSaved {
    pub(crate) dim: usize,
}

/// The saved values of a running product.
pub(crate) struct CumprodSaved {
    pub(crate) x: Raw,
    pub(crate) dim: usize,
}

/// The saved values of a running logarithm of a sum of exponentials.
pub(crate) struct LogcumsumexpSaved {
    pub(crate) x: Raw,
    pub(crate) dim: usize,
}

/// Records the product over dims, which have size 1 in `kept`.
pub(crate) fn record_prod(out: Raw, x: &Raw, kept: &[usize], dims: &[usize]) -> Result<Raw> {
    record_saved(Op::Prod, out, [x], || ProdSaved {
        x: x.clone(),
        kept: Shape::from_slice(kept),
        dims: Dims::from_slice(dims),
    })
}

/// Records the norm of real numbers over dims, which have size 1 in `kept`.
pub(crate) fn record_norm(
    out: Raw,
    x: &Raw,
    kept: &[usize],
    dims: &[usize],
    p: f64,
) -> Result<Raw> {
    record_with_result(Op::Norm, out, [x], || NormSaved {
        x: x.clone(),
        kept: Shape::from_slice(kept),
        dims: Dims::from_slice(dims),
        p,
    })
}

/// Records one number chosen among all elements. Elements that equal it share its gradient.
pub(crate) fn record_extreme(op: Op, out: Raw, x: &Raw) -> Result<Raw> {
    record_with_result(op, out, [x], || ExtremeSaved {
        x: x.clone().detach(),
    })
}

/// Records a scan along a dim.
pub(crate) fn record_scan(op: class::Scan, out: Raw, x: &Raw, dim: usize) -> Result<Raw> {
    match op {
        class::Scan::Cumsum => record_saved(Op::Cumsum, out, [x], || CumsumSaved { dim }),
        class::Scan::Cumprod => {
            record_with_result(Op::Cumprod, out, [x], || CumprodSaved { x: x.clone(), dim })
        }
        class::Scan::Logcumsumexp => record_with_result(Op::Logcumsumexp, out, [x], || {
            LogcumsumexpSaved { x: x.clone(), dim }
        }),
    }
}

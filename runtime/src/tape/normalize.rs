//! Normalised rows.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use crate::SmallVec;
use crate::raw::Raw;
use crate::shape::Shape;

/// The saved values of rows normalised to mean zero and variance one.
pub(crate) struct NormalizeSaved {
    pub(crate) x: Raw,
    pub(crate) weight: Option<Raw>,
    /// The mean and the standard deviation of each row.
    pub(crate) stats: Raw,
    pub(crate) dims: SmallVec<[usize; 8]>,
    /// The sizes of the statistics, with size 1 in `dims`.
    pub(crate) kept: Shape,
    /// Whether rows were divided by their root mean square alone.
    pub(crate) rms: bool,
    pub(crate) eps: f64,
    /// The dims along which the weight and the bias are repeated.
    pub(crate) repeated: [SmallVec<[usize; 8]>; 2],
}

/// Returns the dims of `x` along which an operand is repeated.
fn repeated_dims(x: &Raw, operand: Option<&Raw>) -> SmallVec<[usize; 8]> {
    let size = |dim: usize| {
        let operand = operand?;
        let at = (dim + operand.rank()).checked_sub(x.rank())?;
        operand.shape().get(at).copied()
    };
    (0..x.rank())
        .filter(|&dim| size(dim) != Some(x.shape()[dim]))
        .collect()
}

/// Records rows normalised along `dims`; `stats` are the mean and the standard deviation of each.
pub(crate) fn record_normalize(
    op: Op,
    out: Raw,
    x: &Raw,
    dims: &[usize],
    (rms, eps): (bool, f64),
    [weight, bias]: [Option<&Raw>; 2],
    stats: &Raw,
) -> Result<Raw> {
    let save = || {
        let mut kept = Shape::from_slice(x.shape());
        dims.iter().for_each(|&dim| kept[dim] = 1);
        NormalizeSaved {
            x: x.clone(),
            weight: weight.cloned(),
            stats: stats.clone(),
            dims: dims.into(),
            kept,
            rms,
            eps,
            repeated: [repeated_dims(x, weight), repeated_dims(x, bias)],
        }
    };
    match (weight, bias) {
        (Some(weight), Some(bias)) => record_saved(op, out, [x, weight, bias], save),
        (Some(other), None) | (None, Some(other)) => record_saved(op, out, [x, other], save),
        (None, None) => record_saved(op, out, [x], save),
    }
}

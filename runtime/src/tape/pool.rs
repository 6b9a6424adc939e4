//! Pools. The window's dims are the last ones.

use nomina_core::Result;
use nomina_core::op::Op;

use super::operand_rule::record_saved;
use super::resample::{AxisWeights, record_linear};
use crate::SmallVec;
use crate::job::Cover;
use crate::raw::Raw;
use crate::shape::Shape;

/// The saved values of a maximum pool.
pub(crate) struct MaxPoolSaved {
    /// The position of each result in its plane.
    pub(crate) places: Raw,
    /// The operand's sizes.
    pub(crate) shape: Shape,
    /// For each dim of the window, the positions whose windows hold an element; none if all do.
    pub(crate) filled: SmallVec<[Option<Vec<i64>>; 3]>,
}

/// The saved values of an inverse maximum pool.
pub(crate) struct MaxUnpoolSaved {
    /// The position of each element in its plane.
    pub(crate) places: Raw,
    /// The number of dims of a plane.
    pub(crate) dims: usize,
}

/// Records a maximum pool whose results were at `places` of their planes. A window over padding alone has no place.
pub(crate) fn record_max_pool(
    op: Op,
    out: Raw,
    x: &Raw,
    places: &Raw,
    covers: &[Cover],
) -> Result<Raw> {
    record_saved(op, out, [x], || MaxPoolSaved {
        places: places.clone(),
        shape: Shape::from_slice(x.shape()),
        filled: covers.iter().map(filled_windows).collect(),
    })
}

/// Returns the positions whose windows hold an element; `None` if all do.
fn filled_windows(cover: &Cover) -> Option<Vec<i64>> {
    let filled = (0..cover.len()).filter(|&at| cover.span(at).taps > 0);
    let filled: Vec<i64> = filled.map(|at| at as i64).collect();
    (filled.len() < cover.len()).then_some(filled)
}

/// Records an average pool, whose sums are divided by `divisor` or by the number of elements.
pub(crate) fn record_average_pool(
    op: Op,
    out: Raw,
    x: &Raw,
    covers: &[Cover],
    divisor: Option<i64>,
) -> Result<Raw> {
    let outer = x.rank() - covers.len();
    let weights = |(at, cover): (usize, &Cover)| {
        let dim = outer + at;
        let mut weights = AxisWeights::new(dim, x.shape()[dim], cover.len());
        for to in 0..cover.len() {
            let span = cover.span(to);
            let over = match divisor {
                // The divisor of all dims together is applied once.
                Some(divisor) if at == 0 => divisor as f64,
                Some(_) => 1.0,
                None => span.count as f64,
            };
            for tap in 0..span.taps {
                weights.add(to, span.start + tap * cover.step(), 1.0 / over);
            }
        }
        weights
    };
    record_linear(op, out, x, || {
        covers.iter().enumerate().map(weights).collect()
    })
}

/// Records elements that were written to `places` of their planes.
pub(crate) fn record_max_unpool(
    op: Op,
    out: Raw,
    x: &Raw,
    places: &Raw,
    dims: usize,
) -> Result<Raw> {
    record_saved(op, out, [x], || MaxUnpoolSaved {
        places: places.clone(),
        dims,
    })
}

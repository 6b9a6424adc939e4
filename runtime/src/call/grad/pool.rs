//! Pools. The dims of a window stand last.

use nomina_core::Result;
use nomina_core::op::Op;
use smallvec::SmallVec;

use super::by;
use super::pick::{Addressing, At};
use super::resample::{Weights, linear_along};
use crate::call::{gather, index_select, to_device};
use crate::job::{Cover, Update};
use crate::raw::Raw;
use crate::shape::{Shape, count};

/// Records the greatest elements, which were at `places` of their planes. A window over padding alone has none.
pub(in crate::call) fn greatest(
    op: Op,
    out: Raw,
    x: &Raw,
    places: &Raw,
    covers: &[Cover],
) -> Result<Raw> {
    by(op, out, [x], || {
        let (places, shape) = (places.clone(), Shape::from_slice(x.shape()));
        let (dims, outer) = (covers.len(), shape.len() - covers.len());
        let filled: SmallVec<[_; 3]> = covers.iter().map(filled).collect();
        move |back, _| {
            let (mut grad, mut places) = (back.grad()?, places.clone());
            for (dim, filled) in (outer..).zip(&filled) {
                if let Some(filled) = filled {
                    let at = Raw::from_vec(filled.clone(), &[filled.len()])?;
                    let at = to_device(&at, grad.device())?;
                    grad = index_select(op, &grad, dim, &at)?;
                    places = index_select(op, &places, dim, &at)?;
                }
            }
            let grad = flat(&grad, dims)?;
            let mut planes = Shape::from_slice(&shape[..outer]);
            planes.push(count(&shape[outer..]));
            let zeros = Raw::zeros("backward", &planes, grad.dtype(), grad.device())?;
            let index = flat(&places, dims)?;
            let way = Addressing::Elements;
            let dim = outer;
            let at = At {
                op,
                way,
                dim,
                index,
            };
            at.put(zeros, &grad, Update::Add)?.reshape(&shape).map(Some)
        }
    })
}

/// The positions whose windows hold an element, where not all do.
fn filled(cover: &Cover) -> Option<Vec<i64>> {
    let filled = (0..cover.len()).filter(|&at| cover.span(at).taps > 0);
    let filled: Vec<i64> = filled.map(|at| at as i64).collect();
    (filled.len() < cover.len()).then_some(filled)
}

/// Records means, which are divided by `divisor` or by the count.
pub(in crate::call) fn means(
    op: Op,
    out: Raw,
    x: &Raw,
    covers: &[Cover],
    divisor: Option<i64>,
) -> Result<Raw> {
    let outer = x.rank() - covers.len();
    let each = |(at, cover): (usize, &Cover)| {
        let dim = outer + at;
        let mut weights = Weights::new(dim, x.shape()[dim], cover.len());
        for to in 0..cover.len() {
            let span = cover.span(to);
            let over = match divisor {
                // Of all dims together, once.
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
    linear_along(op, out, x, || covers.iter().enumerate().map(each).collect())
}

/// Records elements that were put to `places` of their planes.
pub(in crate::call) fn unpooled(
    op: Op,
    out: Raw,
    x: &Raw,
    places: &Raw,
    dims: usize,
) -> Result<Raw> {
    by(op, out, [x], || {
        let places = places.clone();
        move |back, _| {
            let (grad, index) = (flat(&back.grad()?, dims)?, flat(&places, dims)?);
            let found = gather(op, &grad, grad.rank() - 1, &index)?;
            found.reshape(places.shape()).map(Some)
        }
    })
}

/// The last dims as one.
fn flat(x: &Raw, dims: usize) -> Result<Raw> {
    let outer = x.rank() - dims;
    let mut shape = Shape::from_slice(&x.shape()[..outer]);
    shape.push(count(&x.shape()[outer..]));
    x.reshape(&shape)
}

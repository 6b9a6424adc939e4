//! Pools. The dims of a window stand last.

use nomina_core::Result;
use nomina_core::op::Op;

use super::by;
use super::pick::{Addressing, At};
use super::resample::{Weights, linear_along};
use crate::call::gather;
use crate::job::{Cover, Update};
use crate::raw::Raw;
use crate::shape::{Shape, count};

/// Records the greatest elements, which were at `places` of their planes.
pub(in crate::call) fn greatest(
    op: Op,
    out: Raw,
    x: &Raw,
    places: &Raw,
    dims: usize,
) -> Result<Raw> {
    by(op, out, [x], || {
        let (places, shape) = (places.clone(), Shape::from_slice(x.shape()));
        move |back, _| {
            let grad = flat(&back.grad()?, dims)?;
            let outer = shape.len() - dims;
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

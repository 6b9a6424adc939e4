//! Tensors joined along a dim, and matrices of which a part is zero.

use nomina_core::Result;
use nomina_core::op::Op;

use super::by::by;
use crate::SmallVec;
use crate::call::shape::triangle as triangle_of;
use crate::raw::Raw;

/// A result in which tensors stand one after the other along `dim`, but for those of sizes `[0]`.
pub(in crate::call) fn joined(op: Op, out: Raw, parts: &[&Raw], dim: usize) -> Result<Raw> {
    by(op, out, parts, || {
        let len = |x: &&Raw| x.shape().get(dim).copied().filter(|_| x.numel() > 0);
        let mut end = 0;
        let places = parts.iter().map(len).map(|len| {
            let len = len?;
            let start = end;
            end += len;
            Some((start, len))
        });
        let places: SmallVec<[Option<(usize, usize)>; 4]> = places.collect();
        move |back, part| {
            let Some((start, len)) = places[part] else {
                return Ok(None);
            };
            back.grad()?.narrow(dim, start, len).map(Some)
        }
    })
}

/// What is on one side of a diagonal and on it.
pub(in crate::call) fn triangle(out: Raw, x: &Raw, diagonal: i64, upper: bool) -> Result<Raw> {
    let op = if upper { Op::Triu } else { Op::Tril };
    by(op, out, [x], || {
        move |back, _| triangle_of(op.name(), &back.grad()?, diagonal, upper).map(Some)
    })
}

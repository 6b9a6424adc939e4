//! Elements picked dim by dim, as padding does: what was picked several times gets the sum of what comes.

use nomina_core::Result;
use nomina_core::op::Op;

use super::by;
use super::pick::{Addressing, At};
use crate::call::index_select;
use crate::job::Update;
use crate::raw::Raw;
use crate::shape::Shape;

/// Records what `maps` picked of each dim; -1 is a number.
pub(in crate::call) fn spread(
    op: Op,
    out: Raw,
    x: &Raw,
    maps: &[Option<Vec<isize>>],
) -> Result<Raw> {
    by(op, out, [x], || {
        let (maps, shape) = (maps.to_vec(), Shape::from_slice(x.shape()));
        move |back, _| {
            let mut grad = back.grad()?;
            for (dim, map) in maps.iter().enumerate() {
                if let Some(map) = map {
                    grad = gathered(op, &grad, dim, map, shape[dim])?;
                }
            }
            Ok(Some(grad))
        }
    })
}

/// Along a dim of so many elements the sums of what comes for each.
fn gathered(op: Op, grad: &Raw, dim: usize, map: &[isize], size: usize) -> Result<Raw> {
    let start = map.iter().position(|&from| from >= 0).unwrap_or(0);
    let whole = map.iter().skip(start).take(size);
    if whole.clone().len() == size && whole.enumerate().all(|(at, &from)| from == at as isize) {
        let outside =
            |(at, &from): (usize, &isize)| from < 0 || (start..start + size).contains(&at);
        if map.iter().enumerate().all(outside) {
            return grad.narrow(dim, start, size);
        }
    }
    let read = (0..map.len()).filter(|&at| map[at] >= 0);
    let (places, from): (Vec<i64>, Vec<i64>) = read.map(|at| (at as i64, map[at] as i64)).unzip();
    let index = |list: Vec<i64>| {
        let count = list.len();
        crate::call::to_device(&Raw::from_vec(list, &[count])?, grad.device())
    };
    let grad = match places.len() == map.len() {
        true => grad.clone(),
        false => index_select(op, grad, dim, &index(places)?)?,
    };
    let at = At {
        op,
        way: Addressing::Slices,
        dim,
        index: index(from)?,
    };
    let mut shape = Shape::from_slice(grad.shape());
    shape[dim] = size;
    let zeros = Raw::zeros("backward", &shape, grad.dtype(), grad.device())?;
    at.put(zeros, &grad, Update::Add)
}

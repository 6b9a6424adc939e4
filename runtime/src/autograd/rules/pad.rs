//! Gradients of padding: an element that was picked several times gets the sum of its gradients.

use nomina_core::Result;
use nomina_core::op::Op;

use crate::call::{index_select, to_device};
use crate::job::Update;
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{Addressing, Backward, DimIndex, PadSaved, Upstream};

impl Backward for PadSaved {
    fn gradient(&self, upstream: &Upstream<'_>, _: usize) -> Result<Option<Raw>> {
        let mut grad = upstream.grad()?;
        for (dim, map) in self.maps.iter().enumerate() {
            if let Some(map) = map {
                grad = sum_picked(upstream.op(), &grad, dim, map, self.shape[dim])?;
            }
        }
        Ok(Some(grad))
    }
}

/// Sums the gradients of each of `size` elements along a dim.
fn sum_picked(op: Op, grad: &Raw, dim: usize, map: &[isize], size: usize) -> Result<Raw> {
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
        to_device(&Raw::from_vec(list, &[count])?, grad.device())
    };
    let grad = if places.len() == map.len() {
        grad.clone()
    } else {
        index_select(op, grad, dim, &index(places)?)?
    };
    let index = DimIndex {
        op,
        addressing: Addressing::Slices,
        dim,
        index: index(from)?,
    };
    let mut shape = Shape::from_slice(grad.shape());
    shape[dim] = size;
    let zeros = Raw::zeros("backward", &shape, grad.dtype(), grad.device())?;
    index.update(zeros, &grad, Update::Add)
}

//! Redistribution of a split dim: each rank names the ranges that it needs, every rank knows their owners, and one
//! all-to-all moves them. In the backward pass, gradients return to the owners and are summed there.

use std::sync::Arc;

use nomina::{DynTensor, Result};
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{SplitDim, unnamed};
use crate::partition::part;
use crate::ranks::Job;

/// A range: its first index and its length.
pub(super) type Range = (usize, usize);

/// The owned range of each rank, and the ranges that each rank receives.
#[derive(Debug)]
pub(super) struct Route {
    /// The owned ranges by rank, in order and without gaps.
    owned: Vec<Range>,
    /// The wanted ranges by rank. A rank receives its ranges concatenated in this order.
    wanted: Vec<Vec<Range>>,
}

/// A segment of a rank's ranges: its owner, the start within the owner's range, and the length.
type Segment = (usize, usize, usize);

impl Route {
    pub(super) fn new(owned: Vec<Range>, wanted: Vec<Vec<Range>>) -> Arc<Self> {
        Arc::new(Self { owned, wanted })
    }

    /// Creates a route from the parts of `size` over `ranks`.
    pub(super) fn from_partition(size: usize, ranks: usize, wants: Vec<Vec<Range>>) -> Arc<Self> {
        Self::new(
            (0..ranks).map(|rank| part(size, ranks, rank)).collect(),
            wants,
        )
    }

    /// Returns the segments that a rank receives, in order.
    fn segments(&self, rank: usize) -> Vec<Segment> {
        let mut found = Vec::new();
        for &(start, len) in &self.wanted[rank] {
            let (mut next, end) = (start, start + len);
            // The first owner whose range does not end before.
            let mut from = self
                .owned
                .partition_point(|(first, len)| first + len <= next);
            while next < end && from < self.owned.len() {
                let (first, has) = self.owned[from];
                let until = end.min(first + has);
                if until > next {
                    found.push((from, next - first, until - next));
                    next = until;
                }
                from += 1;
            }
        }
        found
    }
}

/// Concatenates tensors along `dim`; a single tensor is not copied.
fn concat(pieces: &[Raw], dim: usize) -> Result<Raw> {
    if let [one] = pieces {
        return Ok(one.clone());
    }
    let pieces: Vec<DynTensor> = pieces.iter().cloned().map(unnamed).collect::<Result<_>>()?;
    let pieces: Vec<&DynTensor> = pieces.iter().collect();
    Ok(DynTensor::cat(&pieces, dim)?.into_parts().0)
}

impl SplitDim {
    /// Returns the ranges that this rank receives along a route.
    pub(super) fn fetch(&self, x: &DynTensor, route: &Arc<Route>) -> Result<DynTensor> {
        super::with_names_of(self.fetch_forward(x.raw(), route)?, x)
    }

    fn fetch_forward(&self, raw: &Raw, route: &Arc<Route>) -> Result<Raw> {
        let x = raw.clone().detach();
        let none = x.narrow(self.dim, 0, 0)?;
        let to = |rank| {
            let own_segments = route.segments(rank).into_iter();
            let own_segments = own_segments.filter(|(from, ..)| *from == self.rank());
            let own_segments = own_segments.map(|(_, start, len)| x.narrow(self.dim, start, len));
            match own_segments.collect::<Result<Vec<_>>>()? {
                pieces if pieces.is_empty() => Ok(none.clone()),
                pieces => concat(&pieces, self.dim),
            }
        };
        let pieces = (0..self.ranks()).map(to).collect::<Result<Vec<_>>>()?;
        let segments = route.segments(self.rank());
        let count = |rank| {
            let its = segments.iter().filter(|(from, ..)| *from == rank);
            its.map(|(.., len)| *len).sum()
        };
        let received = self.exchange(pieces, raw.shape(), count)?;
        // The segments from one rank arrive in the order in which they are needed.
        let mut used = vec![0; self.ranks()];
        let mut found = Vec::with_capacity(segments.len());
        for (from, _, len) in segments {
            found.push(received[from].narrow(self.dim, used[from], len)?);
            used[from] += len;
        }
        let found = if found.is_empty() {
            none
        } else {
            concat(&found, self.dim)?
        };
        let (split_dim, route, shape) = (self.clone(), route.clone(), raw.shape().to_vec());
        custom(self.op, &[raw], found, move |grad| {
            Ok(vec![Some(split_dim.fetch_backward(grad, &route, &shape)?)])
        })
    }

    /// Sums the gradients of this rank's range, which has sizes `shape`, from all ranks that received elements of it.
    fn fetch_backward(&self, raw: &Raw, route: &Arc<Route>, shape: &[usize]) -> Result<Raw> {
        let x = raw.clone().detach();
        let mut by_owner: Vec<Vec<Raw>> = vec![Vec::new(); self.ranks()];
        let mut next = 0;
        for (from, _, len) in route.segments(self.rank()) {
            by_owner[from].push(x.narrow(self.dim, next, len)?);
            next += len;
        }
        let pieces = by_owner.iter().map(|pieces| {
            if pieces.is_empty() {
                x.narrow(self.dim, 0, 0)
            } else {
                concat(pieces, self.dim)
            }
        });
        let pieces = pieces.collect::<Result<Vec<_>>>()?;
        let own_segments = |rank| {
            let its = route.segments(rank).into_iter();
            its.filter(|(from, ..)| *from == self.rank())
        };
        let count = |rank| own_segments(rank).map(|(.., len)| len).sum();
        let received = self.exchange(pieces, shape, count)?;
        let mut sum = unnamed(Raw::zeros(self.op, shape, raw.dtype(), raw.device())?)?;
        for (rank, received) in received.into_iter().enumerate() {
            let mut used = 0;
            for (_, start, len) in own_segments(rank) {
                let piece = unnamed(received.narrow(self.dim, used, len)?)?;
                sum.narrow_mut(self.dim, start, len)?.add_(&piece)?;
                used += len;
            }
        }
        let (split_dim, route) = (self.clone(), route.clone());
        custom(self.op, &[raw], sum.into_parts().0, move |grad| {
            Ok(vec![Some(split_dim.fetch_forward(grad, &route)?)])
        })
    }

    /// Sends a piece to each rank. Returns the received pieces; their sizes are `shape`, with `count(rank)` along the
    /// dim.
    fn exchange(
        &self,
        pieces: Vec<Raw>,
        shape: &[usize],
        count: impl Fn(usize) -> usize,
    ) -> Result<Vec<Raw>> {
        let shapes = (0..self.ranks()).map(|rank| {
            let mut shape = shape.to_vec();
            shape[self.dim] = count(rank);
            shape
        });
        let shapes = shapes.collect();
        let metadata = &self.metadata;
        let dtype = pieces.first().map(Raw::dtype);
        let description = metadata.describe(self.op, dtype, self.axis, self.at);
        let job = Job::AllToAll { pieces, shapes };
        metadata.shared.start(self.axis, description, job)?.wait()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_where_they_are() {
        let wants = vec![vec![(0, 7)], vec![(6, 1), (0, 1)], vec![], vec![(2, 3)]];
        let route = Route::from_partition(7, 4, wants);
        assert_eq!(
            route.segments(0),
            [(0, 0, 2), (1, 0, 2), (2, 0, 2), (3, 0, 1)]
        );
        assert_eq!(route.segments(1), [(3, 0, 1), (0, 0, 1)]);
        assert_eq!(route.segments(2), []);
        assert_eq!(route.segments(3), [(1, 0, 2), (2, 0, 1)]);
        // Ranks past the last element own nothing.
        let route = Route::from_partition(2, 4, vec![vec![(0, 2)]; 4]);
        assert_eq!(route.segments(3), [(0, 0, 1), (1, 0, 1)]);
    }
}

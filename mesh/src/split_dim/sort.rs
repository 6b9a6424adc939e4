//! Sorting along a split dim by a network of comparisons between ranks: two ranks merge their blocks, one keeps the
//! lower half, the other the upper half.
//!
//! Batcher's network takes t (t + 1) / 2 steps for 2^t ranks; in each step a rank sends its block at most once. A
//! sample sort sends each element only twice, but its block sizes depend on the values: ranks would have to agree on
//! them first, a plan could not count them, and equal elements would all go to one rank. Here the blocks have equal
//! sizes, and all ranks use the same memory.

use nomina::{DType, DynTensor, Result, Scalar, SortOptions};

use super::route::Route;
use super::{SplitDim, with_dependency};
use crate::identity;
use crate::partition::part;

/// Returns the steps of Batcher's merge exchange (Knuth's algorithm M). Each step consists of pairs of ranks; the first
/// of a pair keeps the elements that come first.
fn merge_network(ranks: usize) -> Vec<Vec<(usize, usize)>> {
    let mut steps = Vec::new();
    let top = ranks.next_power_of_two() / 2;
    let mut p = top;
    while p > 0 {
        let (mut q, mut r, mut d) = (top, 0, p);
        loop {
            let pairs = (0..ranks.saturating_sub(d)).filter(|i| i & p == r);
            steps.push(pairs.map(|i| (i, i + d)).collect());
            if q == p {
                break;
            }
            (d, q, r) = (q - p, q / 2, p);
        }
        p /= 2;
    }
    steps
}

impl SplitDim {
    /// Sorts the elements stably along the dim. Returns them, in the same parts as before, with their original indices.
    pub(crate) fn sort(
        &self,
        x: &DynTensor,
        options: SortOptions,
    ) -> Result<(DynTensor, DynTensor)> {
        let (ranks, size) = (self.ranks(), self.size());
        if ranks == 1 || size == 0 {
            return x.sort_with(self.dim, options);
        }
        let len = size.div_ceil(ranks);
        let range = |rank: usize| {
            (
                (rank * len).min(size),
                len.min(size.saturating_sub(rank * len)),
            )
        };
        let blocks: Vec<(usize, usize)> = (0..ranks).map(|rank| (rank * len, len)).collect();
        let uneven = !size.is_multiple_of(ranks);
        let mut values = x.clone();
        if uneven {
            let wants = (0..ranks).map(|rank| vec![range(rank)]).collect();
            values = self.fetch(&values, &Route::from_partition(size, ranks, wants))?;
            values = self.padded(&values, len, options)?;
        }
        let first = blocks[self.rank()].0 as i64;
        let mut places = self.indices_from(&values, first)?;
        (values, places) = self.sort_pairs(&values, &places, options)?;
        for pairs in merge_network(ranks) {
            let wants = |rank: usize| {
                let pair = pairs.iter().find(|(a, b)| [a, b].contains(&&rank));
                pair.map_or(vec![blocks[rank]], |&(a, b)| vec![blocks[a], blocks[b]])
            };
            let wants: Vec<Vec<_>> = (0..ranks).map(wants).collect();
            let compares = wants[self.rank()].len() == 2;
            let lower = wants[self.rank()][0] == blocks[self.rank()];
            let route = Route::new(blocks.clone(), wants);
            values = self.fetch(&values, &route)?;
            places = self.fetch(&places, &route)?;
            if compares {
                (values, places) = self.sort_pairs(&values, &places, options)?;
                let start = if lower { 0 } else { len as i64 };
                values = values.narrow(self.dim, start, len)?;
                places = places.narrow(self.dim, start, len)?;
            }
        }
        if uneven {
            let wants = (0..ranks).map(|rank| vec![part(size, ranks, rank)]);
            let route = Route::new(blocks, wants.collect());
            values = self.fetch(&values, &route)?;
            places = self.fetch(&places, &route)?;
        }
        Ok((values, places))
    }

    /// Pads a part to `len` with elements that sort last. Equal elements of the tensor still come before them, since
    /// the padding has greater indices.
    fn padded(&self, x: &DynTensor, len: usize, options: SortOptions) -> Result<DynTensor> {
        let more = len - x.shape()[self.dim];
        let last = match (x.dtype().is_float(), options.descending) {
            (true, false) => Scalar::Float(f64::NAN),
            (_, descending) => identity::extreme_number(x.dtype(), descending),
        };
        let mut shape = x.shape().to_vec();
        shape[self.dim] = more;
        let factory = DynTensor::options().dtype(x.dtype()).device(x.device());
        let rest = factory.full(&shape, last, x.names().clone())?;
        if more == len {
            return with_dependency(self.op, rest, std::slice::from_ref(x));
        }
        DynTensor::cat(&[x, &rest], self.dim)
    }

    /// Returns the indices from `first` on, in the shape of `x`.
    fn indices_from(&self, x: &DynTensor, first: i64) -> Result<DynTensor> {
        let len = x.shape()[self.dim];
        let count: Vec<i64> = (first..).take(len).collect();
        let mut shape = vec![1; x.rank()];
        shape[self.dim] = len;
        let row = DynTensor::from_vec(count, &shape, x.names().clone())?.to_device(x.device())?;
        let zeros = x.detach().zeros_like()?.to_dtype(DType::I64)?;
        zeros.add(&row)
    }

    /// Sorts by value, and equal values by index.
    fn sort_pairs(
        &self,
        values: &DynTensor,
        places: &DynTensor,
        options: SortOptions,
    ) -> Result<(DynTensor, DynTensor)> {
        let by_place = places.argsort_with(self.dim, SortOptions::default())?;
        let keys = values.detach().gather(self.dim, &by_place)?;
        let by_value = keys.argsort_with(self.dim, options)?;
        let order = by_place.gather(self.dim, &by_value)?;
        Ok((
            values.gather(self.dim, &order)?,
            places.gather(self.dim, &order)?,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::merge_network;

    #[test]
    fn networks_sort_all_that_is_zero_or_one() {
        for ranks in 1..=12_usize {
            let steps = merge_network(ranks);
            let t = ranks.next_power_of_two().trailing_zeros() as usize;
            assert_eq!(steps.len(), t * (t + 1) / 2);
            for step in &steps {
                let mut met = vec![false; ranks];
                for &(a, b) in step {
                    assert!(a < b && b < ranks && !met[a] && !met[b]);
                    (met[a], met[b]) = (true, true);
                }
            }
            for bits in 0..1_u32 << ranks {
                let mut all: Vec<u32> = (0..ranks).map(|i| bits >> i & 1).collect();
                for &(a, b) in steps.iter().flatten() {
                    if all[a] > all[b] {
                        all.swap(a, b);
                    }
                }
                assert!(all.is_sorted(), "{ranks} ranks: {bits:b}");
            }
        }
    }
}

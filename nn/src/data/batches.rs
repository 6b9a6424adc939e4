//! Indices of a dim in batches.

use std::ops::Range;

use nomina::dims::{Dim, Distinct, Of};
use nomina::{Generator, Result, Tensor};
use nomina_macros::twin;

/// An iterator over the indices of a dim in batches: in order, or shuffled with a seed. Each item is a tensor that
/// selects rows of data.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C }
/// let x = Tensor::<(N, C)>::randn([10, 3]);
/// let labels = Tensor::<(N,), i64>::zeros([10]);
/// let mut seen = 0;
/// for rows in Batches::shuffled(N.of(10), 4, 7) {
///     let x: Tensor<(N, C)> = x.index_select(N, &rows);
///     let labels: Tensor<(N,), i64> = labels.index_select(N, &rows);
///     seen += x.size(N);
/// }
/// assert_eq!(seen, 10);
/// ```
#[derive(Clone, Debug)]
pub struct Batches<N: Dim> {
    order: Tensor<(N,), i64>,
    size: usize,
    remaining: Range<usize>,
}

impl<N: Dim> Batches<N>
where
    (N,): Distinct,
{
    /// Creates batches of `size` indices in order; the last one may be smaller. A `size` of 0 means 1.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_new(of: Of<N>, size: usize) -> Result<Self> {
        let end = of.size;
        Self::from_order(
            Tensor::try_arange(0, i64::try_from(end).unwrap_or(i64::MAX), 1)?,
            size,
        )
    }

    /// Like [`new`](Self::new), but in an order determined by `seed`. For another order each epoch:
    /// `Batches::shuffled(N.of(10), 4, epoch)`.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_shuffled(of: Of<N>, size: usize, seed: u64) -> Result<Self> {
        let mut generator = Generator::new(seed);
        let options = Tensor::<(N,)>::options().dtype::<i64>();
        let order = options.generator(&mut generator).try_randperm(of.size)?;
        Self::from_order(order, size)
    }

    fn from_order(order: Tensor<(N,), i64>, size: usize) -> Result<Self> {
        let remaining = 0..order.numel();
        let size = size.max(1);
        Ok(Self {
            order,
            size,
            remaining,
        })
    }

    /// Drops the last batch if it is smaller.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.remaining.end -= self.remaining.len() % self.size;
        self
    }
}

impl<N: Dim> Iterator for Batches<N>
where
    (N,): Distinct,
{
    type Item = Tensor<(N,), i64>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.remaining.next()?;
        let end = self.remaining.end.min(start + self.size);
        self.remaining.start = end;
        // A view within the dim, whose size is not in its type: neither call fails.
        let first = i64::try_from(start).ok()?;
        let part = self.order.to_dyn().narrow(0, first, end - start).ok()?;
        part.try_into().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.remaining.len().div_ceil(self.size);
        (remaining, Some(remaining))
    }
}

impl<N: Dim> ExactSizeIterator for Batches<N> where (N,): Distinct {}

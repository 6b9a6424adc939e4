//! Loaders: what is loaded, in which order and by how many threads.

use std::fmt;
use std::sync::Arc;

use nomina::dims::OneDim;
use nomina::loops::Batch;
use nomina::{Error, ErrorKind, Result};
use nomina_macros::twin;

use super::epoch::{Epoch, Plan, Position};
use super::sampler::mixed;
use super::source::{Collated, InMemory, Rows, Source, common_size};
use super::{BoxError, Dataset, FromFn, InOrder, Sampler, Shuffled};

/// Batches of type `B`, loaded on any number of threads, in an order that does not depend on their number.
///
/// Items are stacked along a new dim `N`, which is in the type of the batches: `Loader<(Tensor<(N, H, W)>, Tensor<(N,),
/// i64>)>` for pairs of a picture and a label. A loader is a plan; [`epoch`](Self::epoch) starts to load, on threads
/// that end with the iterator.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, C }
/// let samples: Vec<(Tensor<(C,)>, i64)> = (0..10).map(|i| (Tensor::full([3], i as f32), i)).collect();
/// let loader = Loader::new(N, samples, 4).shuffled(7).workers(2);
///
/// let mut labels = Vec::new();
/// for batch in loader.epoch(0) {
///     let (x, label): (Tensor<(N, C)>, Tensor<(N,), i64>) = batch?;
///     assert_eq!(x.size(N), label.size(N));
///     labels.extend(label.to_vec());
/// }
/// labels.sort();
/// assert_eq!(labels, Vec::from_iter(0..10));
/// # Ok::<(), Error>(())
/// ```
pub struct Loader<B> {
    source: Arc<dyn Source<B>>,
    sampler: Arc<dyn Sampler>,
    batch_size: usize,
    workers: usize,
    prefetch: Option<usize>,
    drop_last: bool,
    seed: u64,
}

impl<B> Clone for Loader<B> {
    fn clone(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            sampler: Arc::clone(&self.sampler),
            ..*self
        }
    }
}

impl<B> fmt::Debug for Loader<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loader")
            .field("items", &self.source.len())
            .field("batch_size", &self.batch_size)
            .field("workers", &self.workers)
            .field("drop_last", &self.drop_last)
            .finish_non_exhaustive()
    }
}

impl<B: Send + 'static> Loader<B> {
    /// Creates a loader that stacks items of a data set along `dim`, `batch_size` at a time; 0 means 1. Its order is that
    /// of the items, and it loads on the calling thread.
    pub fn new<N: OneDim, D>(dim: N, data: D, batch_size: usize) -> Self
    where
        D: Dataset<Item: Batch<N, Batched = B>> + 'static,
    {
        let stack = move |items| Ok(D::Item::try_batch(items, dim)?);
        Self::collated(data, batch_size, stack)
    }

    /// Like [`new`](Self::new), but reads `len` items by a function of the index.
    pub fn from_fn<N: OneDim, I, E>(
        dim: N,
        len: usize,
        read: impl Fn(usize) -> Result<I, E> + Send + Sync + 'static,
        batch_size: usize,
    ) -> Self
    where
        I: Batch<N, Batched = B>,
        E: Into<BoxError>,
        B: 'static,
    {
        let stack = move |items| Ok(I::try_batch(items, dim)?);
        Self::collated(FromFn { len, read }, batch_size, stack)
    }

    /// Like [`new`](Self::new), but makes a batch of items by a function, for example to pad sequences.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::data::BoxError;
    /// use nomina_nn::prelude::*;
    /// dims! { N, T }
    /// let texts: Vec<Tensor<(T,), i64>> = vec![tensor!([5, 6]; T), tensor!([7]; T), tensor!([8, 9, 10]; T)];
    /// let pad = |texts: Vec<Tensor<(T,), i64>>| -> Result<_, BoxError> {
    ///     Ok(try_pad_sequences(N, T, &texts, 0)?)
    /// };
    /// let loader = Loader::collated(texts, 2, pad);
    /// let (ids, lengths): (Tensor<(N, T), i64>, Tensor<(N,), i64>) = loader.epoch(0).next().unwrap()?;
    /// assert_eq!((ids.to_vec(), lengths.to_vec()), (vec![5, 6, 7, 0], vec![2, 1]));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn collated<D: Dataset + 'static>(
        data: D,
        batch_size: usize,
        collate: impl Fn(Vec<D::Item>) -> Result<B, BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self::from_source(Arc::new(Collated { data, collate }), batch_size)
    }

    /// Creates a loader of rows of tensors in memory: a tensor with the dim, or a tuple of several. The rows of a batch
    /// are selected at once, which is faster than stacking them one by one.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N, C }
    /// let (x, y) = (Tensor::<(N, C)>::randn([10, 3]), Tensor::<(N,), i64>::zeros([10]));
    /// let loader = Loader::from_tensors(N, (x, y), 4).shuffled(7);
    /// assert_eq!(loader.batches()?, 3);
    /// for batch in loader.epoch(0) {
    ///     let (x, y): (Tensor<(N, C)>, Tensor<(N,), i64>) = batch?;
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the tensors have different sizes along the dim.
    #[twin]
    pub fn try_from_tensors<N: OneDim>(dim: N, rows: B, batch_size: usize) -> Result<Self>
    where
        B: Rows<N>,
    {
        let len = common_size(&rows)?;
        Ok(Self::from_source(
            Arc::new(InMemory { rows, len, dim }),
            batch_size,
        ))
    }

    fn from_source(source: Arc<dyn Source<B>>, batch_size: usize) -> Self {
        Self {
            source,
            sampler: Arc::new(InOrder),
            batch_size: batch_size.max(1),
            workers: 0,
            prefetch: None,
            drop_last: false,
            seed: 0,
        }
    }

    /// Shuffles the items, in another order each epoch; also sets the seed of [`Dataset::try_draw`].
    #[must_use]
    pub fn shuffled(self, seed: u64) -> Self {
        self.seed(seed).sampler(Shuffled { seed })
    }

    /// Sets the order of the items.
    #[must_use]
    pub fn sampler(mut self, sampler: impl Sampler + 'static) -> Self {
        self.sampler = Arc::new(sampler);
        self
    }

    /// Sets the seed of the generators of [`Dataset::try_draw`]; 0 by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of threads that load. With 0, the default, the calling thread loads each batch when it is asked
    /// for; that is best for data in memory.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the greatest number of batches that are loaded ahead, at least 1; by default two for each thread. Memory
    /// holds at most this number of batches beside the one in use.
    #[must_use]
    pub fn prefetch(mut self, batches: usize) -> Self {
        self.prefetch = Some(batches.max(1));
        self
    }

    /// Drops the last batch if it is smaller than the others.
    #[must_use]
    pub fn drop_last(mut self) -> Self {
        self.drop_last = true;
        self
    }

    /// Returns the number of items of the data set.
    #[must_use]
    pub fn items(&self) -> usize {
        self.source.len()
    }

    /// Returns the number of batches in an epoch.
    ///
    /// # Errors
    /// If the sampler does not fit the data set.
    pub fn batches(&self) -> Result<usize> {
        let order = self.sampler.try_order(self.source.len(), 0)?;
        Ok(self.count(order.len()))
    }

    fn count(&self, indices: usize) -> usize {
        if self.drop_last {
            indices / self.batch_size
        } else {
            indices.div_ceil(self.batch_size)
        }
    }

    /// Starts an epoch, and returns an iterator of its batches. If the sampler fails, its error is the only item.
    ///
    /// An item that cannot be read, or a panic in a function of yours, is an error of its batch, with the item's index; the
    /// batches after it follow. Dropping the iterator stops its threads and waits
    /// for the items that they read at the moment.
    #[must_use]
    pub fn epoch(&self, epoch: u64) -> Epoch<B> {
        self.resume(Position { epoch, batch: 0 })
    }

    /// Like [`epoch`](Self::epoch), but from a position within an epoch. Batches before it are not loaded.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { N }
    /// let loader = Loader::new(N, Vec::from_iter(0..10_i64), 3).shuffled(7);
    /// let mut epoch = loader.epoch(2);
    /// epoch.next();
    /// let mut resumed = loader.resume(epoch.position());
    /// assert!(resumed.next().unwrap()?.equal(&epoch.next().unwrap()?));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn resume(&self, from: Position) -> Epoch<B> {
        let order = self.sampler.try_order(self.source.len(), from.epoch);
        let checked = order.and_then(|order| {
            let len = self.source.len();
            match order.iter().find(|&&index| index >= len) {
                None => Ok(order),
                Some(index) => {
                    let what = format!("the sampler gives index {index} of {len} items");
                    Err(Error::new(ErrorKind::Index, "loader", what))
                }
            }
        });
        let (order, error) = match checked {
            Ok(order) => (order, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let plan = Plan {
            source: Arc::clone(&self.source),
            batches: self.count(order.len()),
            order,
            batch_size: self.batch_size,
            epoch: from.epoch,
            seed: mixed(self.seed, from.epoch),
        };
        let prefetch = self.prefetch.unwrap_or(2 * self.workers);
        Epoch::start(plan, from.batch, error, self.workers, prefetch)
    }
}

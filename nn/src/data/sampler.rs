//! Orders of items.

use nomina::{DynTensor, Error, ErrorKind, Generator, MultinomialOptions, Result};

/// The order of a data set's items in an epoch. It depends on nothing but the number of items and the epoch.
pub trait Sampler: Send + Sync {
    /// Returns the indices of an epoch in order. An index may occur several times, or not at all.
    ///
    /// # Errors
    /// If the sampler does not fit `len` items, or memory runs out.
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>>;
}

/// All items in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InOrder;

impl Sampler for InOrder {
    fn try_order(&self, len: usize, _: u64) -> Result<Vec<usize>> {
        Ok((0..len).collect())
    }
}

/// All items in an order drawn from the seed and the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shuffled {
    /// The seed.
    pub seed: u64,
}

impl Sampler for Shuffled {
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>> {
        let mut generator = generator(self.seed, epoch);
        indices(&DynTensor::randperm_from(len, (), &mut generator)?)
    }
}

/// Items drawn independently, each with the same probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithReplacement {
    /// The number of indices in an epoch.
    pub count: usize,
    /// The seed.
    pub seed: u64,
}

impl Sampler for WithReplacement {
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>> {
        let uniform = vec![1.0; len];
        draw(&uniform, self.count, true, generator(self.seed, epoch))
    }
}

/// Items drawn with probabilities in proportion to weights, for example the inverse frequency of each item's class.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// A weight for each item.
    pub weights: Vec<f64>,
    /// The number of indices in an epoch.
    pub count: usize,
    /// Whether an index may be drawn more than once.
    pub replacement: bool,
    /// The seed.
    pub seed: u64,
}

impl Sampler for Weighted {
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>> {
        if self.weights.len() != len {
            let what = format!("{} weights for {len} items", self.weights.len());
            return Err(refused("Weighted", what, "give a weight for each item"));
        }
        let generator = generator(self.seed, epoch);
        draw(&self.weights, self.count, self.replacement, generator)
    }
}

/// Some of the items, for example a training or a test set, in the order of another sampler.
///
/// ```
/// use nomina_nn::data::{InOrder, Sampler, Subset};
/// let odd = Subset { indices: vec![1, 3, 5], sampler: InOrder };
/// assert_eq!(odd.try_order(6, 0)?, [1, 3, 5]);
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset<S> {
    /// The indices of the items.
    pub indices: Vec<usize>,
    /// The order of the indices.
    pub sampler: S,
}

impl<S: Sampler> Sampler for Subset<S> {
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>> {
        if let Some(index) = self.indices.iter().find(|&&index| index >= len) {
            let what = format!("index {index} of {len} items");
            return Err(refused("Subset", what, "count items from 0"));
        }
        let order = self.sampler.try_order(self.indices.len(), epoch)?;
        Ok(order.into_iter().map(|at| self.indices[at]).collect())
    }
}

/// One rank's share of another sampler's order, for training on several machines: ranks take the indices in turn.
///
/// All ranks get the same number of indices. If the number of items is no multiple of the number of ranks, the order
/// continues from its start, or with `drop_last` its end is dropped, like PyTorch's `DistributedSampler`.
///
/// ```
/// use nomina_nn::data::{InOrder, Sampler, Shard};
/// let shard = |rank| Shard { sampler: InOrder, rank, ranks: 2, drop_last: false };
/// assert_eq!(shard(0).try_order(5, 0)?, [0, 2, 4]);
/// assert_eq!(shard(1).try_order(5, 0)?, [1, 3, 0]);
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard<S> {
    /// The order that is shared. Its seed must be the same on all ranks.
    pub sampler: S,
    /// This rank.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
    /// Whether to drop the end of the order instead of repeating its start.
    pub drop_last: bool,
}

impl<S: Sampler> Sampler for Shard<S> {
    fn try_order(&self, len: usize, epoch: u64) -> Result<Vec<usize>> {
        let &Self { rank, ranks, .. } = self;
        if rank >= ranks {
            let what = format!("rank {rank} of {ranks}");
            return Err(refused("Shard", what, "count ranks from 0"));
        }
        let order = self.sampler.try_order(len, epoch)?;
        if order.is_empty() {
            return Ok(order);
        }
        let each = if self.drop_last {
            order.len() / ranks
        } else {
            order.len().div_ceil(ranks)
        };
        let own = (0..each).map(|at| order[(at * ranks + rank) % order.len()]);
        Ok(own.collect())
    }
}

fn refused(op: &'static str, what: String, hint: &str) -> Error {
    Error::new(ErrorKind::Argument, op, what).hint(hint)
}

/// Mixes a seed with a number, so that neither neighbouring seeds nor neighbouring numbers give related results
/// (SplitMix64).
pub(super) fn mixed(seed: u64, number: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0xd134_2543_de82_ef95)
        .wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn generator(seed: u64, epoch: u64) -> Generator {
    Generator::new(mixed(seed, epoch))
}

/// Draws indices with probabilities in proportion to weights.
fn draw(
    weights: &[f64],
    count: usize,
    replacement: bool,
    mut generator: Generator,
) -> Result<Vec<usize>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let weights = DynTensor::from_vec(weights.to_vec(), &[weights.len()], ())?;
    let options = MultinomialOptions { replacement };
    indices(&weights.multinomial_from(count, 0, options, &mut generator)?)
}

fn indices(order: &DynTensor) -> Result<Vec<usize>> {
    let order = order.to_vec::<i64>()?;
    Ok(order.into_iter().map(|index| index as usize).collect())
}

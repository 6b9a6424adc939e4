//! Keys and values of earlier positions.

use std::fmt;
use std::marker::PhantomData;

use nomina::dims::{Dims, Distinct, Joined, Without};
use nomina::{DynTensor, Element, Error, ErrorKind, Names, Result, Tensor, Typed, is_grad_enabled};
use nomina_runtime::Raw;

nomina::prelude::dims! {
    /// The positions in a [`KeyValueCache`].
    pub Past
}

/// The dims of the cache of attention along `S` over inputs of dims `D`, with features along `E`: the batch dims, heads
/// `H`, [`Past`], features `F`.
pub type CacheDims<D, S, E, H, F> = Joined<Without<Without<D, S>, E>, (H, Past, F)>;

/// The keys and values that attention has computed, along [`Past`], which grows by each call of
/// [`forward_cached`](super::MultiHeadAttention::forward_cached): a step of generation costs one position instead of all.
///
/// Elements are added in place. Room is doubled when it is used up, so a step copies few positions on average. With
/// gradients on, each call copies everything, and gradients reach earlier positions; use
/// [`no_grad`](nomina::no_grad) to generate.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Head, Feature }
/// let mut caches: Vec<KeyValueCache<(N, Head, Past, Feature)>> = vec![KeyValueCache::with_limit(128); 6];
/// assert!(caches[0].is_empty() && caches[0].keys().is_none());
/// ```
pub struct KeyValueCache<D: Dims, T: Element = f32> {
    store: Store,
    typed: PhantomData<fn() -> Tensor<D, T>>,
}

impl<D: Dims, T: Element> Clone for KeyValueCache<D, T> {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            typed: PhantomData,
        }
    }
}

impl<D: Dims, T: Element> fmt::Debug for KeyValueCache<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyValueCache of {} positions", self.len())
    }
}

impl<D: Dims, T: Element> Default for KeyValueCache<D, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D: Dims, T: Element> KeyValueCache<D, T> {
    /// Creates an empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self {
            store: Store::default(),
            typed: PhantomData,
        }
    }

    /// Creates an empty cache of at most `limit` positions: before a call adds positions, the oldest ones that exceed
    /// the limit are dropped. A call with more positions than that still sees all of its own.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        let mut cache = Self::new();
        cache.store.limit = Some(limit);
        cache
    }

    /// Returns the number of positions in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Returns whether the cache has no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of positions that were added, dropped ones included: the index of the next one.
    #[must_use]
    pub fn seen(&self) -> usize {
        self.store.seen()
    }

    /// Removes all positions, to begin another sequence.
    pub fn clear(&mut self) {
        let limit = self.store.limit;
        self.store = Store {
            limit,
            ..Store::default()
        };
    }

    /// Removes all but the first `len` positions, to continue from there. Does nothing if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        let removed = self.len().saturating_sub(len);
        self.store.end -= removed;
        self.store.seen -= removed;
    }

    pub(super) const fn store(&mut self) -> &mut Store {
        &mut self.store
    }
}

impl<D: Dims + Distinct, T: Element> KeyValueCache<D, T> {
    /// Returns the keys, which share their elements with the cache; `None` before the first call.
    #[must_use]
    pub fn keys(&self) -> Option<Tensor<D, T>> {
        self.part(0)
    }

    /// Returns the values, which share their elements with the cache; `None` before the first call.
    #[must_use]
    pub fn values(&self) -> Option<Tensor<D, T>> {
        self.part(1)
    }

    fn part(&self, index: usize) -> Option<Tensor<D, T>> {
        let raws = self.store.views().ok()??;
        let named = DynTensor::from_parts(raws[index].clone(), Names::from_static(D::NAMES));
        named.ok()?.typed().ok()
    }
}

/// The cache without its types.
#[derive(Clone, Default)]
pub(super) struct Store {
    /// Keys and values, with room for more positions, which are the dim before the last.
    buffers: Option<[DynTensor; 2]>,
    start: usize,
    end: usize,
    seen: usize,
    limit: Option<usize>,
}

impl Store {
    pub const fn seen(&self) -> usize {
        self.seen
    }

    const fn len(&self) -> usize {
        self.end - self.start
    }

    fn views(&self) -> Result<Option<[Raw; 2]>> {
        let Some([keys, values]) = &self.buffers else {
            return Ok(None);
        };
        let view = |buffer: &DynTensor| {
            let dim = buffer.rank() - 2;
            buffer.raw().narrow(dim, self.start, self.len())
        };
        Ok(Some([view(keys)?, view(values)?]))
    }

    /// Adds keys and values, and returns all.
    pub fn extend(&mut self, new: [Raw; 2]) -> Result<[Raw; 2]> {
        let dim = new[0].rank() - 2;
        let added = new[0].shape()[dim];
        if let Some(limit) = self.limit {
            let kept = self.len().min(limit.saturating_sub(added));
            self.start = self.end - kept;
        }
        let past = self.views()?;
        if let Some(past) = &past {
            for (past, new) in past.iter().zip(&new) {
                require_same_batch(past, new, dim)?;
            }
        }
        let recorded = past.iter().flatten().chain(&new).any(Raw::requires_grad);
        if recorded && is_grad_enabled() {
            let joined = match past {
                None => new,
                Some([keys, values]) => [
                    nomina_runtime::call::cat(&[&keys, &new[0]], dim)?,
                    nomina_runtime::call::cat(&[&values, &new[1]], dim)?,
                ],
            };
            (self.start, self.end) = (0, joined[0].shape()[dim]);
            let [keys, values] = joined.clone().map(plain);
            self.buffers = Some([keys?, values?]);
        } else {
            self.reserve(past, &new, dim, added)?;
            if let Some(buffers) = &mut self.buffers {
                for (buffer, new) in buffers.iter_mut().zip(new) {
                    let mut place = buffer.narrow_mut(dim as i64, self.end, added)?;
                    place.copy_(&plain(new)?)?;
                }
            }
            self.end += added;
        }
        self.seen += added;
        let all = self.views()?;
        Ok(all.unwrap_or_else(|| unreachable!("buffers were allocated")))
    }

    /// Makes room for `added` positions after the last one.
    fn reserve(
        &mut self,
        past: Option<[Raw; 2]>,
        new: &[Raw; 2],
        dim: usize,
        added: usize,
    ) -> Result<()> {
        const LEAST: usize = 16;
        let room = |buffers: &[DynTensor; 2]| buffers[0].shape()[dim];
        if self
            .buffers
            .as_ref()
            .is_some_and(|buffers| self.end + added <= room(buffers))
        {
            return Ok(());
        }
        let len = self.len();
        let capacity = (2 * (len + added)).max(LEAST);
        let mut buffers = Vec::new();
        for (index, new) in new.iter().enumerate() {
            let mut sizes = new.shape().to_vec();
            sizes[dim] = capacity;
            let zeros = Raw::zeros("attention", &sizes, new.dtype(), new.device())?;
            let mut buffer = plain(zeros)?;
            if let Some(past) = &past {
                let mut place = buffer.narrow_mut(dim as i64, 0, len)?;
                place.copy_(&plain(past[index].clone().detach())?)?;
            }
            buffers.push(buffer);
        }
        self.buffers = buffers.try_into().ok();
        (self.start, self.end) = (0, len);
        Ok(())
    }
}

fn plain(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw, names)
}

/// Checks that all sizes but that of `dim` are equal.
fn require_same_batch(past: &Raw, new: &Raw, dim: usize) -> Result<()> {
    let differs = |at: usize| at != dim && past.shape()[at] != new.shape()[at];
    let same_rank = past.rank() == new.rank();
    if same_rank && !(0..past.rank()).any(differs) && past.dtype() == new.dtype() {
        return Ok(());
    }
    let what = format!(
        "the cache has keys of sizes {:?}, and the new ones are {:?}",
        past.shape(),
        new.shape()
    );
    Err(Error::new(ErrorKind::Shape, "attention", what)
        .hint("use one cache for each layer and batch; `clear` it before another sequence"))
}

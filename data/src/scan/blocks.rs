//! Blocks of a variable, reduced on several threads and combined in order.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;
use std::sync::{Condvar, Mutex, PoisonError};

use nomina::{DynTensor, Result};

use super::partial::{Partial, reduce_part};
use super::reduction::Reduction;
use crate::select::{Positions, refused};
use crate::variable::{Data, Variable};

/// A function that learns of the elements that are done, and of all.
pub(super) type Progress<'a> = dyn FnMut(usize, usize) + Send + 'a;

/// A range along each dim.
pub(super) type Block = Vec<Range<usize>>;

/// The bytes that a block takes for each element: stored and decoded, widened, masked, and its partial results.
const ELEMENT: usize = 64;

/// The blocks of a large variable, at least, so that threads finish at about the same time.
const SHARES: usize = 16;

/// The least number of elements of a block that is smaller than the memory allows.
const SHARE: usize = 1 << 16;

/// A reduction of one variable.
pub(super) struct Job<'a> {
    pub(super) variable: &'a Variable,
    pub(super) reduction: Reduction,
    /// The dims that are reduced, the grouped one among them.
    pub(super) over: Vec<usize>,
    /// The grouped dim; without groups, without meaning.
    pub(super) along: usize,
    /// The group of each position along the grouped dim, and the number of groups.
    pub(super) groups: Option<(&'a [Option<usize>], usize)>,
}

/// Results by the starts of their block along the dims of the result; the position along the grouped dim is the group.
type Places = BTreeMap<Vec<usize>, (Block, Partial)>;

/// The state that threads share.
struct Shared {
    /// The next block to take.
    next: usize,
    /// The next block to combine. Blocks are combined in order, so that sums do not depend on threads.
    combined: usize,
    /// The partial results that wait for an earlier block.
    waiting: BTreeMap<usize, Vec<(usize, Partial)>>,
    places: Places,
    error: Option<nomina::Error>,
    /// Whether a thread failed, so that no further block is taken.
    stopped: bool,
}

/// Stops the other threads when the thread of a block panics.
struct StopOnPanic<'a> {
    shared: &'a Mutex<Shared>,
    combined: &'a Condvar,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let shared = self.shared.lock();
            shared.unwrap_or_else(PoisonError::into_inner).stopped = true;
            self.combined.notify_all();
        }
    }
}

impl Job<'_> {
    /// Returns the dims of the result, by their position in the variable.
    pub(super) fn kept(&self) -> Vec<usize> {
        let is_kept =
            |dim: &usize| !self.over.contains(dim) || self.groups.is_some() && *dim == self.along;
        (0..self.variable.shape().len()).filter(is_kept).collect()
    }

    /// Reduces all blocks.
    pub(super) fn run(
        &self,
        boxes: &[Block],
        threads: usize,
        progress: &Mutex<(usize, usize, Option<Box<Progress<'_>>>)>,
    ) -> Result<DynTensor> {
        let shared = Mutex::new(Shared {
            next: 0,
            combined: 0,
            waiting: BTreeMap::new(),
            places: BTreeMap::new(),
            error: None,
            stopped: false,
        });
        let combined = Condvar::new();
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            let _stop = StopOnPanic {
                shared: &shared,
                combined: &combined,
            };
            loop {
                let mut state = lock();
                // A thread that is far ahead waits, so that few partial results are in memory.
                while !state.stopped && state.next > state.combined + threads {
                    state = combined.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                let at = state.next;
                let Some(block) = boxes.get(at).filter(|_| !state.stopped) else {
                    break;
                };
                state.next += 1;
                drop(state);
                let partial = self.reduce_block(block);
                let mut state = lock();
                let done = partial.and_then(|partial| {
                    state.waiting.insert(at, partial);
                    self.combine_waiting(&mut state, boxes)
                });
                if let Err(error) = done {
                    state.stopped = true;
                    state.error.get_or_insert(error);
                }
                drop(state);
                combined.notify_all();
                let elements: usize = block.iter().map(ExactSizeIterator::len).product();
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                progress.0 += elements;
                let (done, all) = (progress.0, progress.1);
                if let Some(report) = &mut progress.2 {
                    report(done, all);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(boxes.len()) {
                scope.spawn(work);
            }
            work();
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.error {
            Some(error) => Err(error),
            None => self.assemble(shared.places, boxes),
        }
    }

    /// Reduces one block, group by group.
    fn reduce_block(&self, block: &Block) -> Result<Vec<(usize, Partial)>> {
        let mut part = self.variable.clone();
        for (dim, range) in block.iter().enumerate() {
            part = part.take(dim, &Positions::Range(range.clone()))?;
        }
        let x = part.tensor()?.drop_names();
        let dims: Vec<i64> = self.over.iter().map(|&dim| dim as i64).collect();
        let Some((ids, _)) = self.groups else {
            return Ok(vec![(0, reduce_part(&x, self.reduction, &dims)?)]);
        };
        let mut members: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for (at, id) in ids[block[self.along].clone()].iter().enumerate() {
            if let Some(id) = id {
                members.entry(*id).or_default().push(at as i64);
            }
        }
        let along = self.along as i64;
        let each = members.into_iter().map(|(id, list)| {
            let is_range = list.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            let one = if is_range {
                x.narrow(along, list[0], list.len())?
            } else {
                let len = list.len();
                let list = DynTensor::from_vec(list, &[len], nomina::Names::unnamed(1))?;
                x.index_select(along, &list)?
            };
            Ok((id, reduce_part(&one, self.reduction, &dims)?))
        });
        each.collect()
    }

    /// Combines the results that no earlier block precedes.
    fn combine_waiting(&self, state: &mut Shared, boxes: &[Block]) -> Result<()> {
        while let Some(partial) = state.waiting.remove(&state.combined) {
            let block = &boxes[state.combined];
            state.combined += 1;
            for (group, partial) in partial {
                let place = self.place(block, group);
                let key = place.iter().map(|range| range.start).collect();
                match state.places.get_mut(&key) {
                    None => {
                        state.places.insert(key, (place, partial));
                    }
                    Some((_, old)) => old.add(self.reduction, &partial)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the ranges of a block's result along the dims of the result.
    fn place(&self, block: &Block, group: usize) -> Block {
        let is_group = |dim: usize| self.groups.is_some() && dim == self.along;
        let range = |&dim: &usize| {
            if is_group(dim) {
                group..group + 1
            } else {
                block[dim].clone()
            }
        };
        self.kept().iter().map(range).collect()
    }

    /// Joins the results of all places.
    fn assemble(&self, mut places: Places, boxes: &[Block]) -> Result<DynTensor> {
        let kept = self.kept();
        let dtype = self.variable.dtype().unwrap_or(nomina::DType::F64);
        let size = |&dim: &usize| match self.groups {
            Some((_, count)) if dim == self.along => count,
            _ => self.variable.shape()[dim],
        };
        let shape: Vec<usize> = kept.iter().map(size).collect();
        // Groups without elements.
        if let Some((_, count)) = self.groups {
            for block in boxes {
                for group in 0..count {
                    let place = self.place(block, group);
                    let key: Vec<usize> = place.iter().map(|range| range.start).collect();
                    if let Entry::Vacant(entry) = places.entry(key) {
                        let dims = kept
                            .iter()
                            .zip(&place)
                            .filter(|(dim, _)| **dim != self.along);
                        let sizes: Vec<usize> = dims.map(|(_, range)| range.len()).collect();
                        let none = Partial::empty(self.reduction, dtype, &sizes)?;
                        let none = none.ok_or_else(|| {
                            let dim = &self.variable.dims()[self.along];
                            let what = format!("has no elements in group {group}");
                            refused("reduce_groups", dim, what)
                                .hint("integers have no NaN: use `nanmean`, or convert to floats")
                        })?;
                        entry.insert((place, none));
                    }
                }
            }
        }
        let group_dim = kept.iter().position(|&dim| dim == self.along);
        let settled = places.into_values().map(|(place, partial)| {
            let tensor = partial.settle(self.reduction, dtype)?;
            let tensor = match (self.groups, group_dim) {
                (Some(_), Some(dim)) => tensor.unsqueeze(dim as i64, None::<&str>)?,
                _ => tensor,
            };
            Ok((place, tensor))
        });
        let settled: Vec<(Block, DynTensor)> = settled.collect::<Result<_>>()?;
        if settled.is_empty() {
            // A variable without elements.
            let none = Partial::empty(self.reduction, dtype, &shape)?;
            let none = none.map(|none| none.settle(self.reduction, dtype));
            return none.unwrap_or_else(|| {
                DynTensor::options()
                    .dtype(dtype)
                    .zeros(&shape, nomina::Names::unnamed(shape.len()))
            });
        }
        join(shape.len(), 0, settled)
    }
}

/// Divides a variable into blocks of at most that size in bytes, along the chunks of the file if it has some. A large
/// variable has several, even if the memory allows one.
pub(super) fn blocks(variable: &Variable, bytes: usize) -> Vec<Block> {
    let shape = variable.shape();
    let limit = (bytes / ELEMENT).max(1);
    let chunks = match &variable.data {
        Data::Lazy(lazy) => lazy.chunk_sizes(),
        _ => None,
    };
    let count = |sizes: &[usize]| {
        sizes
            .iter()
            .fold(1_usize, |n, &size| n.saturating_mul(size))
    };
    let chunk = chunks.as_deref().map_or(1, count);
    let share = count(shape) / SHARES;
    let limit = limit.min(share.max(chunk).max(SHARE));
    let sizes = match chunks {
        Some(chunks) if chunk <= limit => {
            // More chunks along the last dims, as far as they fit.
            let mut sizes: Vec<usize> = chunks
                .iter()
                .zip(shape)
                .map(|(chunk, size)| (*chunk).min(*size).max(1))
                .collect();
            for dim in (0..shape.len()).rev() {
                let others: usize = sizes
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != dim)
                    .map(|(_, size)| size)
                    .product();
                let chunk = sizes[dim];
                let count = (limit / (others * chunk).max(1)).max(1);
                sizes[dim] = (chunk * count).min(shape[dim]).max(1);
            }
            sizes
        }
        _ => crate::write::chunk_sizes(shape, limit),
    };
    let mut all: Vec<Block> = vec![Vec::new()];
    for (&full, size) in shape.iter().zip(sizes) {
        let starts: Vec<usize> = (0..full).step_by(size).collect();
        all = all
            .into_iter()
            .flat_map(|block| {
                starts.iter().map(move |&start| {
                    let mut block = block.clone();
                    block.push(start..(start + size).min(full));
                    block
                })
            })
            .collect();
    }
    all
}

/// Joins boxes along each dim in turn.
fn join(rank: usize, dim: usize, boxes: Vec<(Block, DynTensor)>) -> Result<DynTensor> {
    let mut boxes = boxes;
    if dim == rank || boxes.len() == 1 {
        return Ok(boxes.swap_remove(0).1);
    }
    let mut groups: BTreeMap<usize, Vec<(Block, DynTensor)>> = BTreeMap::new();
    for (block, tensor) in boxes {
        let start = block[dim].start;
        groups.entry(start).or_default().push((block, tensor));
    }
    let parts = groups.into_values().map(|group| join(rank, dim + 1, group));
    let parts: Vec<DynTensor> = parts.collect::<Result<_>>()?;
    DynTensor::cat(&parts.iter().collect::<Vec<_>>(), dim as i64)
}

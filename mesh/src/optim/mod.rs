//! Optimizers whose state is sharded over ranks.
//!
//! ```
//! use nomina_mesh::optim::{AdamOptions, AdamW};
//! use nomina_mesh::prelude::*;
//! dims! { Batch, Feature }
//! mesh! { Line: Data }
//!
//! let losses = Line::threads([2], |mesh| {
//!     // `Whole`: each rank uses `w` for its own rows. Its gradient is therefore pending, and the optimizer sums it.
//!     let mut w: Sharded<(Feature,), Line<Whole>> = mesh.whole(Tensor::zeros([3])).with_grad();
//!     let mut optimizer = AdamW::with(Data, AdamOptions { lr: 0.1, ..AdamOptions::adamw() });
//!     let mut last = f32::NAN;
//!     for _ in 0..100 {
//!         let x: Sharded<(Batch, Feature), Line<Split<Batch>>> = mesh.randn([8, 3])?;
//!         let loss = ((&x * &w).sum(Feature) - x.sum(Feature)).square().mean(across(Batch));
//!         loss.backward();
//!         optimizer.step(&mut [&mut w]);
//!         last = loss.all_reduce(Data).item();
//!     }
//!     Ok(last)
//! })?;
//! assert!(losses[0] < 0.1 && losses[0] == losses[1]);
//! # Ok::<(), nomina::Error>(())
//! ```

#[cfg(feature = "safetensors")]
mod state;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;

use nomina::dims::Dims;
use nomina::{DType, DynTensor, Error, ErrorKind, Float, Names, Result, no_grad};
use nomina_core::mesh::value::Place;
use nomina_core::mesh::{AllFinished, Combine, Dual, MeshAxis, Placement, Set, StepsAlong, Synced};
use nomina_macros::twin;
use nomina_runtime::Raw;
pub use nomina_runtime::call::AdamOptions;
use nomina_runtime::call::{StepParam, StepRule};
use nomina_runtime::grad::LeafId;

use crate::check::{Description, TensorDescription};
use crate::dynamic::DynSharded;
use crate::origin::CallSite;
use crate::partition::part;
use crate::ranks::{Job, Ticket};
use crate::sharded::{Sharded, axis_index};
use crate::shared::Shared;

/// Gradients are sent in blocks of at most this many bytes; a larger gradient is sent alone.
const BLOCK: usize = 4 << 20;

/// A parameter of an optimizer whose state is sharded over axis `X`: a leaf replicated on the ranks of that axis. If it
/// is [`Whole`](crate::Whole) there, its gradient is pending and the optimizer sums it; if it is [`Synced`], the
/// gradient is summed already. Along other axes the gradient must not be pending.
pub trait Param<X> {
    /// Returns the leaf with its placement.
    #[doc(hidden)]
    fn to_dyn(&self) -> DynSharded;
    /// Overwrites the leaf.
    #[doc(hidden)]
    fn write(&mut self, value: &DynTensor) -> Result<()>;
}

impl<D: Dims, P, T: Float, X: MeshAxis> Param<X> for Sharded<D, P, T>
where
    P: Placement<Mesh = X::Mesh>,
    X: StepsAlong<P>,
    Set<Dual<P>, X, Synced>: AllFinished,
{
    fn to_dyn(&self) -> DynSharded {
        Self::to_dyn(self)
    }
    fn write(&mut self, value: &DynTensor) -> Result<()> {
        no_grad(|| self.local.try_as_dyn_mut()?.copy_(value).map(drop))
    }
}

/// The optimizer state of this rank's part of a parameter.
#[derive(Clone, Debug)]
struct AdamState {
    leaf: LeafId,
    /// The sizes of the rank's piece of the parameter.
    #[cfg_attr(
        not(feature = "safetensors"),
        allow(dead_code, reason = "files have them")
    )]
    shape: Vec<usize>,
    means: [Raw; 2],
    steps: u64,
}

/// `AdamW` whose running means are sharded over mesh axis `X`: each rank of `p` keeps the means of its `1/p` of the
/// elements, and steps only those. Pending gradients are reduce-scattered and stepped parameters are all-gathered,
/// which sends no more than an all-reduce of the gradients. Both go in blocks of about 4 MiB: the sums of all blocks
/// start before the first is waited for, and the parameters of a block are sent while the next one is stepped.
///
/// ```
/// # use nomina_mesh::optim::AdamW;
/// # use nomina_mesh::prelude::*;
/// # dims! { Feature }
/// # mesh! { Line: Data }
/// let kept = Line::threads([4], |mesh| {
///     let mut w = mesh.parameter(Tensor::<(Feature,)>::ones([10]))?;
///     w.square().sum(Feature).backward();
///     let mut optimizer = AdamW::new(Data, 1e-3);
///     optimizer.step(&mut [&mut w]);
///     Ok(optimizer.kept())
/// })?;
/// assert_eq!(kept, [6, 6, 4, 4]);
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone)]
pub struct AdamW<X> {
    /// The options of the next step.
    pub options: AdamOptions,
    kept: HashMap<Key, AdamState>,
    axis: PhantomData<fn() -> X>,
}

/// The address of a parameter's leaf, and the number of earlier parameters in a list with the same leaf.
type Key = (usize, usize);

/// Returns a description of a parameter for the ranks to compare.
fn describe_parameter(param: &DynSharded, extra: String) -> TensorDescription {
    let metadata = param.metadata();
    TensorDescription {
        role: "parameter",
        names: metadata.names.to_vec(),
        dtype: Some(param.dtype()),
        origin: Some(metadata.origin),
        sizes: metadata.sizes,
        places: metadata.places,
        at: None,
        extra,
    }
}

/// Returns the key and the leaf of each parameter of a list; `None` for a parameter that is not a leaf.
fn keys(params: &[DynSharded]) -> Vec<Option<(Key, LeafId)>> {
    let mut seen = HashMap::new();
    let keys = params.iter().map(|param| {
        let leaf = param.local().raw().leaf_id()?;
        let before = seen.entry(leaf.address()).or_insert(0);
        let key = (leaf.address(), *before);
        *before += 1;
        Some((key, leaf))
    });
    keys.collect()
}

/// A parameter of a step.
struct SteppedParam {
    /// The parameter's position in the list.
    at: usize,
    key: Key,
    leaf_id: LeafId,
    leaf: DynTensor,
    /// The gradient, flattened.
    grad: Raw,
    pending: bool,
}

impl SteppedParam {
    fn dtype(&self) -> DType {
        self.leaf.dtype()
    }

    /// Returns the number of elements in a rank's part.
    fn len(&self, ranks: usize, rank: usize) -> usize {
        part(self.grad.numel(), ranks, rank).1
    }
}

/// Returns one rank's part of a flat tensor.
fn part_of(row: &Raw, ranks: usize, rank: usize) -> Result<Raw> {
    let (start, len) = part(row.numel(), ranks, rank);
    row.clone().narrow(0, start, len)
}

/// Concatenates tensors of one dim; a single tensor is not copied.
fn concat(rows: &[Raw]) -> Result<Raw> {
    if let [one] = rows {
        return Ok(one.clone());
    }
    let rows = rows.iter().cloned().map(row).collect::<Result<Vec<_>>>()?;
    let rows: Vec<&DynTensor> = rows.iter().collect();
    Ok(DynTensor::cat(&rows, 0)?.into_parts().0)
}

fn row(raw: Raw) -> Result<DynTensor> {
    DynTensor::from_parts(raw, Names::unnamed(1))
}

impl<X: MeshAxis> AdamW<X> {
    /// Creates an optimizer with a learning rate and otherwise PyTorch's defaults. Its state is sharded over `axis`.
    #[must_use]
    pub fn new(axis: X, lr: f64) -> Self {
        let options = AdamOptions {
            lr,
            ..AdamOptions::adamw()
        };
        Self::with(axis, options)
    }

    /// Creates an optimizer with the given options.
    #[must_use]
    pub fn with(axis: X, options: AdamOptions) -> Self {
        let _ = axis;
        Self {
            options,
            kept: HashMap::new(),
            axis: PhantomData,
        }
    }

    /// Returns the number of values that this rank keeps: two for each element of its part.
    #[must_use]
    pub fn kept(&self) -> usize {
        let each = self.kept.values();
        each.map(|kept| kept.means.iter().map(Raw::numel).sum::<usize>())
            .sum()
    }

    /// Steps all parameters that have a gradient, and clears the gradients. All ranks pass the same parameters in the
    /// same order. Between steps, parameters may be added, removed and reordered, since their state is found by leaf.
    ///
    /// # Errors
    /// [`ErrorKind::Mesh`] on all ranks if they pass different parameters, if gradients are present for different
    /// parameters, or if their options or step counts differ; the error names the first parameter that differs. Also
    /// [`ErrorKind::Mesh`] if the parameters are on two meshes. If a rank is gone, or memory is missing. No parameter
    /// has changed in these cases.
    #[twin]
    pub fn try_step(&mut self, params: &mut [&mut dyn Param<X>]) -> Result<()> {
        no_grad(|| self.step_all(params, Location::caller()))
    }

    fn step_all(&mut self, params: &mut [&mut dyn Param<X>], at: CallSite) -> Result<()> {
        let op = "adamw";
        let all: Vec<DynSharded> = params.iter().map(|param| param.to_dyn()).collect();
        let Some(shared) = all.first().map(|param| param.metadata().shared) else {
            return Ok(());
        };
        if all
            .iter()
            .any(|param| !param.metadata().shared.is_same(&shared))
        {
            return Err(Error::new(
                ErrorKind::Mesh,
                op,
                "the parameters are on two meshes",
            ));
        }
        let keys = keys(&all);
        self.agree(&shared, &all, &keys, at)?;
        let mut stepped = Vec::new();
        for (at, (param, key)) in all.iter().zip(keys).enumerate() {
            if let (Some(grad), Some((key, leaf_id))) = (param.local().grad(), key) {
                let grad = grad.into_parts().0.detach();
                stepped.push(SteppedParam {
                    at,
                    key,
                    leaf_id,
                    grad: grad.reshape(&[grad.numel()])?,
                    pending: param.places()[axis_index::<X>()] == Place::Whole,
                    leaf: param.local().detach(),
                });
            }
        }
        // The kept state is replaced only after the whole step has succeeded.
        let mut kept = self.kept.clone();
        kept.retain(|_, kept| kept.leaf.is_used());
        let blocks = blocks(&stepped);
        let blocks = || blocks.iter().map(|block| &stepped[block.clone()]);
        // All sums are started before the first is waited for. If an error ends this function, dropping the rest waits
        // for them.
        let sums = blocks().map(|block| Self::start_gradient_sum(&shared, block, at));
        let sums = sums.collect::<Result<Vec<_>>>()?;
        let gathers = blocks().zip(sums).map(|(block, sum)| {
            let grads = sum.wait_for_one()?;
            self.step_block(&shared, block, &grads, &mut kept, at)
        });
        let gathers = gathers.collect::<Result<Vec<_>>>()?;
        let mut found = Vec::new();
        for (block, gather) in blocks().zip(gathers) {
            found.extend(assemble(block, &gather.wait()?)?);
        }
        for (one, value) in stepped.iter().zip(&found) {
            params[one.at].write(value)?;
            all[one.at].local().zero_grad();
        }
        self.kept = kept;
        Ok(())
    }

    /// Lets the ranks compare everything that decides the messages of a step: the parameters in order, and which of
    /// them have a gradient.
    fn agree(
        &self,
        shared: &Shared,
        all: &[DynSharded],
        keys: &[Option<(Key, LeafId)>],
        at: CallSite,
    ) -> Result<()> {
        if Self::ranks(shared).0 == 1 {
            return Ok(());
        }
        let items = all.iter().zip(keys).map(|(param, key)| {
            let kept = key.as_ref().and_then(|(key, _)| self.kept.get(key));
            let steps = kept.map_or(0, |kept| kept.steps);
            let with = match param.local().grad() {
                Some(_) => "with",
                None => "without",
            };
            describe_parameter(param, format!("{with} a gradient, after {steps} steps"))
        });
        let options = format!("{:?}", self.options);
        let description = Description {
            items: items.collect(),
            extra: &options,
            ..Description::new("adamw", at)
        };
        shared.agree(axis_index::<X>(), description)
    }

    /// Returns the number of ranks, and this rank's index.
    fn ranks(shared: &Shared) -> (usize, usize) {
        let ranks = &shared.axes[axis_index::<X>()].ranks;
        (ranks.size(), ranks.rank())
    }

    /// Starts to sum a block's gradients; each rank receives its part.
    fn start_gradient_sum(shared: &Shared, block: &[SteppedParam], at: CallSite) -> Result<Ticket> {
        let (ranks, rank) = Self::ranks(shared);
        let piece = |rank: usize| {
            let parts = block.iter().map(|one| part_of(&one.grad, ranks, rank));
            concat(&parts.collect::<Result<Vec<_>>>()?)
        };
        if !block[0].pending {
            return Ok(Ticket::done(vec![piece(rank)?]));
        }
        let combine = Combine::Add;
        let pieces = (0..ranks).map(piece).collect::<Result<_>>()?;
        let job = Job::ReduceScatter { pieces, combine };
        shared.start_agreed(axis_index::<X>(), "adamw: gradients", at, job)
    }

    /// Steps the parameters of a block, and starts to all-gather them.
    fn step_block(
        &self,
        shared: &Shared,
        block: &[SteppedParam],
        grads: &Raw,
        kept: &mut HashMap<Key, AdamState>,
        at: CallSite,
    ) -> Result<Ticket> {
        let (ranks, rank) = Self::ranks(shared);
        let mut parts = Vec::new();
        let mut start = 0;
        for one in block {
            let len = one.len(ranks, rank);
            let leaf = one.leaf.raw().reshape(&[one.leaf.numel()])?;
            let own = row(part_of(&leaf, ranks, rank)?)?.contiguous()?;
            parts.push((own.into_parts().0, grads.clone().narrow(0, start, len)?));
            start += len;
        }
        let states = block.iter().map(|one| match kept.remove(&one.key) {
            Some(kept) => Ok(kept),
            None => AdamState::new(one, one.len(ranks, rank)),
        });
        let mut states = states.collect::<Result<Vec<AdamState>>>()?;
        let mut steps = Vec::new();
        for ((own, grad), state) in parts.iter_mut().zip(&mut states) {
            state.steps += 1;
            steps.push(StepParam {
                param: own.as_mut()?,
                grad,
                state: &mut state.means,
                step: state.steps,
                options: &self.options,
            });
        }
        StepRule::step("adamw", &mut steps)?;
        drop(steps);
        for (one, state) in block.iter().zip(states) {
            kept.insert(one.key, state);
        }
        let own: Vec<Raw> = parts.into_iter().map(|(own, _)| own).collect();
        let shape = |rank| vec![block.iter().map(|one| one.len(ranks, rank)).sum()];
        let job = Job::AllGather {
            piece: concat(&own)?,
            shapes: (0..ranks).map(shape).collect(),
        };
        shared.start_agreed(axis_index::<X>(), "adamw: parameters", at, job)
    }
}

/// Returns the parameters of a block, assembled from the ranks' flat pieces. Each piece contains that rank's part of
/// every parameter, in order.
fn assemble(block: &[SteppedParam], all: &[Raw]) -> Result<Vec<DynTensor>> {
    let mut starts = vec![0; all.len()];
    let whole = |one: &SteppedParam| {
        let mut parts = Vec::new();
        for (rank, row) in all.iter().enumerate() {
            let len = one.len(all.len(), rank);
            parts.push(row.clone().narrow(0, starts[rank], len)?);
            starts[rank] += len;
        }
        let whole = concat(&parts)?.reshape(one.leaf.shape())?;
        DynTensor::from_parts(whole, one.leaf.names().clone())
    };
    block.iter().map(whole).collect()
}

/// Groups consecutive parameters of one dtype and one kind of gradient into blocks of at most [`BLOCK`] bytes.
fn blocks(all: &[SteppedParam]) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0_usize;
    for (at, one) in all.iter().enumerate() {
        let more = one.grad.nbytes();
        let fits =
            |first: &SteppedParam| first.dtype() == one.dtype() && first.pending == one.pending;
        match blocks.last_mut() {
            Some(block) if fits(&all[block.start]) && bytes.saturating_add(more) <= BLOCK => {
                block.end = at + 1;
                bytes += more;
            }
            _ => {
                blocks.push(at..at + 1);
                bytes = more;
            }
        }
    }
    blocks
}

impl AdamState {
    /// Creates the state of a parameter before its first step: zeros.
    fn new(one: &SteppedParam, len: usize) -> Result<Self> {
        let zeros = || Raw::zeros("adamw", &[len], one.dtype(), one.leaf.device());
        Ok(Self {
            leaf: one.leaf_id.clone(),
            shape: one.leaf.shape().to_vec(),
            means: [zeros()?, zeros()?],
            steps: 0,
        })
    }
}

impl<X: MeshAxis> fmt::Debug for AdamW<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdamW")
            .field("options", &self.options)
            .field("axis", &X::NAME)
            .field("kept", &self.kept())
            .finish()
    }
}

//! Optimizer state in checkpoints. Each state is saved as a tensor like its parameter, under the parameter's name and
//! the names that `nomina-nn`'s optimizers use, so that another mesh or a single process can continue from it.

use std::collections::HashMap;
use std::panic::Location;

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_core::mesh::value::Place;
use nomina_core::mesh::{MeshAxis, Placement};
use nomina_runtime::grad::LeafId;

use super::{AdamState, AdamW, Param, describe_parameter, keys};
use crate::check::Description;
use crate::dynamic::DynSharded;
use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::CallSite;
use crate::partition::part;
use crate::ranks::Job;
use crate::safetensors::{Checkpoint, Piece};
use crate::sharded::axis_index;

const OP: &str = "adamw";

/// The names of the means in files. [`STEP`] is the number of steps.
const MEANS: [&str; 2] = ["exp_avg", "exp_avg_sq"];
const STEP: &str = "step";

/// The two ways to divide a parameter's elements over ranks: equal parts of its elements ([`kept`](Self::kept)), or of
/// its rows ([`of_rows`](Self::of_rows)).
struct StatePartition {
    numel: usize,
    /// The number of rows, and of elements in each. A scalar is one row.
    rows: usize,
    each: usize,
    ranks: usize,
}

impl StatePartition {
    fn new(shape: &[usize], ranks: usize) -> Self {
        let numel = shape.iter().product();
        let rows = shape.first().copied().unwrap_or(1);
        let each = shape.iter().skip(1).product();
        Self {
            numel,
            rows,
            each,
            ranks,
        }
    }

    /// Returns the range of elements whose state a rank keeps, as (start, end).
    fn kept(&self, rank: usize) -> (usize, usize) {
        let (start, len) = part(self.numel, self.ranks, rank);
        (start, start + len)
    }

    /// Returns the range of elements in a rank's rows, as (start, end).
    fn of_rows(&self, rank: usize) -> (usize, usize) {
        let (start, len) = part(self.rows, self.ranks, rank);
        (start * self.each, (start + len) * self.each)
    }
}

/// Returns the intersection of two ranges, as (start, length).
fn intersect(one: (usize, usize), other: (usize, usize)) -> (usize, usize) {
    let start = one.0.max(other.0);
    (start, one.1.min(other.1).saturating_sub(start))
}

impl<X: MeshAxis> AdamW<X> {
    /// Returns the state kept for parameters, to be saved next to them: for `w` the tensors `w.exp_avg`, `w.exp_avg_sq`
    /// and `w.step`. The parameters come with their names, in any order that is the same on all ranks. Parameters that
    /// were never stepped have no state and are skipped.
    ///
    /// All ranks call this: the means are sent from the ranks that keep them to the ranks whose rows they belong to.
    ///
    /// ```
    /// use nomina_mesh::optim::{AdamW, Param};
    /// use nomina_mesh::prelude::*;
    /// use nomina_mesh::safetensors::{self, Checkpoint};
    /// dims! { Feature }
    /// mesh! { Line: Data }
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = &folder.path().join("step-1");
    /// let step = |optimizer: &mut AdamW<Data>, w: &mut Sharded<(Feature,), Line<Synced>>| {
    ///     w.square().sum(Feature).backward();
    ///     optimizer.step(&mut [w]);
    /// };
    /// let before = Line::threads([2], |mesh| {
    ///     let mut w = mesh.parameter(Tensor::<(Feature,)>::ones([5]))?;
    ///     let mut optimizer = AdamW::new(Data, 0.1);
    ///     step(&mut optimizer, &mut w);
    ///     let state = optimizer.state([("w", &w as &dyn Param<Data>)])?;
    ///     let model = [("w".to_owned(), w.to_dyn().into())];
    ///     safetensors::save(&mesh, path, model.into_iter().chain(state))?;
    ///     step(&mut optimizer, &mut w);
    ///     Ok(w.to_vec())
    /// })?;
    /// let after = Line::threads([3], |mesh| {
    ///     let checkpoint = Checkpoint::open(&mesh, path)?;
    ///     let mut w: Sharded<(Feature,), Line<Synced>> = checkpoint.tensor("w")?.with_grad();
    ///     let mut optimizer = AdamW::new(Data, 0.1);
    ///     optimizer.load([("w", &w as &dyn Param<Data>)], &checkpoint)?;
    ///     step(&mut optimizer, &mut w);
    ///     Ok(w.to_vec())
    /// })?;
    /// assert_eq!(before[0], after[0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a rank is gone or memory is missing.
    #[track_caller]
    pub fn state<'a, K: Into<String>>(
        &self,
        params: impl IntoIterator<Item = (K, &'a dyn Param<X>)>,
    ) -> Result<Vec<(String, Piece)>> {
        let at = Location::caller();
        let (names, params) = unzip_params(params);
        let mut state = Vec::new();
        for ((name, param), key) in names.into_iter().zip(&params).zip(keys(&params)) {
            let Some(kept) = key.and_then(|(key, _)| self.kept.get(&key)) else {
                continue;
            };
            for (word, local) in MEANS.iter().zip(means::<X>(&name, param, kept, at)?) {
                let piece = Piece {
                    metadata: param.metadata(),
                    local,
                    rows: Some(axis_index::<X>()),
                };
                state.push((format!("{name}.{word}"), piece));
            }
            let steps = i64::try_from(kept.steps).unwrap_or(i64::MAX);
            let metadata = Metadata {
                names: Names::unnamed(0),
                sizes: Vec::new(),
                places: param.places().iter().map(|_| Place::Synced).collect(),
                origin: param.metadata().origin,
                shared: param.metadata().shared,
            };
            let steps = DynSharded::from_metadata(DynTensor::full(&[], steps, ())?, metadata);
            state.push((format!("{name}.{STEP}"), steps.into()));
        }
        Ok(state)
    }

    /// Loads the state of parameters from a checkpoint that was written on any mesh, by [`state`](Self::state) or by an
    /// `AdamW` of the crate `nomina-nn`. The parameters are leaves, in any order that is the same on all ranks. A
    /// parameter whose `step` is not in the checkpoint gets no state.
    ///
    /// # Errors
    /// Returns an error on all ranks if a parameter is not a leaf, or if a mean is missing, cannot be read, or has
    /// other sizes or another dtype than its parameter. Nothing has changed then.
    #[track_caller]
    pub fn load<'a, K: Into<String>, M: Placement<Mesh = M>>(
        &mut self,
        params: impl IntoIterator<Item = (K, &'a dyn Param<X>)>,
        checkpoint: &Checkpoint<M>,
    ) -> Result<()> {
        let at = Location::caller();
        let Mesh { shared, .. } = checkpoint.mesh();
        let (names, params) = unzip_params(params);
        let each = names.iter().zip(&params);
        let items = each.map(|(name, param)| describe_parameter(param, format!("`{name}`")));
        let description = Description {
            items: items.collect(),
            ..Description::new(OP, at)
        };
        let read = || {
            let mut all = HashMap::new();
            for ((name, param), key) in names.iter().zip(&params).zip(keys(&params)) {
                let within = |error: Error| error.in_op(OP).within(format_args!("`{name}`"));
                let Some((key, leaf)) = key else {
                    let what = "parameter is not a leaf";
                    let error = Error::new(ErrorKind::Gradient, OP, what);
                    return Err(within(
                        error.hint("call `with_grad` before, or `parameter`"),
                    ));
                };
                if let Some(kept) = read::<X, M>(name, param, leaf, checkpoint).map_err(within)? {
                    all.insert(key, kept);
                }
            }
            Ok((all, Vec::new()))
        };
        self.kept = shared.agree_on_outcome(description, ErrorKind::Mesh, 0, read())?;
        Ok(())
    }
}

/// Separates parameters from their names.
fn unzip_params<'a, K: Into<String>, X: MeshAxis>(
    params: impl IntoIterator<Item = (K, &'a dyn Param<X>)>,
) -> (Vec<String>, Vec<DynSharded>) {
    let each = params.into_iter();
    each.map(|(name, param)| (name.into(), param.to_dyn()))
        .unzip()
}

/// Returns the means of this rank's rows of a parameter, received from the ranks that keep them.
fn means<X: MeshAxis>(
    name: &str,
    param: &DynSharded,
    kept: &AdamState,
    at: CallSite,
) -> Result<[DynTensor; 2]> {
    let metadata = param.metadata();
    let axis = axis_index::<X>();
    let (ranks, rank) = (metadata.ranks(axis), metadata.rank(axis));
    let parts = StatePartition::new(&kept.shape, ranks);
    let own = parts.kept(rank);
    let mut pieces = Vec::new();
    for to in 0..ranks {
        let (start, len) = intersect(own, parts.of_rows(to));
        let each = kept.means.each_ref().map(|mean| match len {
            0 => mean.narrow(0, 0, 0),
            len => mean.narrow(0, start - own.0, len),
        });
        let [first, second] = each;
        pieces.push(super::concat(&[first?, second?])?);
    }
    let rows = parts.of_rows(rank);
    let lens: Vec<usize> = (0..ranks)
        .map(|from| intersect(parts.kept(from), rows).1)
        .collect();
    let job = Job::AllToAll {
        pieces,
        shapes: lens.iter().map(|len| vec![2 * len]).collect(),
    };
    let description = Description {
        extra: name,
        ..metadata.describe("adamw: state", Some(param.dtype()), axis, at)
    };
    let found = metadata.shared.start(axis, description, job)?.wait()?;
    let mut shape = kept.shape.clone();
    if let Some(rows) = shape.first_mut() {
        *rows = part(*rows, ranks, rank).1;
    }
    let mean = |which: usize| {
        let halves = found.iter().zip(&lens);
        let halves = halves.map(|(both, &len)| both.narrow(0, which * len, len));
        let mean = super::concat(&halves.collect::<Result<Vec<_>>>()?)?;
        // A scalar's mean is on the first rank; the other ranks get a placeholder.
        let mean = match (shape.is_empty(), mean.numel()) {
            (true, 0) => nomina_runtime::Raw::zeros(OP, &[], mean.dtype(), mean.device())?,
            _ => mean.reshape(&shape)?,
        };
        DynTensor::from_parts(mean, param.names().clone())
    };
    Ok([mean(0)?, mean(1)?])
}

/// Reads the state of this rank's part of a parameter from a checkpoint; `None` if it has none.
fn read<X: MeshAxis, M: Placement<Mesh = M>>(
    name: &str,
    param: &DynSharded,
    leaf: LeafId,
    checkpoint: &Checkpoint<M>,
) -> Result<Option<AdamState>> {
    let step = format!("{name}.{STEP}");
    if !checkpoint.keys().any(|key| key == step) {
        return Ok(None);
    }
    let metadata = param.metadata();
    let axis = axis_index::<X>();
    let shape = param.local().shape().to_vec();
    let parts = StatePartition::new(&shape, metadata.ranks(axis));
    let (start, end) = parts.kept(metadata.rank(axis));
    // The rows that this rank's part intersects. All of their elements belong to it, except some of the first and the
    // last row.
    let each = parts.each.max(1);
    let (first, last) = (start / each, end.div_ceil(each));
    let mut ranges: Vec<_> = (0..shape.len())
        .map(|dim| {
            let (start, len) = metadata.range(dim, None);
            start..start + len
        })
        .collect();
    if let Some(rows) = ranges.first_mut() {
        let begins = rows.start;
        *rows = begins + first..begins + last;
    }
    let mean = |word: &str| {
        let path = format!("{name}.{word}");
        if checkpoint.shape(&path)? != metadata.sizes {
            let what = format!("sizes of `{word}` and the parameter differ");
            return Err(
                Error::new(ErrorKind::Shape, OP, what).operand(&metadata.names, &metadata.sizes)
            );
        }
        let rows = checkpoint.part(&path, &ranges)?;
        if rows.dtype() != param.dtype() {
            let what = format!(
                "`{word}` is {}, but the parameter is {}",
                rows.dtype(),
                param.dtype()
            );
            return Err(Error::new(ErrorKind::DType, OP, what));
        }
        let raw = rows.contiguous()?.into_parts().0;
        let numel = raw.numel();
        let begins = if numel == 0 { 0 } else { start - first * each };
        raw.reshape(&[numel])?.narrow(0, begins, end - start)
    };
    let steps: DynTensor = checkpoint.part(&step, &[])?;
    Ok(Some(AdamState {
        leaf,
        means: [mean(MEANS[0])?, mean(MEANS[1])?],
        shape,
        // The cast saturates.
        steps: steps.item()?.to_f64() as u64,
    }))
}

//! Per-rank metadata of a distributed tensor (names, global sizes, placements, origin, the mesh) and all conversions
//! between placements, whose gradients are conversions again.

use std::sync::Arc;

use nomina::{DType, DynTensor, Error, ErrorKind, Name, Names, Result};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::{Place, error};
use nomina_runtime::Raw;
use nomina_runtime::grad::{Later, custom, custom_later};

use crate::buckets;
use crate::check::{Description, TensorDescription};
use crate::origin::{CallSite, Origin};
use crate::partition::part;
use crate::ranks::Job;
use crate::shared::Shared;

/// The metadata of a tensor on a mesh, without its piece.
#[derive(Clone)]
pub(crate) struct Metadata {
    pub(crate) names: Names,
    /// The global sizes.
    pub(crate) sizes: Vec<usize>,
    /// The states, by mesh axis.
    pub(crate) places: Vec<Place>,
    pub(crate) origin: Origin,
    pub(crate) shared: Arc<Shared>,
}

impl Metadata {
    /// Returns the metadata with another state along an axis.
    pub(crate) fn with_place(&self, axis: usize, place: Place) -> Self {
        let mut metadata = self.clone();
        metadata.places[axis] = place;
        metadata
    }

    /// Returns the position of a dim.
    pub(crate) fn position(&self, op: &'static str, name: &Name) -> Result<usize> {
        let found = self.names.iter().position(|own| own.as_ref() == Some(name));
        found.ok_or_else(|| {
            let what = format!("dim `{name}` not found");
            Error::new(ErrorKind::NameNotFound, op, what).operand(&self.names, &self.sizes)
        })
    }

    pub(crate) fn ranks(&self, axis: usize) -> usize {
        self.shared.axes[axis].ranks.size()
    }

    pub(crate) fn rank(&self, axis: usize) -> usize {
        self.shared.axes[axis].ranks.rank()
    }

    /// Returns the first index and the length of a dim's part on this rank, or on the rank with another position along
    /// an axis, given as (axis, position).
    pub(crate) fn range(&self, dim: usize, elsewhere: Option<(usize, usize)>) -> (usize, usize) {
        self.range_at(dim, |axis| match elsewhere {
            Some((other, rank)) if other == axis => rank,
            _ => self.rank(axis),
        })
    }

    /// Like [`range`](Self::range), for the rank at position `at(axis)` along each axis. If two axes split a dim, the
    /// first is the outer one.
    pub(crate) fn range_at(&self, dim: usize, at: impl Fn(usize) -> usize) -> (usize, usize) {
        let (mut start, mut len) = (0, self.sizes[dim]);
        for (axis, place) in self.places.iter().enumerate() {
            if place.dim().is_some() && place.dim() == self.names[dim].as_ref() {
                let (first, part) = part(len, self.ranks(axis), at(axis));
                (start, len) = (start + first, part);
            }
        }
        (start, len)
    }

    /// Returns the sizes of this rank's piece, or of the rank's with another position along an axis.
    pub(crate) fn shape(&self, elsewhere: Option<(usize, usize)>) -> Vec<usize> {
        (0..self.sizes.len())
            .map(|dim| self.range(dim, elsewhere).1)
            .collect()
    }

    /// Turns a verdict about an axis into an error.
    pub(crate) fn require(
        &self,
        op: &'static str,
        axis: usize,
        verdict: nomina_core::mesh::value::Verdict,
    ) -> Result<()> {
        verdict.map_err(|wrong| {
            error(op, self.shared.axes[axis].name, &wrong).operand(&self.names, &self.sizes)
        })
    }

    /// Refuses placements that a loaded tensor cannot have.
    #[cfg(feature = "safetensors")]
    pub(crate) fn require_loadable(&self, op: &'static str) -> Result<()> {
        for (axis, place) in self.places.iter().enumerate() {
            self.require(op, axis, place.finished())?;
            if let Some(dim) = place.dim() {
                self.position(op, dim)?;
            }
        }
        Ok(())
    }

    /// Refuses to convert an axis if a later axis splits the same dim further.
    pub(crate) fn require_innermost(
        &self,
        op: &'static str,
        axis: usize,
        dim: &Name,
    ) -> Result<()> {
        let inside = self.places[axis + 1..]
            .iter()
            .any(|place| place.dim() == Some(dim));
        let verdict = if inside {
            Err((nomina_core::mesh::Fault::SplitInside, vec![dim.clone()]))
        } else {
            Ok(())
        };
        self.require(op, axis, verdict)
    }

    /// Describes a collective along an axis, for the ranks to compare. Tensors that are local to each rank have no
    /// common origin.
    pub(crate) fn describe(
        &self,
        op: &'static str,
        dtype: Option<DType>,
        axis: usize,
        at: CallSite,
    ) -> Description<'_> {
        Description {
            names: &self.names,
            sizes: &self.sizes,
            places: &self.places,
            origin: (self.places[axis] != Place::Own).then_some(self.origin),
            dtype,
            ..Description::new(op, at)
        }
    }

    /// Describes a gradient of the tensor, for the ranks to compare.
    fn describe_grad(&self, grad: &Raw, at: CallSite) -> TensorDescription {
        TensorDescription {
            role: "gradient",
            names: self.names.to_vec(),
            sizes: self.sizes.clone(),
            places: self.places.clone(),
            dtype: Some(grad.dtype()),
            origin: Some(self.origin),
            at: Some(at),
            extra: String::new(),
        }
    }

    /// Cuts a piece into the parts for the ranks of an axis, which then splits dim `dim`.
    fn cut_parts(&self, raw: &Raw, axis: usize, dim: usize) -> Result<Vec<Raw>> {
        let split = self.with_place(axis, Place::Split(self.dim_name(dim)?));
        let (first, _) = self.range(dim, None);
        let part = |rank| {
            let (start, len) = split.range(dim, Some((axis, rank)));
            raw.narrow(dim, start - first, len)
        };
        (0..self.ranks(axis)).map(part).collect()
    }

    /// Returns the name of a dim that is split.
    pub(crate) fn dim_name(&self, dim: usize) -> Result<Name> {
        self.names[dim].clone().ok_or_else(|| {
            Error::new(
                ErrorKind::UnnamedDim,
                "mesh",
                "an unnamed dim cannot be split",
            )
            .operand(&self.names, &self.sizes)
        })
    }

    /// Returns the dim that is split along an axis.
    fn split_dim(&self, op: &'static str, axis: usize) -> Result<usize> {
        let Some(name) = self.places[axis].dim() else {
            self.require(op, axis, self.places[axis].split())?;
            return Err(Error::new(ErrorKind::Mesh, op, "no dim is split"));
        };
        self.require_innermost(op, axis, name)?;
        self.position(op, name)
    }

    /// Concatenates pieces along a dim.
    fn concat(&self, pieces: Vec<Raw>, dim: usize) -> Result<Raw> {
        let unnamed = |raw: Raw| DynTensor::from_parts(raw, Names::unnamed(self.sizes.len()));
        let pieces: Vec<DynTensor> = pieces.into_iter().map(unnamed).collect::<Result<_>>()?;
        let pieces: Vec<&DynTensor> = pieces.iter().collect();
        Ok(DynTensor::cat(&pieces, dim as i64)?.into_parts().0)
    }

    /// Reduces pending values along an axis, on all of its ranks.
    pub(crate) fn all_reduce(
        &self,
        op: &'static str,
        raw: &Raw,
        axis: usize,
        synced: bool,
        at: CallSite,
    ) -> Result<Raw> {
        self.require(op, axis, self.places[axis].pending())?;
        let combine = self.pending_combine(axis);
        let mut description = self.describe(op, Some(raw.dtype()), axis, at);
        description.combine = Some(combine);
        let piece = raw.clone().detach();
        let found =
            self.shared
                .run_for_one(axis, description, Job::AllReduce { piece, combine })?;
        let metadata = self.clone();
        custom(op, &[raw], found, move |grad| {
            if combine != Combine::Add {
                return Err(no_gradient(op, combine));
            }
            // The gradient of a synced result is the same on all ranks; of a whole result, each rank has a partial sum.
            if synced {
                Ok(vec![Some(grad.clone())])
            } else {
                metadata
                    .all_reduce(op, grad, axis, false, at)
                    .map(|grad| vec![Some(grad)])
            }
        })
    }

    fn pending_combine(&self, axis: usize) -> Combine {
        match self.places[axis] {
            Place::Pending(combine) => combine,
            _ => Combine::Add,
        }
    }

    /// Reduces pending values along an axis; each rank gets its part of a dim.
    pub(crate) fn reduce_scatter(
        &self,
        raw: &Raw,
        axis: usize,
        dim: usize,
        at: CallSite,
    ) -> Result<Raw> {
        let op = "reduce_scatter";
        self.require(op, axis, self.places[axis].pending())?;
        let name = self.dim_name(dim)?;
        self.require_innermost(op, axis, &name)?;
        let combine = self.pending_combine(axis);
        let mut description = self.describe(op, Some(raw.dtype()), axis, at);
        (description.combine, description.to) = (Some(combine), Some(&name));
        let pieces = self.cut_parts(&raw.clone().detach(), axis, dim)?;
        let found =
            self.shared
                .run_for_one(axis, description, Job::ReduceScatter { pieces, combine })?;
        let split = self.with_place(axis, Place::Split(name));
        custom(op, &[raw], found, move |grad| match combine {
            Combine::Add => Ok(vec![Some(split.all_gather(grad, axis, false, at)?)]),
            _ => Err(no_gradient(op, combine)),
        })
    }

    /// Gathers the parts of a split dim on all ranks of the axis.
    pub(crate) fn all_gather(
        &self,
        raw: &Raw,
        axis: usize,
        synced: bool,
        at: CallSite,
    ) -> Result<Raw> {
        let op = if synced {
            "all_gather_synced"
        } else {
            "all_gather"
        };
        let dim = self.split_dim(op, axis)?;
        let shapes = (0..self.ranks(axis)).map(|rank| self.shape(Some((axis, rank))));
        let job = Job::AllGather {
            piece: raw.clone().detach(),
            shapes: shapes.collect(),
        };
        let description = self.describe(op, Some(raw.dtype()), axis, at);
        let found = self.shared.start(axis, description, job)?.wait()?;
        let found = self.concat(found, dim)?;
        let place = if synced {
            Place::Synced
        } else {
            Place::Pending(Combine::Add)
        };
        let back = self.with_place(axis, place);
        custom(op, &[raw], found, move |grad| {
            let grad = if synced {
                back.cut(grad, axis, dim, at)?
            } else {
                back.reduce_scatter(grad, axis, dim, at)?
            };
            Ok(vec![Some(grad)])
        })
    }

    /// Splits another dim along an axis than now.
    pub(crate) fn all_to_all(
        &self,
        raw: &Raw,
        axis: usize,
        to: usize,
        at: CallSite,
    ) -> Result<Raw> {
        let op = "all_to_all";
        let from = self.split_dim(op, axis)?;
        let name = self.dim_name(to)?;
        self.require_innermost(op, axis, &name)?;
        if from == to {
            return Ok(raw.clone());
        }
        let whole = self.with_place(axis, Place::Whole);
        let split = self.with_place(axis, Place::Split(name));
        let pieces = whole.cut_parts(&raw.clone().detach(), axis, to)?;
        let shape = |rank| {
            let mut shape = self.shape(Some((axis, rank)));
            shape[to] = split.range(to, None).1;
            shape
        };
        let shapes = (0..self.ranks(axis)).map(shape).collect();
        let job = Job::AllToAll { pieces, shapes };
        let mut description = self.describe(op, Some(raw.dtype()), axis, at);
        description.to = self.names[to].as_ref();
        let found = self.shared.start(axis, description, job)?.wait()?;
        let found = self.concat(found, from)?;
        custom(op, &[raw], found, move |grad| {
            Ok(vec![Some(split.all_to_all(grad, axis, from, at)?)])
        })
    }

    /// Turns a synced tensor into a whole one: in the backward pass, the gradients of all ranks are summed.
    pub(crate) fn whole(&self, raw: &Raw, axis: usize, at: CallSite) -> Result<Raw> {
        self.require("whole", axis, self.places[axis].synced())?;
        let metadata = self.with_place(axis, Place::Pending(Combine::Add));
        let back = move |grad: &Raw| metadata.all_reduce("whole", grad, axis, true, at);
        if self.ranks(axis) == 1 {
            return custom("whole", &[raw], raw.clone(), move |grad| {
                Ok(vec![Some(back(grad)?)])
            });
        }
        let queued = self.clone();
        let start = move |grad: &Raw| {
            let item = queued.describe_grad(grad, at);
            Ok(Box::new(buckets::add(&queued.shared, axis, grad, item, at)?) as Later)
        };
        custom_later("whole", raw, raw.clone(), start, back)
    }

    /// Cuts this rank's part of a dim out of a replicated tensor.
    pub(crate) fn cut(&self, raw: &Raw, axis: usize, dim: usize, at: CallSite) -> Result<Raw> {
        self.require("cut", axis, self.places[axis].whole())?;
        let name = self.dim_name(dim)?;
        self.require_innermost("cut", axis, &name)?;
        let split = self.with_place(axis, Place::Split(name));
        let (first, _) = self.range(dim, None);
        let (start, len) = split.range(dim, None);
        if self.places[axis] != Place::Synced {
            // The gradient outside the part is zero.
            let piece = DynTensor::from_parts(raw.clone(), Names::unnamed(raw.rank()))?;
            return Ok(piece
                .narrow(dim as i64, (start - first) as i64, len)?
                .into_parts()
                .0);
        }
        let found = raw.clone().detach().narrow(dim, start - first, len)?;
        custom("cut", &[raw], found, move |grad| {
            Ok(vec![Some(split.all_gather(grad, axis, true, at)?)])
        })
    }

    /// Turns a replicated tensor into a pending sum to which only the first rank contributes.
    pub(crate) fn pend(&self, raw: &Raw, axis: usize) -> Result<Raw> {
        self.require("pend", axis, self.places[axis].plain())?;
        value_or_zeros("pend", raw, self.rank(axis) == 0)
    }

    /// Sends one rank's piece to all ranks of the axis.
    pub(crate) fn broadcast(
        &self,
        raw: &Raw,
        axis: usize,
        root: usize,
        at: CallSite,
    ) -> Result<Raw> {
        let op = "broadcast";
        self.require(op, axis, self.places[axis].own())?;
        if root >= self.ranks(axis) {
            let what = format!(
                "rank {root} of {} along mesh axis `{}`",
                self.ranks(axis),
                self.shared.axes[axis].name
            );
            return Err(Error::new(ErrorKind::Index, op, what));
        }
        let job = Job::Broadcast {
            piece: raw.clone().detach(),
            root,
        };
        let description = self.describe(op, Some(raw.dtype()), axis, at);
        let found = self.shared.run_for_one(axis, description, job)?;
        let metadata = self.with_place(axis, Place::Pending(Combine::Add));
        custom(op, &[raw], found, move |grad| {
            let sum = metadata.all_reduce(op, grad, axis, false, at)?;
            Ok(vec![Some(value_or_zeros(
                op,
                &sum,
                metadata.rank(axis) == root,
            )?)])
        })
    }
}

/// Returns the tensor if `here`, else zeros.
fn value_or_zeros(op: &'static str, raw: &Raw, here: bool) -> Result<Raw> {
    let zeros = |like: &Raw| Raw::zeros(op, like.shape(), like.dtype(), like.device());
    let found = if here { raw.clone() } else { zeros(raw)? };
    custom(op, &[raw], found, move |grad| {
        Ok(vec![Some(value_or_zeros(op, grad, here)?)])
    })
}

fn no_gradient(op: &'static str, combine: Combine) -> Error {
    let what = format!("the {combine:?} over ranks has no gradient");
    Error::new(ErrorKind::Gradient, op, what).hint("combine detached tensors, or a sum")
}

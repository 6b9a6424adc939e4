//! Operators along a dim that is split over the ranks of a mesh axis: each rank's computation on its own part, and the
//! exchanges. They take tensors with run-time names, so that `Sharded` and `DynSharded` share them.

mod conv_transpose;
mod entropy;
mod neighbours;
mod norm;
mod order;
mod ring;
mod route;
mod rows;
mod scan;
mod select;
mod sort;
mod window;

pub(crate) use entropy::{EntropyArgs, entropy};
pub(crate) use ring::Attention;
pub(crate) use scan::Scan;
pub(crate) use window::{SlidingOp, Window, WindowResult, pad, split_groups_error};

use nomina::{DynTensor, Names, Result};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_core::rule::DimArg;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use crate::metadata::Metadata;
use crate::origin::CallSite;
use crate::partition::part;

/// A dim of a tensor that is split over the ranks of one mesh axis.
#[derive(Clone)]
pub(crate) struct SplitDim {
    pub(crate) metadata: Metadata,
    /// The operator, for errors.
    pub(crate) op: &'static str,
    pub(crate) dim: usize,
    pub(crate) axis: usize,
    pub(crate) at: CallSite,
}

/// Returns a tensor with the names of `like`.
pub(crate) fn with_names_of(raw: Raw, like: &DynTensor) -> Result<DynTensor> {
    DynTensor::from_parts(raw, like.names().clone())
}

/// Returns a tensor without names.
pub(crate) fn unnamed(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw, names)
}

/// Makes `y`, which does not depend on elements of `of`, depend on them in the graph with gradients of zero. A rank
/// with an empty part then still takes part in the collectives of the backward pass.
pub(crate) fn with_dependency(
    op: &'static str,
    y: DynTensor,
    of: &[DynTensor],
) -> Result<DynTensor> {
    let inputs: Vec<&Raw> = of.iter().map(DynTensor::raw).collect();
    let detached: Vec<DynTensor> = of.iter().map(DynTensor::detach).collect();
    let (raw, names) = y.into_parts();
    let dependent = custom(op, &inputs, raw, move |_| {
        let zeros = detached.iter().map(DynTensor::zeros_like);
        zeros.map(|zeros| Ok(Some(zeros?.into_parts().0))).collect()
    })?;
    DynTensor::from_parts(dependent, names)
}

impl SplitDim {
    fn rank(&self) -> usize {
        self.metadata.shared.axes[self.axis].ranks.rank()
    }

    fn ranks(&self) -> usize {
        self.metadata.shared.axes[self.axis].ranks.size()
    }

    /// Returns the size of the dim over all ranks.
    fn size(&self) -> usize {
        self.metadata.sizes[self.dim]
    }

    /// Returns the first index and the length of this rank's part.
    fn own(&self) -> (usize, usize) {
        part(self.size(), self.ranks(), self.rank())
    }

    /// Returns the dim as an argument that keeps it with size 1.
    fn keep_dim(&self) -> DimArg<'static> {
        DimArg::from_dim(self.dim).keep()
    }

    /// All-reduces a tensor of equal sizes on all ranks.
    fn all_reduce(&self, x: &DynTensor, combine: Combine) -> Result<DynTensor> {
        let metadata = self.metadata.with_place(self.axis, Place::Pending(combine));
        with_names_of(
            metadata.all_reduce(self.op, x.raw(), self.axis, false, self.at)?,
            x,
        )
    }

    /// All-gathers a tensor like `x` whose size along the dim is `size` over all ranks.
    fn all_gather(&self, x: &DynTensor, size: usize) -> Result<DynTensor> {
        let mut metadata = self.metadata.clone();
        metadata.sizes[self.dim] = size;
        with_names_of(metadata.all_gather(x.raw(), self.axis, false, self.at)?, x)
    }

    /// Returns global indices along the dim as indices into this rank's part, zero if they belong to another rank; and
    /// a mask of those that belong to this rank.
    fn localized(&self, places: &DynTensor) -> Result<(DynTensor, DynTensor)> {
        let (start, len) = self.own();
        let own = places
            .ge(start as i64)?
            .logical_and(&places.lt((start + len) as i64)?)?;
        let within = places
            .sub(start as i64)?
            .masked_fill(&own.logical_not()?, 0_i64)?;
        Ok((within, own))
    }
}

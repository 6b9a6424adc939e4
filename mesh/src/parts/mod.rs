//! Operators along a dim that is split over the ranks of a mesh axis: each rank's computation on its own part, and the
//! exchanges. They take tensors with run-time names, so that `Sharded` and `DynSharded` share them.

mod entropy;
mod fetch;
mod neighbours;
mod norm;
mod order;
mod pick;
mod ring;
mod rows;
mod scan;
mod sort;
mod transpose;
mod window;

pub(crate) use entropy::{Classes, entropy};
pub(crate) use ring::Attention;
pub(crate) use scan::Scan;
pub(crate) use window::{Slid, Slide, Sliding, around, groups_apart};

use nomina::{DynTensor, Names, Result};
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_core::rule::DimArg;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use crate::boxes::part;
use crate::frame::{At, Frame};

/// A dim of a tensor that is split over the ranks of one mesh axis.
pub(crate) struct Parts {
    pub(crate) frame: Frame,
    /// The operator, for errors.
    pub(crate) op: &'static str,
    pub(crate) dim: usize,
    pub(crate) axis: usize,
    pub(crate) at: At,
}

/// Returns a tensor with the names of `like`.
pub(crate) fn named(raw: Raw, like: &DynTensor) -> Result<DynTensor> {
    DynTensor::from_parts(raw, like.names().clone())
}

/// Returns a tensor without names.
pub(crate) fn plain(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw, names)
}

/// Makes `y`, which does not depend on elements of `of`, depend on them in the graph with gradients of zero. A rank
/// with an empty part then still takes part in the collectives of the backward pass.
pub(crate) fn tied(op: &'static str, y: DynTensor, of: &[DynTensor]) -> Result<DynTensor> {
    let inputs: Vec<&Raw> = of.iter().map(DynTensor::raw).collect();
    let detached: Vec<DynTensor> = of.iter().map(DynTensor::detach).collect();
    let (raw, names) = y.into_parts();
    let tied = custom(op, &inputs, raw, move |_| {
        let zeros = detached.iter().map(DynTensor::zeros_like);
        zeros.map(|zeros| Ok(Some(zeros?.into_parts().0))).collect()
    })?;
    DynTensor::from_parts(tied, names)
}

impl Parts {
    fn rank(&self) -> usize {
        self.frame.shared.axes[self.axis].ranks.rank()
    }

    fn ranks(&self) -> usize {
        self.frame.shared.axes[self.axis].ranks.size()
    }

    /// Returns the size of the dim over all ranks.
    fn size(&self) -> usize {
        self.frame.sizes[self.dim]
    }

    /// Returns the first index and the length of this rank's part.
    fn own(&self) -> (usize, usize) {
        part(self.size(), self.ranks(), self.rank())
    }

    /// Returns the dim as an argument that keeps it with size 1.
    fn keep(&self) -> DimArg<'static> {
        DimArg::from_dim(self.dim).keep()
    }

    /// All-reduces a tensor of equal sizes on all ranks.
    fn over(&self, x: &DynTensor, combine: Combine) -> Result<DynTensor> {
        let frame = self.frame.with(self.axis, Place::Pending(combine));
        named(
            frame.all_reduce(self.op, x.raw(), self.axis, false, self.at)?,
            x,
        )
    }

    /// All-gathers a tensor like `x` whose size along the dim is `size` over all ranks.
    fn gathered(&self, x: &DynTensor, size: usize) -> Result<DynTensor> {
        let mut frame = self.frame.clone();
        frame.sizes[self.dim] = size;
        named(frame.all_gather(x.raw(), self.axis, false, self.at)?, x)
    }

    /// Returns global indices along the dim as indices into this rank's part, zero if they belong to another rank; and
    /// a mask of those that belong to this rank.
    fn owned(&self, places: &DynTensor) -> Result<(DynTensor, DynTensor)> {
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

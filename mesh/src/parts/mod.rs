//! Operators along a dim of which the ranks of a mesh axis have the parts: what each rank computes of its own part, and what they
//! send. On tensors whose names arrive at run time, so that `Sharded` and `DynSharded` do the same.

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

/// A dim of a tensor, of which the ranks along an axis have the parts, and no other axis splits it.
pub(crate) struct Parts {
    pub(crate) frame: Frame,
    /// Who asks.
    pub(crate) op: &'static str,
    pub(crate) dim: usize,
    pub(crate) axis: usize,
    pub(crate) at: At,
}

/// A tensor of the same names.
pub(crate) fn named(raw: Raw, like: &DynTensor) -> Result<DynTensor> {
    DynTensor::from_parts(raw, like.names().clone())
}

/// A tensor without names.
pub(crate) fn plain(raw: Raw) -> Result<DynTensor> {
    let names = Names::unnamed(raw.rank());
    DynTensor::from_parts(raw, names)
}

/// `y`, which has no elements of `of`, as computed of them: what goes back through them all ranks send, those whose part is empty
/// included.
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

    /// The size of the dim, over all ranks.
    fn size(&self) -> usize {
        self.frame.sizes[self.dim]
    }

    /// The first index and the length of the own part.
    fn own(&self) -> (usize, usize) {
        part(self.size(), self.ranks(), self.rank())
    }

    /// The dim, to be reduced to size 1.
    fn keep(&self) -> DimArg<'static> {
        DimArg::one(self.dim).keep()
    }

    /// A tensor that each rank has of sizes that are the same on all of them, combined.
    fn over(&self, x: &DynTensor, combine: Combine) -> Result<DynTensor> {
        let frame = self.frame.with(self.axis, Place::Pending(combine));
        named(
            frame.all_reduce(self.op, x.raw(), self.axis, false, self.at)?,
            x,
        )
    }

    /// Tensors as this one, of which each rank has its part of `size` along the dim, as one.
    fn gathered(&self, x: &DynTensor, size: usize) -> Result<DynTensor> {
        let mut frame = self.frame.clone();
        frame.sizes[self.dim] = size;
        named(frame.all_gather(x.raw(), self.axis, false, self.at)?, x)
    }

    /// What stands at `places` along the dim, counted over all ranks, of whom each has its own part; `of` where that is one of
    /// this rank's, else zero. With it, which of them are.
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

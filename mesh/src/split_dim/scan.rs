//! Scans along a split dim: each rank scans its part and all-gathers the last elements, then combines each of its
//! elements with the total of the ranks before it.

use nomina::{DynTensor, Result, Scalar};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{SplitDim, unnamed, with_names_of};
use crate::identity;
use crate::ranks::Job;

/// The kind of scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    Prod,
    LogSumExp,
}

impl Scan {
    fn local(self, x: &DynTensor, dim: usize) -> Result<DynTensor> {
        match self {
            Self::Prod => x.cumprod(dim),
            Self::LogSumExp => x.logcumsumexp(dim),
        }
    }
}

impl SplitDim {
    /// Returns `first`, the neutral element, followed by the last element of each nonempty rank's scan, in rank order.
    /// The entries up to index `rank` are those before this rank's own.
    fn ends(&self, scanned: &DynTensor, first: DynTensor) -> Result<DynTensor> {
        let (_, len) = self.own();
        let end = scanned.narrow(self.dim, len.saturating_sub(1) as i64, len.min(1))?;
        let all = self.all_gather(&end, self.size().min(self.ranks()))?;
        DynTensor::cat(&[&first, &all], self.dim)
    }

    /// Returns the total of the ranks before this one, from a scan of [`ends`](Self::ends).
    fn total_before(&self, ends: &DynTensor) -> Result<DynTensor> {
        let place = self.rank().min(self.size());
        ends.narrow(self.dim, place as i64, 1)
    }

    /// Returns a tensor of one value, with size 1 along the dim.
    fn constant_row(&self, x: &DynTensor, value: impl Into<Scalar>) -> Result<DynTensor> {
        let mut row = identity::zero_row(x, self.dim)?;
        row.fill_(value.into())?;
        Ok(row)
    }

    pub(crate) fn scan(&self, x: &DynTensor, scan: Scan) -> Result<DynTensor> {
        let local = scan.local(x, self.dim)?;
        let neutral = match scan {
            Scan::Prod => Scalar::Int(1),
            Scan::LogSumExp => Scalar::Float(f64::NEG_INFINITY),
        };
        let ends = self.ends(&local, self.constant_row(&local, neutral)?)?;
        let before = self.total_before(&scan.local(&ends, self.dim)?)?;
        match scan {
            Scan::Prod => local.mul(&before),
            Scan::LogSumExp => {
                // If the ranks before contribute nothing, this rank's result is the local one: `logaddexp` of two minus
                // infinities has no derivative.
                let none = before.isneginf()?;
                let safe = before.masked_fill(&none, 0_i64)?;
                none.where_cond(&local, &local.logaddexp(&safe)?)
            }
        }
    }

    /// Returns the running maximum or minimum and its index: the last index of equal elements, and the last NaN from
    /// the first NaN on.
    pub(crate) fn running(
        &self,
        x: &DynTensor,
        combine: Combine,
    ) -> Result<(DynTensor, DynTensor)> {
        let scan = |x: &DynTensor| match combine {
            Combine::Max => x.cummax(self.dim),
            _ => x.cummin(self.dim),
        };
        let (local, places) = scan(x)?;
        let places = places.add(self.own().0 as i64)?;
        let least = identity::extreme_row(&local, self.dim, combine)?;
        let (ends, of) = scan(&self.ends(&local, least)?)?;
        let (before, of) = (self.total_before(&ends)?, self.total_before(&of)?);
        let first = self.constant_row(&places, 0_i64)?;
        let before_places = self.ends(&places, first)?.gather(self.dim, &of)?;
        let wins = match combine {
            Combine::Max => local.ge(&before)?,
            _ => local.le(&before)?,
        };
        // A NaN of this rank is the last one. After a NaN of an earlier rank, this rank's numbers do not win.
        let own = wins.logical_or(&local.isnan()?)?;
        Ok((
            own.where_cond(&local, &before)?,
            own.where_cond(&places, &before_places)?,
        ))
    }

    pub(crate) fn cumsum(&self, x: &DynTensor) -> Result<DynTensor> {
        let local = x.cumsum(self.dim)?;
        let total = x.sum(self.keep_dim())?;
        let before = with_names_of(self.sum_before(total.raw())?, &local)?;
        local.add(&before)
    }

    /// Returns the sum of a tensor over the ranks before this one; zeros on the first rank.
    fn sum_before(&self, raw: &Raw) -> Result<Raw> {
        let metadata = &self.metadata;
        let description = metadata.describe(self.op, Some(raw.dtype()), self.axis, self.at);
        let job = Job::Scan {
            piece: raw.clone().detach(),
            combine: Combine::Add,
        };
        let found = metadata.shared.start(self.axis, description, job)?.wait()?;
        let zeros = || Raw::zeros(self.op, raw.shape(), raw.dtype(), raw.device());
        let found = found.into_iter().next().map_or_else(zeros, Ok)?;
        let back = self.clone();
        custom(self.op, &[raw], found, move |grad| {
            // A rank contributes to all later ranks: its gradient is the sum of all ranks' gradients, less its own and
            // those before it.
            let own = unnamed(grad.clone())?;
            let all = back.all_reduce(&own, Combine::Add)?;
            let before = unnamed(back.sum_before(grad)?)?;
            Ok(vec![Some(all.sub(&before)?.sub(&own)?.into_parts().0)])
        })
    }
}

//! Running results along a split dim: each rank scans its part, the last element of each part goes to all ranks, and what those
//! before a rank come to together goes with each of its elements.

use nomina::{DynTensor, Result, Scalar};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;
use nomina_runtime::grad::custom;

use super::{Parts, named, plain};
use crate::identity;
use crate::ranks::Job;

/// Which running result.
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

impl Parts {
    /// The last element of each rank's scan, of those that have one, behind `first`, which changes nothing: as many as this rank
    /// needs are the first ones.
    fn ends(&self, scanned: &DynTensor, first: DynTensor) -> Result<DynTensor> {
        let (_, len) = self.own();
        let end = scanned.narrow(self.dim, len.saturating_sub(1) as i64, len.min(1))?;
        let all = self.gathered(&end, self.size().min(self.ranks()))?;
        DynTensor::cat(&[&first, &all], self.dim)
    }

    /// Of a scan of [`ends`](Self::ends) what the ranks before this one come to.
    fn before(&self, ends: &DynTensor) -> Result<DynTensor> {
        let place = self.rank().min(self.size());
        ends.narrow(self.dim, place as i64, 1)
    }

    /// A tensor of size 1 along the dim, of one value.
    fn row_of(&self, x: &DynTensor, value: impl Into<Scalar>) -> Result<DynTensor> {
        let mut row = identity::row(x, self.dim)?;
        row.fill_(value.into())?;
        Ok(row)
    }

    pub(crate) fn scan(&self, x: &DynTensor, scan: Scan) -> Result<DynTensor> {
        let local = scan.local(x, self.dim)?;
        let neutral = match scan {
            Scan::Prod => Scalar::Int(1),
            Scan::LogSumExp => Scalar::Float(f64::NEG_INFINITY),
        };
        let ends = self.ends(&local, self.row_of(&local, neutral)?)?;
        let before = self.before(&scan.local(&ends, self.dim)?)?;
        match scan {
            Scan::Prod => local.mul(&before),
            Scan::LogSumExp => {
                // Where nothing was before, the own part is all: of two that are minus infinity there is no derivative.
                let none = before.isneginf()?;
                let safe = before.masked_fill(&none, 0_i64)?;
                none.where_cond(&local, &local.logaddexp(&safe)?)
            }
        }
    }

    /// The greatest or smallest so far, and where it stands: of equal ones the last, and the last NaN for good.
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
        let (before, of) = (self.before(&ends)?, self.before(&of)?);
        let first = self.row_of(&places, 0_i64)?;
        let before_places = self.ends(&places, first)?.gather(self.dim, &of)?;
        let wins = match combine {
            Combine::Max => local.ge(&before)?,
            _ => local.le(&before)?,
        };
        // A NaN of this rank is the last one, and what comes behind one of another rank's is none.
        let own = wins.logical_or(&local.isnan()?)?;
        Ok((
            own.where_cond(&local, &before)?,
            own.where_cond(&places, &before_places)?,
        ))
    }

    pub(crate) fn cumsum(&self, x: &DynTensor) -> Result<DynTensor> {
        let local = x.cumsum(self.dim)?;
        let total = x.sum(self.keep())?;
        let before = named(self.sum_before(total.raw())?, &local)?;
        local.add(&before)
    }

    /// The sum of a tensor over the ranks before this one; zeros on the first.
    fn sum_before(&self, raw: &Raw) -> Result<Raw> {
        let frame = &self.frame;
        let what = frame.what(self.op, Some(raw.dtype()), self.axis, self.at);
        let job = Job::Scan {
            piece: raw.clone().detach(),
            combine: Combine::Add,
        };
        let found = frame.shared.start(self.axis, what, job)?.wait()?;
        let zeros = || Raw::zeros(self.op, raw.shape(), raw.dtype(), raw.device());
        let found = found.into_iter().next().map_or_else(zeros, Ok)?;
        let back = self.again();
        custom(self.op, &[raw], found, move |grad| {
            // What a rank adds to all later ones: the sum of all, less that of itself and of those before.
            let own = plain(grad.clone())?;
            let all = back.over(&own, Combine::Add)?;
            let before = plain(back.sum_before(grad)?)?;
            Ok(vec![Some(all.sub(&before)?.sub(&own)?.into_parts().0)])
        })
    }

    /// The same, for the way back.
    pub(super) fn again(&self) -> Self {
        Self {
            frame: self.frame.clone(),
            ..*self
        }
    }
}

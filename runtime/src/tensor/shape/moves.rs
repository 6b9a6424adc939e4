//! Order, direction and repetition of elements.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};
use nomina_macros::forms;

use super::diagonal::Rot90Options;
use crate::call;
use crate::tensor::{DynTensor, about};

/// The counts of a repetition: one for all elements, or a tensor of integers.
#[derive(Clone, Copy)]
pub enum Repeats<'a> {
    /// One count for all elements.
    Each(i64),
    /// One count per element of the dim.
    Counts(&'a DynTensor),
}

impl From<i64> for Repeats<'_> {
    fn from(count: i64) -> Self {
        Self::Each(count)
    }
}

impl<'a> From<&'a DynTensor> for Repeats<'a> {
    fn from(counts: &'a DynTensor) -> Self {
        Self::Counts(counts)
    }
}

impl DynTensor {
    /// Moves dims to other positions, which may be given as the dims that are there; the remaining
    /// dims keep their order.
    ///
    /// # Errors
    /// If a dim does not exist or is given twice, [`ErrorKind::Rank`] if the lists differ in
    /// length.
    pub fn movedim<'a, 'b>(
        &self,
        source: impl Into<DimArg<'a>>,
        destination: impl Into<DimArg<'b>>,
    ) -> Result<Self> {
        let (source, destination) = (source.into(), destination.into());
        let fail = |e| about(e, &[self]);
        let order = rule::movedim("movedim", &self.names, &source, &destination).map_err(fail)?;
        Ok(Self::new(
            self.raw.permute(&order).map_err(fail)?,
            rule::kept(&self.names, &order),
        ))
    }

    /// Reverses the elements along dims; `..` for all.
    ///
    /// # Errors
    /// If a dim does not exist or is given twice.
    pub fn flip<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        self.flipped("flip", &dims.into())
    }

    /// Reverses the elements along the second dim: left and right are swapped.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for fewer than two dims.
    pub fn fliplr(&self) -> Result<Self> {
        self.at_least("fliplr", 2)?;
        self.flipped("fliplr", &1.into())
    }

    /// Reverses the elements along the first dim: up and down are swapped.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for a number.
    pub fn flipud(&self) -> Result<Self> {
        self.at_least("flipud", 1)?;
        self.flipped("flipud", &0.into())
    }

    /// Refuses a tensor with fewer dims.
    pub(super) fn at_least(&self, op: &'static str, rank: usize) -> Result<()> {
        if self.rank() >= rank {
            return Ok(());
        }
        let what = format!("takes at least {rank} dims, not {}", self.rank());
        Err(about(Error::new(ErrorKind::Rank, op, what), &[self]).hint("add dims with `unsqueeze`"))
    }

    fn flipped(&self, op: &'static str, dims: &DimArg<'_>) -> Result<Self> {
        let fail = |e: Error| about(e.in_op(op), &[self]);
        let positions = dims.listed(op, &self.names).map_err(fail)?;
        let raw = call::flip(&self.raw, &positions).map_err(fail)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Rotates the plane of two dims by a quarter, from the first towards the second: the dims are
    /// swapped, and so are their names.
    ///
    /// # Errors
    /// If the dims are not two that exist.
    #[forms(with = "but by `options.k` quarters.")]
    pub fn rot90_with<'a>(
        &self,
        dims: impl Into<DimArg<'a>>,
        options: Rot90Options,
    ) -> Result<Self> {
        let dims = dims.into();
        let fail = |e: Error| about(e.in_op("rot90"), &[self]);
        let positions = dims.listed("rot90", &self.names).map_err(fail)?;
        let &[a, b] = &positions[..] else {
            let what = format!("{} dims are no plane", positions.len());
            return Err(fail(Error::new(ErrorKind::Rank, "rot90", what)).hint("give two dims"));
        };
        let backwards: &[usize] = match options.k.rem_euclid(4) {
            0 => &[],
            1 => &[b],
            2 => &[a, b],
            _ => &[a],
        };
        let raw = call::flip(&self.raw, backwards).map_err(fail)?;
        if options.k.rem_euclid(2) == 0 {
            return Ok(Self::new(raw, self.names.clone()));
        }
        let mut names = self.names.clone();
        names.swap(a, b);
        Ok(Self::new(raw.transpose(a, b)?, names))
    }

    /// Shifts elements cyclically along dims: one shift per dim, negative towards the front. `..`
    /// shifts all elements in row-major order, regardless of dims.
    ///
    /// # Errors
    /// If a dim does not exist or is given twice, [`ErrorKind::Argument`] if there is not one
    /// shift per dim.
    pub fn roll<'a>(&self, shifts: &[i64], dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let dims = dims.into();
        let fail = |e: Error| about(e.in_op("roll"), &[self]);
        let uneven = |count: usize| {
            let what = format!("{} shifts for {count} dims", shifts.len());
            fail(Error::new(ErrorKind::Argument, "roll", what))
                .hint("give one shift per dim; `..` takes one")
        };
        if dims.is_all() {
            let &[shift] = shifts else {
                return Err(uneven(1));
            };
            let line = self.raw.reshape(&[self.numel()]).map_err(fail)?;
            let raw = call::roll(&line, shift, 0).map_err(fail)?;
            let raw = raw.reshape(self.shape()).map_err(fail)?;
            return Ok(Self::new(raw, self.names.clone()));
        }
        let positions = dims.listed("roll", &self.names).map_err(fail)?;
        if positions.len() != shifts.len() {
            // A number has no dim to look up.
            if self.rank() == 0 && shifts.len() == dims.items().len() {
                return Ok(self.clone());
            }
            return Err(uneven(positions.len()));
        }
        let mut raw = self.raw.clone();
        for (&position, &shift) in positions.iter().zip(shifts) {
            raw = call::roll(&raw, shift, position).map_err(fail)?;
        }
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Repeats everything, `repeats[i]` times along dim `i`; more counts than dims make new dims
    /// on the left, without names.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for fewer counts than dims, [`ErrorKind::Shape`] for a negative one.
    pub fn repeat(&self, repeats: &[i64]) -> Result<Self> {
        self.repeated(
            "repeat",
            rule::repeat("repeat", &self.names, self.shape(), repeats),
        )
    }

    /// Like [`DynTensor::repeat`], but fewer counts than dims are for the last ones.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] for a negative count.
    pub fn tile(&self, dims: &[i64]) -> Result<Self> {
        self.repeated("tile", rule::tile("tile", &self.names, self.shape(), dims))
    }

    fn repeated(&self, op: &'static str, found: Result<(Names, rule::Shape)>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let (names, counts) = found.map_err(fail)?;
        let raw = call::repeat(op, &self.raw, &counts).map_err(fail)?;
        Ok(Self::new(raw, names))
    }

    /// Repeats each element of a dim, by one count (`2`) or by a tensor of counts; `..` repeats all
    /// elements in row-major order, in one unnamed dim.
    ///
    /// # Errors
    /// If the dim does not exist, counts are negative, no integers, or not one per element.
    pub fn repeat_interleave<'a, 'b>(
        &self,
        repeats: impl Into<Repeats<'a>>,
        dim: impl Into<DimArg<'b>>,
    ) -> Result<Self> {
        let op = Op::RepeatInterleave.name();
        let fail = |e: Error| about(e.in_op(op), &[self]);
        let (at, names) = rule::repeat_interleave(op, &self.names, &dim.into()).map_err(fail)?;
        let (raw, at) = match at {
            Some(at) => (self.raw.clone(), at),
            None => (self.raw.reshape(&[self.numel()]).map_err(fail)?, 0),
        };
        let raw = match repeats.into() {
            Repeats::Each(count) => {
                let count = usize::try_from(count).map_err(|_| {
                    let what = format!("elements repeat {count} times");
                    fail(Error::new(ErrorKind::Shape, op, what)).hint("a count is at least 0")
                })?;
                call::interleave(op, &raw, at, count)
            }
            Repeats::Counts(counts) => {
                let places = call::repeated_places(op, &counts.raw, raw.shape()[at])
                    .map_err(|e| about(e.in_op(op), &[self, counts]))?;
                call::index_select(Op::RepeatInterleave, &raw, at, &places)
            }
        };
        Ok(Self::new(raw.map_err(fail)?, names))
    }

    /// Returns a range of a dim like [`DynTensor::narrow`], but in a separate buffer.
    ///
    /// # Errors
    /// Like [`DynTensor::narrow`].
    #[forms(out)]
    pub fn narrow_copy<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        start: i64,
        length: usize,
    ) -> Result<Self> {
        let part = self
            .narrow(dim, start, length)
            .map_err(|e| e.in_op("narrow_copy"))?;
        let raw = call::duplicate(&part.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, part.names))
    }
}

//! Activation functions beside those that are generated from their rows.

mod random;

use nomina_core::op::Op;
use nomina_core::rule::{DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Result};
use nomina_macros::forms;

use super::{DynTensor, about};
use crate::call;
use crate::raw::Raw;
pub use random::{AlphaDropoutOptions, DropoutOptions, RreluOptions};

impl DynTensor {
    /// Times `weight` where negative. A weight with a dim has one number for each channel: the dim
    /// of its name, or the second one when it has no name.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if the weight has more than one dim, [`ErrorKind::NameNotFound`] if
    /// `self` lacks its dim, [`ErrorKind::Shape`] if sizes differ.
    pub fn prelu(&self, weight: &Self) -> Result<Self> {
        let at = self.channel(Op::Prelu, weight)?;
        self.prelu_at(weight, at)
    }

    /// [`DynTensor::prelu`] along the dim at a position.
    ///
    /// # Errors
    /// Like [`DynTensor::prelu`].
    pub fn prelu_at(&self, weight: &Self, at: usize) -> Result<Self> {
        let weight = self.beside(Op::Prelu, weight, at)?;
        let raw = call::pointwise(Op::Prelu, &[(&self.raw).into(), (&weight).into()])
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Where the channels of a weight are: at the dim of its name, at the second dim when it has
    /// none.
    fn channel(&self, op: Op, weight: &Self) -> Result<usize> {
        let fail = |e| about(e, &[self, weight]);
        let dim = match weight.names.first() {
            Some(Some(name)) => DimRef::Name(name.as_str()),
            _ => DimRef::Index(i64::from(self.rank() > 1)),
        };
        let found = DimArg::one(dim).single(op.name(), &self.names);
        Ok(found.map_err(fail)?.unwrap_or(0))
    }

    /// The elements of `weight`, a number or one for each index of the dim at `at`, so that they
    /// broadcast along it.
    fn beside(&self, op: Op, weight: &Self, at: usize) -> Result<Raw> {
        let fail = |e| about(e, &[self, weight]);
        if weight.numel() == 1 && weight.names.iter().all(Option::is_none) {
            return weight.raw.reshape(&[]).map_err(fail);
        }
        if weight.rank() != 1 {
            let what = format!("the weight has {} dims, not one", weight.rank());
            return Err(fail(
                Error::new(ErrorKind::Rank, op.name(), what)
                    .hint("give one number, or one for each channel"),
            ));
        }
        if at >= self.rank() || self.shape()[at] != weight.numel() {
            let shapes = [self.shape(), weight.shape()];
            let error = if at < self.rank() {
                Error::sizes(op.name(), shapes, [(0, at), (1, 0)])
            } else {
                let what = format!("a weight of {} numbers", weight.numel());
                Error::new(ErrorKind::Shape, op.name(), what)
            };
            return Err(fail(
                error.hint("give one for each index of the channel's dim"),
            ));
        }
        let mut shape = vec![1; self.rank()];
        shape[at] = weight.numel();
        weight.raw.reshape(&shape).map_err(fail)
    }

    /// The first half along a dim, times the logistic function of the second.
    ///
    /// # Errors
    /// If the dim does not exist, or its size is odd.
    #[forms(out)]
    pub fn glu<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let at = DimArg::one(dim.into())
            .single("glu", &self.names)
            .map_err(fail)?;
        let Some(at) = at.filter(|&at| self.shape()[at].is_multiple_of(2)) else {
            let error = Error::new(ErrorKind::Shape, "glu", "the dim has no two halves");
            let error = match at {
                Some(at) => fail(error).at(0, at),
                None => fail(error),
            };
            return Err(error.hint("halve a dim of even size"));
        };
        let half = self.shape()[at] / 2;
        let halves = self.raw.narrow(at, 0, half).and_then(|a| {
            let b = self.raw.narrow(at, half, half)?;
            call::pointwise(Op::Gated, &[(&a).into(), (&b).into()])
        });
        let raw = halves.map_err(|e| fail(e.in_op("glu")))?;
        Ok(Self::new(raw, self.names.clone()))
    }
}

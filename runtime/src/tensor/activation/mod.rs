//! Activation functions that are not generated from their rows.

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
    /// Multiplies negative elements by `weight`. A weight with a dim has one number per channel:
    /// along the dim of its name, or along the second dim if it has no name.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] if the weight has more than one dim, [`ErrorKind::NameNotFound`] if
    /// `self` lacks its dim, [`ErrorKind::Shape`] if sizes differ.
    pub fn prelu(&self, weight: &Self) -> Result<Self> {
        let at = self.channel(Op::Prelu, weight)?;
        self.prelu_at(weight, at)
    }

    /// Like [`DynTensor::prelu`], but along the dim at a position.
    ///
    /// # Errors
    /// Like [`DynTensor::prelu`].
    pub fn prelu_at(&self, weight: &Self, at: usize) -> Result<Self> {
        let weight = self.beside(Op::Prelu, weight, at)?;
        let raw = call::pointwise(Op::Prelu, &[(&self.raw).into(), (&weight).into()])
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the channel dim of a weight: the dim of its name, or the second dim if it has none.
    fn channel(&self, op: Op, weight: &Self) -> Result<usize> {
        let fail = |e| about(e, &[self, weight]);
        let dim = match weight.names.first() {
            Some(Some(name)) => DimRef::Name(name.as_str()),
            _ => DimRef::Index(i64::from(self.rank() > 1)),
        };
        let found = DimArg::from_dim(dim).single(op.name(), &self.names);
        Ok(found.map_err(fail)?.unwrap_or(0))
    }

    /// Returns the elements of `weight`, a number or one for each index of the dim at `at`, in a
    /// shape that broadcasts along that dim.
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

    /// Multiplies the first half along a dim by the logistic function of the second half.
    ///
    /// # Errors
    /// If the dim does not exist, or its size is odd.
    #[forms(out)]
    pub fn glu<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let at = DimArg::from_dim(dim.into())
            .single("glu", &self.names)
            .map_err(fail)?;
        let Some(at) = at.filter(|&at| self.shape()[at].is_multiple_of(2)) else {
            let error = Error::new(ErrorKind::Shape, "glu", "the dim cannot be halved");
            let error = match at {
                Some(at) => fail(error).at(0, at),
                None => fail(error),
            };
            return Err(error.hint("use a dim of even size"));
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

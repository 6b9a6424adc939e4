//! Extremes: for a dim the elements and their indices, for `..` only the element.

use std::ops::RangeFull;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Name, Result};

use super::{DynTensor, about, family};
use crate::call;
use crate::raw::Raw;

/// An argument of `max`, `min` and `median`: one dim gives (values, indices), `..` only the value.
pub trait Along<'a>: Into<DimArg<'a>> {
    /// The type of the result.
    type Output;

    /// Reduces `x` with `op`, which is [`Op::Max`], [`Op::Min`], [`Op::Median`] or
    /// [`Op::Nanmedian`].
    ///
    /// # Errors
    /// If the dim does not exist, or has no elements.
    fn extremum(self, op: Op, x: &DynTensor) -> Result<Self::Output>;
}

impl Along<'_> for RangeFull {
    type Output = DynTensor;
    fn extremum(self, op: Op, x: &DynTensor) -> Result<DynTensor> {
        match op {
            Op::Median | Op::Nanmedian => x.typical_of_all(op),
            _ => family::reduce(op, x, &DimArg::all(), call::ReduceOptions::default()),
        }
    }
}

macro_rules! along {
    ($($dim:ty)*) => {$(
        impl<'a> Along<'a> for $dim {
            type Output = (DynTensor, DynTensor);
            fn extremum(self, op: Op, x: &DynTensor) -> Result<(DynTensor, DynTensor)> {
                match op {
                    Op::Median | Op::Nanmedian => x.typical(op, &self.into()),
                    _ => x.arg_reduce(op, &self.into()),
                }
            }
        }
    )*};
}
// One integer type, so that the type of a literal is known.
along!(&'a str &'a String &'a Name i64 DimRef<'a> DimArg<'a>);

impl DynTensor {
    /// Returns the greatest elements along a dim and their indices; with `..`, only the greatest
    /// element.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    pub fn max<'a, A: Along<'a>>(&self, dim: A) -> Result<A::Output> {
        dim.extremum(Op::Max, self)
    }

    /// Returns the smallest elements along a dim and their indices; with `..`, only the smallest
    /// element.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    pub fn min<'a, A: Along<'a>>(&self, dim: A) -> Result<A::Output> {
        dim.extremum(Op::Min, self)
    }

    /// Like [`DynTensor::max`] along a dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// Like [`DynTensor::max`]; also if `values` or `indices` cannot hold the results.
    pub fn max_out<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        values: &mut Self,
        indices: &mut Self,
    ) -> Result<()> {
        self.arg_reduce_out(Op::Max, &dim.into(), values, indices)
    }

    /// Like [`DynTensor::min`] along a dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// Like [`DynTensor::min`]; also if `values` or `indices` cannot hold the results.
    pub fn min_out<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        values: &mut Self,
        indices: &mut Self,
    ) -> Result<()> {
        self.arg_reduce_out(Op::Min, &dim.into(), values, indices)
    }

    /// Returns the index of the greatest element along a dim; with `..`, the row-major index over
    /// all dims.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    pub fn argmax<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.arg_position(Op::Argmax, &dim.into())
    }

    /// Returns the index of the smallest element along a dim; with `..`, the row-major index over
    /// all dims.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    pub fn argmin<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.arg_position(Op::Argmin, &dim.into())
    }

    pub(super) fn arg_reduce(&self, op: Op, dim: &DimArg<'_>) -> Result<(Self, Self)> {
        let fail = |e| about(e, &[self]);
        let position = dim.single(op.name(), &self.names).map_err(fail)?;
        let Some(position) = position else {
            // A number gets a dim of size 1, which is removed again.
            let row = self.raw.unsqueeze(0)?;
            let (values, indices) = call::arg_reduce(op, &row, 0, false).map_err(fail)?;
            return Ok((
                Self::new(values, self.names.clone()),
                Self::new(indices, self.names.clone()),
            ));
        };
        let keepdim = dim.keepdim();
        let (values, indices) = call::arg_reduce(op, &self.raw, position, keepdim).map_err(fail)?;
        let names = rule::reduce(&self.names, &[position], keepdim);
        Ok((Self::new(values, names.clone()), Self::new(indices, names)))
    }

    pub(super) fn arg_reduce_out(
        &self,
        op: Op,
        dim: &DimArg<'_>,
        values: &mut Self,
        indices: &mut Self,
    ) -> Result<()> {
        family::store_pair(op, self.arg_reduce(op, dim)?, values, indices)
    }

    pub(super) fn arg_position(&self, op: Op, dim: &DimArg<'_>) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let keepdim = dim.keepdim();
        let (positions, one) = if dim.is_all() {
            ((0..self.rank()).collect(), None)
        } else {
            let position = dim.single(op.name(), &self.names).map_err(fail)?;
            (position.into_iter().collect::<rule::Positions>(), position)
        };
        let raw: Raw = call::arg_position(op, &self.raw, one, keepdim).map_err(fail)?;
        Ok(Self::new(
            raw,
            rule::reduce(&self.names, &positions, keepdim),
        ))
    }
}

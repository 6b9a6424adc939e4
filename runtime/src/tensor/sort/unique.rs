//! Equal elements, and positions in sorted sequences.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Names, Result};
use nomina_macros::forms;

use crate::call;
use crate::tensor::{DynTensor, Operand, about};

/// Options of `searchsorted_with` and `bucketize_with`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchOptions {
    /// Whether the position is after equal elements, instead of before them.
    pub right: bool,
}

/// The distinct elements of a tensor, or its distinct slices along a dim.
#[derive(Clone, Debug)]
pub struct Unique {
    /// The distinct elements in one unnamed dim, or the slices with all names.
    pub values: DynTensor,
    /// The index of each element, or slice, among the values.
    pub inverse: DynTensor,
    /// The number of occurrences of each value.
    pub counts: DynTensor,
}

impl DynTensor {
    /// Returns the distinct elements in order, in one unnamed dim.
    ///
    /// # Errors
    /// If the dtype is complex.
    pub fn unique(&self) -> Result<Self> {
        Ok(self.unique_all()?.values)
    }

    /// Like [`DynTensor::unique`], but also returns the index of each element among them, and their
    /// counts.
    ///
    /// # Errors
    /// Like [`DynTensor::unique`].
    pub fn unique_all(&self) -> Result<Unique> {
        self.different(Op::Unique, None)
    }

    /// Returns the distinct slices along a dim, in order. All names stay; the counts along the dim
    /// have its name.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is complex.
    pub fn unique_dim<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Unique> {
        self.different(Op::Unique, Some(dim.into()))
    }

    /// Returns the elements that differ from their predecessor, in one unnamed dim.
    ///
    /// # Errors
    /// If the dtype is complex.
    pub fn unique_consecutive(&self) -> Result<Self> {
        Ok(self.unique_consecutive_all()?.values)
    }

    /// Like [`DynTensor::unique_consecutive`], but also returns the index of each element among
    /// them, and their counts.
    ///
    /// # Errors
    /// Like [`DynTensor::unique_consecutive`].
    pub fn unique_consecutive_all(&self) -> Result<Unique> {
        self.different(Op::UniqueConsecutive, None)
    }

    /// Returns the slices along a dim that differ from their predecessor. All names stay.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is complex.
    pub fn unique_consecutive_dim<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Unique> {
        self.different(Op::UniqueConsecutive, Some(dim.into()))
    }

    pub(in crate::tensor) fn different(&self, op: Op, dim: Option<DimRef<'_>>) -> Result<Unique> {
        let fail = |e| about(e, &[self]);
        let dim = dim.map(|dim| dim.position(op.name(), &self.names));
        let dim = dim.transpose().map_err(fail)?;
        let consecutive = op == Op::UniqueConsecutive;
        let found = call::unique(op, &self.raw, dim, consecutive).map_err(fail)?;
        let (values, inverse, counts) = match dim {
            None => (Names::unnamed(1), self.names.clone(), Names::unnamed(1)),
            Some(dim) => {
                let one = rule::kept(&self.names, &[dim]);
                (self.names.clone(), one.clone(), one)
            }
        };
        Ok(Unique {
            values: Self::new(found.values, values),
            inverse: Self::new(found.inverse, inverse),
            counts: Self::new(found.counts, counts),
        })
    }

    /// Returns the positions at which values would be inserted in this sorted sequence, before
    /// equal elements. One sequence for each row of values has their dims, except for the last; the
    /// result has the names of the values.
    ///
    /// # Errors
    /// If names or sizes of rows differ, or dtypes do.
    #[forms(
        with = "but returns the position after equal elements if `options.right` is set.",
        out
    )]
    pub fn searchsorted_with<'a>(
        &self,
        values: impl Into<Operand<'a>>,
        options: SearchOptions,
    ) -> Result<Self> {
        let values = self.as_values(values.into())?;
        self.places(Op::Searchsorted, &values, None, options)
    }

    /// Like [`DynTensor::searchsorted`], but in a sequence that is sorted in the order of `sorter`,
    /// a result of [`DynTensor::argsort`].
    ///
    /// # Errors
    /// Like [`DynTensor::searchsorted`]; also if the sorter is not of i64, does not have the sizes
    /// of the sequence, or points out of a sequence.
    pub fn searchsorted_by<'a>(
        &self,
        sorter: &Self,
        values: impl Into<Operand<'a>>,
        options: SearchOptions,
    ) -> Result<Self> {
        let values = self.as_values(values.into())?;
        self.places(Op::Searchsorted, &values, Some(sorter), options)
    }

    /// Returns the index of the bucket between sorted boundaries that each element belongs to; a
    /// boundary belongs to the bucket below it.
    ///
    /// # Errors
    /// If the boundaries have more than one dim, or another dtype.
    #[forms(
        with = "but puts a boundary in the bucket above it if `options.right` is set.",
        out
    )]
    pub fn bucketize_with(&self, boundaries: &Self, options: SearchOptions) -> Result<Self> {
        boundaries.places(Op::Bucketize, self, None, options)
    }

    /// Returns a number as a tensor of the dtype of self.
    pub(in crate::tensor) fn as_values(&self, values: Operand<'_>) -> Result<Self> {
        match values {
            Operand::Tensor(values) => Ok(values.clone()),
            Operand::Scalar(value) => {
                let raw = call::full(&[], value, self.dtype(), self.device())?;
                Ok(Self::new(raw, Names::default()))
            }
        }
    }

    pub(in crate::tensor) fn places(
        &self,
        op: Op,
        values: &Self,
        sorter: Option<&Self>,
        options: SearchOptions,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self, values]);
        let names = if op == Op::Bucketize {
            check_boundaries(self).map_err(fail)?;
            values.names.clone()
        } else {
            rule::searchsorted(op.name(), &self.names, &values.names).map_err(fail)?
        };
        let sorter = sorter.map(|sorter| &sorter.raw);
        let found = call::searchsorted(op, &self.raw, &values.raw, sorter, options.right);
        Ok(Self::new(found.map_err(fail)?, names))
    }
}

fn check_boundaries(boundaries: &DynTensor) -> Result<()> {
    if boundaries.rank() == 1 {
        return Ok(());
    }
    let what = format!("boundaries of {} dims", boundaries.rank());
    Err(
        nomina_core::Error::new(nomina_core::ErrorKind::Rank, Op::Bucketize.name(), what)
            .hint("give boundaries in one dim"),
    )
}

//! Sorting along a dim, equal elements, positions in sorted sequences.

mod count;
mod unique;

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Names, Result};
use nomina_macros::forms;

use super::reduce::Along;
use super::{DynTensor, about, family};
use crate::call;
use crate::raw::Raw;

pub use count::{BincountOptions, HistcOptions, IsinOptions, QuantileOptions};
pub use unique::{SearchOptions, Unique};

/// Options of `sort_with` and `argsort_with`. Equal elements always keep their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SortOptions {
    /// Whether the greatest element comes first.
    pub descending: bool,
}

/// Options of `topk_with`. The elements are always sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopkOptions {
    /// Whether to return the greatest elements, instead of the smallest.
    pub largest: bool,
}

impl Default for TopkOptions {
    fn default() -> Self {
        Self { largest: true }
    }
}

type RawPair = (Raw, Raw);

impl DynTensor {
    /// Returns the position of a dim; a number has a dim 0 of one element.
    fn line(&self, op: Op, dim: &DimArg<'_>) -> Result<usize> {
        let position = dim.single_or(op.name(), &self.names, -1);
        Ok(position.map_err(|e| about(e, &[self]))?.unwrap_or(0))
    }

    /// Returns values and indices with the dim kept.
    fn kept(&self, pair: Result<RawPair>) -> Result<(Self, Self)> {
        let (values, positions) = pair.map_err(|e| about(e, &[self]))?;
        let names = || {
            if values.rank() == self.rank() {
                self.names.clone()
            } else {
                Names::unnamed(values.rank())
            }
        };
        let (a, b) = (names(), names());
        Ok((Self::new(values, a), Self::new(positions, b)))
    }

    /// Returns values and indices with the dim removed.
    fn removed(
        &self,
        op: Op,
        dim: &DimArg<'_>,
        compute: impl FnOnce(&Raw, usize, bool) -> Result<RawPair>,
    ) -> Result<(Self, Self)> {
        let at = self.line(op, dim)?;
        let keepdim = dim.keepdim();
        let found = compute(&self.raw, at, keepdim);
        let (values, positions) = found.map_err(|e| about(e, &[self]))?;
        let names = rule::reduce(&self.names, &[at], keepdim);
        Ok((
            Self::new(values, names.clone()),
            Self::new(positions, names),
        ))
    }

    /// Sorts the elements along a dim and also returns their indices. NaN counts as the greatest;
    /// equal elements keep their order.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![3.0f32, 1.0, 2.0], &[3], ["N"])?;
    /// let (values, at) = x.sort("N")?;
    /// assert_eq!(values.to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// assert_eq!(at.to_vec::<i64>()?, [1, 2, 0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is complex.
    #[forms(
        with = "but in descending order if `options.descending` is set.",
        out(values, indices)
    )]
    pub fn sort_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        options: SortOptions,
    ) -> Result<(Self, Self)> {
        self.sorted(Op::Sort, dim.into(), options)
    }

    fn sorted(&self, op: Op, dim: DimRef<'_>, options: SortOptions) -> Result<(Self, Self)> {
        let dim = self.line(op, &dim.into())?;
        self.kept(call::sort(op, &self.raw, dim, options.descending))
    }

    /// Returns the indices that sort the elements along a dim.
    ///
    /// # Errors
    /// Like [`DynTensor::sort`].
    #[forms(with = "but in descending order if `options.descending` is set.")]
    pub fn argsort_with<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        options: SortOptions,
    ) -> Result<Self> {
        Ok(self.sorted(Op::Argsort, dim.into(), options)?.1)
    }

    /// Sorts the elements along the first dim.
    ///
    /// # Errors
    /// If the dtype is complex.
    #[forms(out)]
    pub fn msort(&self) -> Result<Self> {
        Ok(self
            .sorted(Op::Msort, DimRef::Index(0), SortOptions::default())?
            .0)
    }

    /// Returns the `k` greatest elements along a dim, sorted, and their indices. The dim keeps its
    /// name.
    ///
    /// # Errors
    /// If the dim does not exist or has fewer elements, or the dtype is complex.
    #[forms(
        with = "but returns the smallest elements if `options.largest` is false.",
        out(values, indices)
    )]
    pub fn topk_with<'a>(
        &self,
        k: i64,
        dim: impl Into<DimRef<'a>>,
        options: TopkOptions,
    ) -> Result<(Self, Self)> {
        let dim = self.line(Op::Topk, &dim.into().into())?;
        self.kept(call::topk(Op::Topk, &self.raw, k, dim, options.largest))
    }

    /// Returns the `k`-th smallest element along a dim, counted from 1, and its index.
    ///
    /// # Errors
    /// If the dim does not exist or has fewer elements, or the dtype is complex.
    #[forms(out(values, indices))]
    pub fn kthvalue<'a>(&self, k: i64, dim: impl Into<DimArg<'a>>) -> Result<(Self, Self)> {
        self.removed(Op::Kthvalue, &dim.into(), |x, dim, keepdim| {
            call::kthvalue(x, k, dim, keepdim)
        })
    }

    /// Returns the median along a dim, the lower of two, and its index; with `..`, only the median.
    /// NaN if any element is NaN.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    pub fn median<'a, A: Along<'a>>(&self, dim: A) -> Result<A::Output> {
        dim.extremum(Op::Median, self)
    }

    /// Like [`DynTensor::median`], but ignores NaN.
    ///
    /// # Errors
    /// Like [`DynTensor::median`].
    pub fn nanmedian<'a, A: Along<'a>>(&self, dim: A) -> Result<A::Output> {
        dim.extremum(Op::Nanmedian, self)
    }

    /// Like [`DynTensor::median`] along a dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// Like [`DynTensor::median`]; also if `values` or `indices` cannot hold the results.
    pub fn median_out<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        values: &mut Self,
        indices: &mut Self,
    ) -> Result<()> {
        let found = self.typical(Op::Median, &dim.into())?;
        family::store_pair(Op::Median, found, values, indices)
    }

    /// Like [`DynTensor::nanmedian`] along a dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// Like [`DynTensor::nanmedian`]; also if `values` or `indices` cannot hold the results.
    pub fn nanmedian_out<'a>(
        &self,
        dim: impl Into<DimArg<'a>>,
        values: &mut Self,
        indices: &mut Self,
    ) -> Result<()> {
        let found = self.typical(Op::Nanmedian, &dim.into())?;
        family::store_pair(Op::Nanmedian, found, values, indices)
    }

    /// Returns the most frequent element along a dim, the smallest of several, and its last index.
    ///
    /// # Errors
    /// If the dim does not exist or has no elements, or the dtype is complex.
    #[forms(out(values, indices))]
    pub fn mode<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<(Self, Self)> {
        self.typical(Op::Mode, &dim.into())
    }

    /// Computes `median`, `nanmedian` or `mode` along a dim.
    pub(super) fn typical(&self, op: Op, dim: &DimArg<'_>) -> Result<(Self, Self)> {
        self.removed(op, dim, |x, dim, keepdim| {
            call::typical(op, x, dim, keepdim)
        })
    }

    /// Computes `median` or `nanmedian` of all elements.
    pub(super) fn typical_of_all(&self, op: Op) -> Result<Self> {
        let raw = call::typical_of_all(op, &self.raw).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, Names::default()))
    }

    /// Returns the running maximum along a dim and its index, the last of equal ones.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is complex.
    #[forms(out(values, indices))]
    pub fn cummax<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<(Self, Self)> {
        self.running(Op::Cummax, dim.into())
    }

    /// Returns the running minimum along a dim and its index, the last of equal ones.
    ///
    /// # Errors
    /// If the dim does not exist, or the dtype is complex.
    #[forms(out(values, indices))]
    pub fn cummin<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<(Self, Self)> {
        self.running(Op::Cummin, dim.into())
    }

    pub(super) fn running(&self, op: Op, dim: DimRef<'_>) -> Result<(Self, Self)> {
        let dim = self.line(op, &dim.into())?;
        self.kept(call::running_extreme(op, &self.raw, dim))
    }
}

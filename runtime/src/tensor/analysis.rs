//! Analysis by name: parts of a dim, each reduced to one element, and weighted means.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::{DynTensor, about};
use crate::call::analysis;
use crate::call::{self, Arg, ReduceOptions};
use crate::raw::Raw;

/// The windows or blocks of a dim, each of which a reduction turns into one element: [`DynTensor::rolling`],
/// [`DynTensor::resample`].
#[derive(Clone, Debug)]
pub struct Windows {
    op: Op,
    x: DynTensor,
    dim: usize,
    /// The number of elements of a window, and the distance between the starts of two windows.
    window: [usize; 2],
}

impl Windows {
    fn reduce(&self, op: Op) -> Result<DynTensor> {
        let ([size, step], options) = (self.window, ReduceOptions::default());
        let (x, dim) = (&self.x.raw, self.dim);
        let raw = match self.op {
            Op::Rolling => analysis::sliding(op, x, dim, size, options),
            _ => analysis::windowed(op, x, dim, [size, step], options),
        };
        let raw = raw.map_err(|e| about(e.in_op(self.op.name()), &[&self.x]))?;
        Ok(DynTensor::new(raw, self.x.names.clone()))
    }

    /// Computes the sum of each part; integers and bool are added in i64.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn sum(&self) -> Result<DynTensor> {
        self.reduce(Op::Sum)
    }

    /// Computes the mean of each part; for integers and bool a float of the default dtype.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn mean(&self) -> Result<DynTensor> {
        self.reduce(Op::Mean)
    }

    /// Returns the greatest element of each part.
    ///
    /// # Errors
    /// If the dtype is complex.
    pub fn max(&self) -> Result<DynTensor> {
        self.reduce(Op::Amax)
    }

    /// Returns the smallest element of each part.
    ///
    /// # Errors
    /// If the dtype is complex.
    pub fn min(&self) -> Result<DynTensor> {
        self.reduce(Op::Amin)
    }

    /// Computes the standard deviation of each part, with a correction of 1.
    ///
    /// # Errors
    /// If the dtype is neither a float nor complex.
    pub fn std(&self) -> Result<DynTensor> {
        self.reduce(Op::Std)
    }
}

/// Groups of elements along a dim, each of which a reduction turns into one element of a new dim:
/// [`DynTensor::group_by`].
#[derive(Clone, Debug)]
pub struct GroupBy {
    x: DynTensor,
    dim: usize,
    labels: Raw,
    counts: Raw,
    names: Names,
}

impl GroupBy {
    fn reduce(&self, op: Op, x: &Raw) -> Result<DynTensor> {
        let raw = analysis::grouped(op, x, self.dim, (&self.labels, &self.counts));
        let raw = raw.map_err(|e| about(e.in_op(Op::GroupBy.name()), &[&self.x]))?;
        Ok(DynTensor::new(raw, self.names.clone()))
    }

    /// Computes the sum of each group, 0 without elements; integers and bool are added in i64.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn sum(&self) -> Result<DynTensor> {
        self.reduce(Op::Sum, &self.x.raw)
    }

    /// Computes the mean of each group, NaN without elements; for integers and bool a float of the default dtype.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn mean(&self) -> Result<DynTensor> {
        self.reduce(Op::Mean, &self.x.raw)
    }

    /// Returns the greatest element of each group.
    ///
    /// # Errors
    /// If a group has no elements, or the dtype is complex.
    pub fn max(&self) -> Result<DynTensor> {
        self.reduce(Op::Amax, &self.x.raw)
    }

    /// Returns the smallest element of each group.
    ///
    /// # Errors
    /// If a group has no elements, or the dtype is complex.
    pub fn min(&self) -> Result<DynTensor> {
        self.reduce(Op::Amin, &self.x.raw)
    }

    /// Counts the elements of each group that are not NaN.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn count(&self) -> Result<DynTensor> {
        // Only NaN differs from itself.
        let x = Arg::Tensor(&self.x.raw);
        let there = call::pointwise(Op::Eq, &[x, x]).map_err(|e| about(e, &[&self.x]))?;
        self.reduce(Op::Sum, &there)
    }
}

impl DynTensor {
    /// Returns the windows of `window` elements that slide along a dim in steps of 1. The dim is then shorter by
    /// `window - 1`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 3.0, 5.0, 1.0], &[4], ["Time"])?;
    /// assert_eq!(x.rolling("Time", 2)?.mean()?.to_vec::<f32>()?, [2.0, 4.0, 3.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, or a window has no elements or more than the dim.
    pub fn rolling<'a>(&self, dim: impl Into<DimRef<'a>>, window: usize) -> Result<Windows> {
        self.windows(Op::Rolling, dim.into(), [window, 1])
    }

    /// Returns the blocks of `steps` elements along a dim, whose size is divided by `steps`.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let hours = DynTensor::from_vec((0..48).collect::<Vec<i32>>(), &[48], ["Time"])?;
    /// assert_eq!(hours.resample("Time", 24)?.max()?.to_vec::<i32>()?, [23, 47]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist or is not a multiple of `steps`.
    pub fn resample<'a>(&self, dim: impl Into<DimRef<'a>>, steps: usize) -> Result<Windows> {
        self.windows(Op::Resample, dim.into(), [steps, steps])
    }

    fn windows(&self, op: Op, dim: DimRef<'_>, window: [usize; 2]) -> Result<Windows> {
        let checked = dim.position(op.name(), &self.names).and_then(|at| {
            let (size, all) = (window[0], self.shape()[at]);
            let refuse = |what: String| {
                Error::new(ErrorKind::Shape, op.name(), what)
                    .operand(&self.names, self.shape())
                    .at(0, at)
            };
            if size == 0 || size > all {
                let what = format!("blocks of {size} for a dim of {all}");
                return Err(refuse(what).hint("give a size from 1 to the dim's"));
            }
            if op == Op::Resample && !all.is_multiple_of(size) {
                let whole = all - all % size;
                let what = format!("{} of {all} elements remain", all % size);
                let hint = format!("remove them: `narrow` the dim to {whole}");
                return Err(refuse(what).hint(hint));
            }
            Ok(at)
        });
        let dim = checked.map_err(|error| about(error, &[self]))?;
        Ok(Windows {
            op,
            x: self.clone(),
            dim,
            window,
        })
    }

    /// Groups the elements along a dim by labels, which are integers from 0 to `groups`, excluding `groups`. A
    /// reduction replaces the dim by one of `groups` elements, with or without a name.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 3.0, 5.0], &[3], ["Time"])?;
    /// let season = DynTensor::from_vec(vec![0i64, 1, 0], &[3], ["Time"])?;
    /// let means = x.group_by("Time", &season, 2, "Season")?.mean()?;
    /// assert_eq!(means.names().to_string(), "(Season,)");
    /// assert_eq!(means.to_vec::<f32>()?, [3.0, 3.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, labels have another name or size, or a label is not a group;
    /// [`DuplicateNames`](ErrorKind::DuplicateNames) if `self` has another dim of the new name.
    pub fn group_by<'a, 'b>(
        &self,
        dim: impl Into<DimRef<'a>>,
        labels: &Self,
        groups: usize,
        name: impl Into<Option<&'b str>>,
    ) -> Result<GroupBy> {
        let op = Op::GroupBy.name();
        let made = || {
            let dim = dim.into().position(op, &self.names)?;
            rule::unify(op, &rule::kept(&self.names, &[dim]), &labels.names)?;
            let others = rule::remove(&self.names, &[dim]);
            let (_, names) = rule::unsqueeze(op, &others, dim as i64, name.into())?;
            let (labels, counts) = analysis::labelled(&self.raw, dim, &labels.raw, groups)?;
            Ok(GroupBy {
                x: self.clone(),
                dim,
                labels,
                counts,
                names,
            })
        };
        made().map_err(|e| about(e, &[self, labels]))
    }

    /// Computes the weighted mean over dims: the sum of the products divided by the sum of the weights, each counted as
    /// often as it is used. The dims of the weights are among those of `self` and align by name. NaN where the weights
    /// sum to zero.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 3.0, 5.0, 7.0], &[2, 2], ["Lat", "Lon"])?;
    /// let area = DynTensor::from_vec(vec![3.0f32, 1.0], &[2], ["Lat"])?;
    /// assert_eq!(x.weighted_mean(&area, ["Lat", "Lon"])?.item()?.to_f64(), 3.0);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist, weights have a dim that `self` lacks, or sizes or dtypes differ.
    pub fn weighted_mean<'a>(&self, weights: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        let (op, dim) = (Op::WeightedMean.name(), dim.into());
        let made = || {
            let at = dim.positions(op, &self.names)?;
            let aligned = if weights.names == self.names {
                weights.clone()
            } else {
                weights.align_as(self).map_err(|e| e.in_op(op))?
            };
            let raw = analysis::weighted_mean(&self.raw, &aligned.raw, &at, dim.keepdim())?;
            Ok(Self::new(
                raw,
                rule::reduce(&self.names, &at, dim.keepdim()),
            ))
        };
        made().map_err(|e| about(e, &[self, weights]))
    }
}

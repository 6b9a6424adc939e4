//! Analysis by name: parts of a dim, each reduced to one element, and weighted means.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::{DynTensor, about};
use crate::call::analysis::{self, Parts};
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
    /// The number of elements before its own, if each element has a window.
    left: Option<usize>,
}

impl Windows {
    fn reduce(
        &self,
        compute: impl FnOnce(&Raw, usize, Parts<'_>) -> Result<Raw>,
    ) -> Result<DynTensor> {
        let [size, step] = self.window;
        let parts = match self.left {
            Some(left) => Parts::Around { size, left },
            None => Parts::Windows { size, step },
        };
        let raw = compute(&self.x.raw, self.dim, parts);
        let raw = raw.map_err(|e| about(e.in_op(self.op.name()), &[&self.x]))?;
        Ok(DynTensor::new(raw, self.x.names.clone()))
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
    fn reduce(
        &self,
        compute: impl FnOnce(&Raw, usize, Parts<'_>) -> Result<Raw>,
    ) -> Result<DynTensor> {
        let (labels, counts) = (&self.labels, &self.counts);
        let raw = compute(&self.x.raw, self.dim, Parts::Groups { labels, counts });
        let raw = raw.map_err(|e| about(e.in_op(Op::GroupBy.name()), &[&self.x]))?;
        Ok(DynTensor::new(raw, self.names.clone()))
    }
}

macro_rules! reductions {
    ($parts:ident) => {
        impl $parts {
            /// Computes the sum of each part, 0 without elements; integers and bool are added in i64.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn sum(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Sum, x, dim))
            }

            /// Computes the mean of each part, NaN without elements; for integers and bool a float of the default dtype.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn mean(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Mean, x, dim))
            }

            /// Returns the greatest element of each part.
            ///
            /// # Errors
            /// If a group has no elements, or the dtype is complex.
            pub fn max(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Amax, x, dim))
            }

            /// Returns the smallest element of each part.
            ///
            /// # Errors
            /// If a group has no elements, or the dtype is complex.
            pub fn min(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Amin, x, dim))
            }

            /// Computes the variance of each part, with a correction of 1.
            ///
            /// # Errors
            /// If the dtype is neither a float nor complex.
            pub fn var(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Var, x, dim))
            }

            /// Computes the standard deviation of each part, with a correction of 1.
            ///
            /// # Errors
            /// If the dtype is neither a float nor complex.
            pub fn std(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce(Op::Std, x, dim))
            }

            /// Computes the sum of the elements of each part that are not NaN, 0 if there are none.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn nansum(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Sum, x, dim))
            }

            /// Computes the mean of the elements of each part that are not NaN, NaN if there are none.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn nanmean(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Mean, x, dim))
            }

            /// Returns the greatest element of each part that is not NaN, NaN if there is none.
            ///
            /// # Errors
            /// If a group of integers has no elements, or the dtype is complex.
            pub fn nanmax(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Amax, x, dim))
            }

            /// Returns the smallest element of each part that is not NaN, NaN if there is none.
            ///
            /// # Errors
            /// If a group of integers has no elements, or the dtype is complex.
            pub fn nanmin(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Amin, x, dim))
            }

            /// Computes the variance of the elements of each part that are not NaN, with a correction of 1.
            ///
            /// # Errors
            /// If the dtype is no float.
            pub fn nanvar(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Var, x, dim))
            }

            /// Computes the standard deviation of the elements of each part that are not NaN, with a correction of 1.
            ///
            /// # Errors
            /// If the dtype is no float.
            pub fn nanstd(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.reduce_present(Op::Std, x, dim))
            }

            /// Counts the elements of each part that are not NaN.
            ///
            /// # Errors
            /// If memory runs out.
            pub fn count(&self) -> Result<DynTensor> {
                self.reduce(|x, dim, parts| parts.count(x, dim))
            }
        }
    };
}

reductions!(Windows);
reductions!(GroupBy);

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

    /// Returns a window of `window` elements for each element of a dim of floats, which is in the middle of its window if
    /// `centered`, and else at the end. The dim keeps its size; elements beyond its ends count as NaN.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, 3.0, 5.0, 1.0], &[4], ["Time"])?;
    /// let mean = x.rolling_around("Time", 3, true)?.nanmean()?;
    /// assert_eq!(mean.to_vec::<f32>()?, [2.0, 3.0, 3.0, 3.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, a window has no elements, or the dtype has no NaN.
    pub fn rolling_around<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        window: usize,
        centered: bool,
    ) -> Result<Windows> {
        let op = Op::Rolling;
        let checked = dim.into().position(op.name(), &self.names).and_then(|at| {
            let refuse = |kind, what: String, hint: &str| {
                let error = Error::new(kind, op.name(), what);
                Err(error
                    .operand(&self.names, self.shape())
                    .at(0, at)
                    .hint(hint))
            };
            if window == 0 {
                let hint = "give a size of at least 1";
                return refuse(ErrorKind::Shape, "windows of no elements".into(), hint);
            }
            if !self.dtype().is_float() {
                let what = format!("{} has no NaN", self.dtype());
                return refuse(ErrorKind::DType, what, "convert with `to_dtype` to a float");
            }
            Ok(at)
        });
        Ok(Windows {
            op,
            x: self.clone(),
            dim: checked.map_err(|error| about(error, &[self]))?,
            window: [window, 1],
            left: Some(if centered { window / 2 } else { window - 1 }),
        })
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
            left: None,
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
        self.weighted_mean_by(Op::WeightedMean, weights, dim.into())
    }

    /// Like [`weighted_mean`](Self::weighted_mean), but leaves out the elements that are NaN, and their weights. NaN
    /// where the other weights sum to zero.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1.0f32, f32::NAN, 4.0], &[3], ["Lat"])?;
    /// let area = DynTensor::from_vec(vec![1.0f32, 5.0, 2.0], &[3], ["Lat"])?;
    /// assert_eq!(x.weighted_nanmean(&area, "Lat")?.item()?.to_f64(), 3.0);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`weighted_mean`](Self::weighted_mean).
    pub fn weighted_nanmean<'a>(&self, weights: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        self.weighted_mean_by(Op::WeightedNanmean, weights, dim.into())
    }

    fn weighted_mean_by(&self, by: Op, weights: &Self, dim: DimArg<'_>) -> Result<Self> {
        let op = by.name();
        let made = || {
            let at = dim.positions(op, &self.names)?;
            let aligned = if weights.names == self.names {
                weights.clone()
            } else {
                weights.align_as(self).map_err(|e| e.in_op(op))?
            };
            let raw = analysis::weighted_mean(by, &self.raw, &aligned.raw, &at, dim.keepdim())?;
            Ok(Self::new(
                raw,
                rule::reduce(&self.names, &at, dim.keepdim()),
            ))
        };
        made().map_err(|e| about(e, &[self, weights]))
    }
}

//! Other labels along a dim: `reindex`, `concat`, `sort_by`, `shift`, missing elements.

use std::sync::Arc;

use nomina_core::dims::{DimOf, Dims, HasLabels, Resizable, SizeOf, position};
use nomina_core::rule::{DimArg, DimRef};
use nomina_core::{Element, Float, Names, Result, Scalar};
use nomina_macros::twin;
use nomina_runtime::DynTensor;

use super::any::{AnyLabels, Fill, Located};
use super::coords::{Coords, error, require_equal, texts};
use super::dynamic::gathered;
use super::join::shared;
use super::{DynLabelled, Labelled, Labels};
use crate::erased::Known;
use crate::erased::compose::{call_dynamic, erase};
use crate::tensor::Tensor;

/// Returns values along dim `at` as a tensor that broadcasts with `x`, in its dtype and on its device.
pub(super) fn along(x: &DynTensor, at: usize, values: Vec<f64>) -> Result<DynTensor> {
    let mut shape = vec![1; x.shape().len() - at];
    shape[0] = values.len();
    let rank = shape.len();
    DynTensor::from_vec(values, &shape, Names::unnamed(rank))?
        .to_dtype(x.dtype())?
        .to_device(x.device())
}

impl DynLabelled {
    /// Returns the elements at these positions along a dim, NaN where there is none.
    pub(super) fn at_or_nan(
        &self,
        op: &'static str,
        at: usize,
        from: &[Option<usize>],
    ) -> Result<DynTensor> {
        let x = &self.tensor;
        let missing = from.iter().filter(|i| i.is_none()).count();
        let positions: Vec<usize> = from.iter().map(|i| i.unwrap_or(0)).collect();
        if missing == 0 {
            return gathered(x, at, &positions);
        }
        if !x.dtype().is_float() && !x.dtype().is_complex() {
            let what = format!(
                "{missing} elements along dim `{}` are missing, and {} has no NaN",
                self.dim_name(at),
                x.dtype()
            );
            return Err(self.blame(error(op, what).hint("convert to floats first: `to::<f64>()`")));
        }
        if x.shape()[at] == 0 {
            let mut shape = x.shape().to_vec();
            shape[at] = from.len();
            let options = DynTensor::options().dtype(x.dtype()).device(x.device());
            return options.full(&shape, f64::NAN, x.names().clone());
        }
        let nan: Vec<bool> = from.iter().map(Option::is_none).collect();
        let mut shape = vec![1; x.shape().len() - at];
        shape[0] = nan.len();
        let rank = shape.len();
        let nan = DynTensor::from_vec(nan, &shape, Names::unnamed(rank))?.to_device(x.device())?;
        gathered(x, at, &positions)?.masked_fill(&nan, f64::NAN)
    }

    pub(super) fn reindexed(
        &self,
        op: &'static str,
        at: usize,
        labels: &Arc<dyn AnyLabels>,
        fill: Fill,
    ) -> Result<Self> {
        let own = self.labels_at(op, at)?;
        if Arc::ptr_eq(own, labels) {
            return Ok(self.clone());
        }
        let found = own
            .indexer(&**labels, fill)
            .map_err(|what| self.unfound(op, at, &what))?;
        let tensor = self.at_or_nan(op, at, &found)?;
        Ok(Self::from_parts(
            tensor,
            self.coords.with(self.rank(), at, Some(labels.clone())),
        ))
    }

    /// Returns the elements at other labels; NaN, or as `fill` says, where there are none.
    ///
    /// # Errors
    /// If the dim has no labels or labels of another type, or elements are missing from a tensor of integers.
    pub fn reindex<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        labels: Arc<dyn AnyLabels>,
        fill: Fill,
    ) -> Result<Self> {
        self.reindexed("reindex", self.position("reindex", dim)?, &labels, fill)
    }

    /// Returns the elements at the labels of another tensor, along all dims that both have labels of.
    ///
    /// # Errors
    /// If labels are repeated or of another type, or memory runs out.
    pub fn reindex_like(&self, other: &Self) -> Result<Self> {
        let (own, its) = (texts(self.names()), texts(other.names()));
        let mut x = self.clone();
        for (i, j) in shared((&self.coords, &own), (&other.coords, &its)) {
            if let Some(labels) = other.coords.get(j) {
                x = x.reindexed("reindex_like", i, labels, Fill::Missing)?;
            }
        }
        Ok(x)
    }

    /// Returns the elements in rising order of the labels along a dim, or in falling order.
    ///
    /// # Errors
    /// If the dim has no labels.
    pub fn sort_by<'a>(&self, dim: impl Into<DimRef<'a>>, descending: bool) -> Result<Self> {
        self.sorted(self.position("sort_by", dim)?, descending)
    }

    fn sorted(&self, at: usize, descending: bool) -> Result<Self> {
        let mut order = self.labels_at("sort_by", at)?.rising();
        if descending {
            order.reverse();
        }
        self.located(at, &Located::List(order))
    }

    /// Moves elements along a dim by `by` positions; those at the beginning, or the end, are NaN. Labels stay.
    ///
    /// # Errors
    /// If elements of a tensor of integers are missing.
    pub fn shift<'a>(&self, dim: impl Into<DimRef<'a>>, by: i64) -> Result<Self> {
        self.shifted(self.position("shift", dim)?, by)
    }

    fn shifted(&self, at: usize, by: i64) -> Result<Self> {
        let size = self.shape()[at] as i64;
        let from = |i: i64| usize::try_from(i - by).ok().filter(|_| i - by < size);
        let from: Vec<_> = (0..size).map(from).collect();
        Ok(Self::from_parts(
            self.at_or_nan("shift", at, &from)?,
            self.coords.clone(),
        ))
    }

    /// Returns the differences of consecutive elements, at the label of the later one.
    ///
    /// # Errors
    /// If the dim has no elements.
    pub fn diff<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.differences(self.position("diff", dim)?)
    }

    fn differences(&self, at: usize) -> Result<Self> {
        let size = self.shape()[at];
        let later = self.located(at, &Located::Range(1.min(size)..size))?;
        let before = self.tensor.narrow(at, 0, size.saturating_sub(1))?;
        later.keeping(later.tensor.sub(&before))
    }

    /// Removes the positions along a dim at which any element is NaN.
    ///
    /// # Errors
    /// If there is no such dim.
    pub fn drop_missing<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        self.without_missing(self.position("drop_missing", dim)?)
    }

    fn without_missing(&self, at: usize) -> Result<Self> {
        let mut missing = self.tensor.drop_names().isnan()?;
        let others: Vec<usize> = (0..self.rank()).filter(|i| *i != at).collect();
        if !others.is_empty() {
            missing = missing.any(DimArg::list(others))?;
        }
        let missing = missing.to_vec::<bool>()?;
        let present = (0..missing.len()).filter(|i| !missing[*i]).collect();
        self.located(at, &Located::List(present))
    }

    /// Replaces NaN by a number.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn fill(&self, value: impl Into<Scalar>) -> Result<Self> {
        let value: Scalar = value.into();
        self.keeping(self.tensor.masked_fill(&self.tensor.isnan()?, value))
    }

    /// Joins tensors along a dim that all have; labels along the other dims must be equal.
    ///
    /// # Errors
    /// If sizes or labels differ, or only some tensors have labels along the dim.
    pub fn concat<'a>(parts: &[&Self], dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let Some(first) = parts.first() else {
            return Err(error("concat", "no tensors are given"));
        };
        concatenated(parts, first.position("concat", dim)?)
    }
}

fn concatenated(parts: &[&DynLabelled], at: usize) -> Result<DynLabelled> {
    let first = parts[0];
    let mut labels = Vec::new();
    for i in 0..first.rank() {
        let own = first.coords.get(i);
        if i != at {
            for other in &parts[1..] {
                require_equal("concat", first.dim_name(i), own, other.coords.get(i))
                    .map_err(|e| first.blame(e))?;
            }
            labels.push(own.cloned());
            continue;
        }
        let others: Option<Vec<&dyn AnyLabels>> = parts[1..]
            .iter()
            .map(|other| other.coords.get(i).map(|labels| &**labels))
            .collect();
        labels.push(match (own, others) {
            (Some(own), Some(others)) => {
                let joined = own.append(&others);
                Some(joined.map_err(|what| first.unfound("concat", at, &what))?)
            }
            _ if parts.iter().all(|part| part.coords.get(i).is_none()) => None,
            _ => {
                let what = format!(
                    "only some of the tensors have labels along dim `{}`",
                    first.dim_name(at)
                );
                return Err(first.blame(error("concat", what)));
            }
        });
    }
    let tensors: Vec<&DynTensor> = parts.iter().map(|part| &part.tensor).collect();
    Ok(DynLabelled::from_parts(
        DynTensor::cat(&tensors, at)?,
        Coords::new(labels),
    ))
}

/// Joins tensors along a dim; labels along the other dims must be equal.
///
/// ```
/// use nomina::{Labelled, prelude::*};
/// dims! { Lat: f64 }
/// let x = Labelled::new(tensor!([1., 2.]; Lat)).with(Lat, [60.0, 45.0]);
/// let y = Labelled::new(tensor!([3.]; Lat)).with(Lat, [30.0]);
/// let all = nomina::labelled::concat(&[&x, &y], Lat)?;
/// assert_eq!(all.labels(Lat).values(), [60.0, 45.0, 30.0]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// If sizes or labels differ, or only some tensors have labels along the dim.
pub fn concat<D: Dims, T: Element, X: DimOf<D>>(
    parts: &[&Labelled<D, T>],
    dim: X,
) -> Result<Labelled<D, T>>
where
    SizeOf<X>: Resizable<X>,
{
    let (at, _) = (position::<X, D>(), dim);
    if parts.is_empty() {
        return Err(error("concat", "no tensors are given"));
    }
    let tensors: Vec<_> = parts.iter().map(|part| part.tensor.erased()).collect();
    let found = call_dynamic(&tensors, |x| {
        let each: Vec<_> = (x.iter().zip(parts))
            .map(|(x, part)| DynLabelled::from_parts(x.clone(), part.coords.clone()))
            .collect();
        concatenated(&each.iter().collect::<Vec<_>>(), at)
    })?;
    let (tensor, coords) = found.into_parts();
    Ok(Labelled::from_parts(
        Tensor::from_erased(erase(tensor, D::STATIC)),
        coords,
    ))
}

/// # Other labels, order and missing elements
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Returns the elements at other labels, NaN where there are none.
    ///
    /// ```
    /// use nomina::{Labelled, labelled::Fill, prelude::*};
    /// dims! { Lat: f64 }
    /// let x = Labelled::new(tensor!([1., 2., 3.]; Lat)).with(Lat, [60.0, 45.0, 30.0]);
    /// let y = x.reindex(Lat, [30.0, 40.0, 60.0]);
    /// assert_eq!(y.fill(0.0).to_vec(), [3.0, 0.0, 1.0]);
    /// let y = x.reindex_with(Lat, [30.0, 40.0, 60.0], Fill::Nearest(10.0));
    /// assert_eq!(y.to_vec(), [3.0, 2.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels, or elements are missing from a tensor of integers.
    #[twin]
    pub fn try_reindex<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
        labels: impl IntoIterator<Item = X::Label>,
    ) -> Result<Self> {
        self.try_reindex_with(dim, labels, Fill::Missing)
    }

    /// Like [`reindex`](Self::reindex), but takes missing elements from other labels.
    ///
    /// # Errors
    /// If labels are repeated, `fill` needs labels that rise or fall, or memory runs out.
    #[twin]
    pub fn try_reindex_with<X: DimOf<D> + HasLabels>(
        &self,
        dim: X,
        labels: impl IntoIterator<Item = X::Label>,
        fill: Fill,
    ) -> Result<Self> {
        let (at, _) = (position::<X, D>(), dim);
        let labels: Arc<dyn AnyLabels> = Arc::new(Labels::new(labels));
        self.computed(|x| x.reindexed("reindex", at, &labels, fill))
    }

    /// Returns the elements at the labels of another tensor, along all dims that both have labels of.
    ///
    /// # Errors
    /// If labels are repeated or of another type, or memory runs out.
    #[twin]
    pub fn try_reindex_like<E: Dims, U: Element>(&self, other: &Labelled<E, U>) -> Result<Self> {
        let mut x = self.clone();
        for (i, j) in shared((&self.coords, D::NAMES), (&other.coords, E::NAMES)) {
            if let Some(labels) = other.coords.get(j) {
                x = x.computed(|x| x.reindexed("reindex_like", i, labels, Fill::Missing))?;
            }
        }
        Ok(x)
    }

    /// Returns the elements in rising order of the labels along a dim.
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_sort_by<X: DimOf<D> + HasLabels>(&self, dim: X) -> Result<Self> {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.sorted(at, false))
    }

    /// Returns the elements in falling order of the labels along a dim.
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_sort_by_falling<X: DimOf<D> + HasLabels>(&self, dim: X) -> Result<Self> {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.sorted(at, true))
    }

    /// Moves elements along a dim by `by` positions, forwards or backwards; those left over are NaN. Labels stay.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_shift<X: DimOf<D>>(&self, dim: X, by: i64) -> Result<Self>
    where
        T: Float,
    {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.shifted(at, by))
    }

    /// Returns the differences of consecutive elements, at the label of the later one.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_diff<X: DimOf<D>>(&self, dim: X) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.differences(at))
    }

    /// Removes the positions along a dim at which any element is NaN.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_drop_missing<X: DimOf<D>>(&self, dim: X) -> Result<Self>
    where
        SizeOf<X>: Resizable<X>,
    {
        let (at, _) = (position::<X, D>(), dim);
        self.computed(|x| x.without_missing(at))
    }

    /// Replaces NaN by a number.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_fill(&self, value: impl Into<Scalar>) -> Result<Self>
    where
        T: Float,
    {
        let value = value.into();
        self.computed(|x| x.fill(value))
    }
}

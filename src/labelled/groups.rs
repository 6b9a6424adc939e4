//! Groups of elements along a dim: by labels, by parts of dates, by bins, by calendar.

use std::marker::PhantomData;
use std::sync::Arc;

use nomina_core::dims::{
    DimOf, Dims, HasLabels, IndexOf, Label, LabelValue, Metric, OneDim, Open, Resizable, Selected,
    SizeOf, position,
};
use nomina_core::rule::DimRef;
use nomina_core::{Element, Float, Inexact, Names, Real, Result};
use nomina_macros::twin;
use nomina_runtime::{DynTensor, tensor};

use super::any::AnyLabels;
use super::calendar::{AsStep, DatePart};
use super::coords::{Coords, error};
use super::found::Found;
use super::labels::Labels;
use super::time::Timestamp;
use super::{DynLabelled, Labelled, typed_labels};
use crate::erased::compose::call_dynamic;
use crate::types::GroupBy;

/// The group of each position along a dim; `None` for elements in no group.
type Ids = Vec<Option<usize>>;

/// Groups of a [`DynLabelled`], each of which a reduction turns into one element.
#[derive(Clone, Debug)]
pub struct DynGroups {
    of: tensor::GroupBy,
    coords: Coords,
    ids: Ids,
    at: usize,
    names: Names,
    from: Coords,
}

/// Groups of a [`Labelled`], each of which a reduction turns into one element. `D` are the dims of the result, `O` those of
/// the grouped tensor.
#[derive(Clone)]
pub struct Groups<D: Dims, O: Dims, T: Element> {
    of: GroupBy<D, T>,
    coords: Coords,
    ids: Ids,
    at: usize,
    from: Coords,
    types: PhantomData<fn() -> O>,
}

/// Groups a tensor by ids; elements without a group are left out.
fn grouped(
    x: &DynTensor,
    at: usize,
    ids: &Ids,
    groups: usize,
    name: Option<&str>,
) -> Result<tensor::GroupBy> {
    let positions: Vec<usize> = (0..ids.len()).filter(|i| ids[*i].is_some()).collect();
    let kept: Vec<i64> = ids.iter().flatten().map(|id| *id as i64).collect();
    let ids =
        DynTensor::from_vec(kept, &[positions.len()], Names::unnamed(1))?.to_device(x.device())?;
    if positions.len() == x.shape()[at] {
        return x.group_by(at, &ids, groups, name);
    }
    super::dynamic::gathered(x, at, &positions)?.group_by(at, &ids, groups, name)
}

/// Collects keys into groups in rising order.
fn by_keys<K: Label>(keys: impl IntoIterator<Item = K>) -> (Ids, Arc<dyn AnyLabels>) {
    let (ids, groups) = AnyLabels::groups(&Labels::new(keys));
    (
        ids.into_iter().map(|id| Some(id as usize)).collect(),
        groups,
    )
}

/// Returns the bin of each label: bins exclude their left edge and include their right one, like pandas.
fn by_bins<X: Metric>(labels: &Labels<X>, edges: &[X]) -> Found<Ids> {
    let edges = Labels::new(edges.iter().cloned());
    if edges.len() < 2 || !edges.is_rising() {
        return Err("needs edges of bins that rise, at least two".into());
    }
    let edges = edges.values();
    let bin = |label: &X| {
        let at = edges.partition_point(|edge| edge.compare(label).is_lt());
        at.checked_sub(1).filter(|bin| bin + 1 < edges.len())
    };
    Ok(labels.values().iter().map(bin).collect())
}

/// The reductions of [`Groups`] and [`DynGroups`].
macro_rules! reductions {
    ($($name:ident $tried:ident $dtype:ty, [$($bound:tt)*], $doc:literal;)*) => {
        impl<D: Dims, O: Dims, T: Element> Groups<D, O, T> {$(
            #[doc = $doc]
            ///
            /// # Panics
            /// If memory runs out, or a group without elements has no result.
            #[track_caller]
            #[must_use]
            pub fn $name(&self) -> Labelled<D, $dtype> where $($bound)* {
                crate::erased::ok(self.$tried())
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "), but returns the error.")]
            ///
            /// # Errors
            /// If memory runs out, or a group without elements has no result.
            pub fn $tried(&self) -> Result<Labelled<D, $dtype>> where $($bound)* {
                Ok(Labelled::from_parts(self.of.$tried()?, self.coords.clone()))
            }
        )*}
        impl DynGroups {$(
            #[doc = $doc]
            ///
            /// # Errors
            /// If memory runs out, or a group without elements has no result.
            pub fn $name(&self) -> Result<DynLabelled> {
                Ok(DynLabelled::from_parts(self.of.$name()?, self.coords.clone()))
            }
        )*}
    };
}
reductions! {
    sum try_sum T::Sum, [], "Computes the sum of each group, 0 without elements.";
    mean try_mean T::Float, [], "Computes the mean of each group, NaN without elements.";
    max try_max T, [T: Real], "Returns the greatest element of each group.";
    min try_min T, [T: Real], "Returns the smallest element of each group.";
    var try_var T::Real, [T: Inexact], "Computes the variance of each group, with a correction of 1 (xarray: `ddof=1`).";
    std try_std T::Real, [T: Inexact], "Computes the standard deviation of each group, with a correction of 1 (xarray: `ddof=1`).";
    nansum try_nansum T::Sum, [], "Computes the sum of the elements of each group that are not NaN, 0 if there are none.";
    nanmean try_nanmean T::Float, [], "Computes the mean of the elements of each group that are not NaN, NaN if there are none.";
    nanmax try_nanmax T, [T: Real], "Returns the greatest element of each group that is not NaN, NaN if there is none.";
    nanmin try_nanmin T, [T: Real], "Returns the smallest element of each group that is not NaN, NaN if there is none.";
    nanvar try_nanvar T, [T: Float], "Computes the variance of the elements of each group that are not NaN, with a correction of 1.";
    nanstd try_nanstd T, [T: Float], "Computes the standard deviation of the elements of each group that are not NaN, with a correction of 1.";
    count try_count i64, [], "Counts the elements of each group that are not NaN.";
}

impl<D: Dims, O: Dims, T: Element> Groups<D, O, T> {
    /// Returns the group's element at each position of the grouped tensor, with its labels: `&x - groups.back(&means)` are
    /// anomalies. NaN for positions in no group.
    ///
    /// # Errors
    /// If the tensor has another number of groups.
    #[twin]
    pub fn try_back<U: Element>(&self, groups: &Labelled<D, U>) -> Result<Labelled<O, U>> {
        let found: Labelled<O, U> = groups.computed(|x| {
            Ok(DynLabelled::from_parts(
                x.at_or_nan("back", self.at, &self.ids)?,
                self.from.clone(),
            ))
        })?;
        Ok(found)
    }
}

impl DynGroups {
    /// Returns the group's element at each position of the grouped tensor, with its names and labels.
    ///
    /// # Errors
    /// If the tensor has another number of groups.
    pub fn back(&self, groups: &DynLabelled) -> Result<DynLabelled> {
        let x = groups.at_or_nan("back", self.at, &self.ids)?;
        let x = super::dynamic::renamed(x, self.names.clone())?;
        Ok(DynLabelled::from_parts(x, self.from.clone()))
    }
}

/// # Groups
impl<D: Dims, T: Element> Labelled<D, T> {
    fn groups<E: Dims>(
        &self,
        at: usize,
        ids: Ids,
        labels: Arc<dyn AnyLabels>,
        name: Option<&'static str>,
    ) -> Result<Groups<E, D, T>> {
        let count = labels.len();
        let name = if D::HAS_WILD { name } else { None };
        let of = call_dynamic(&[self.tensor.erased()], |x| {
            grouped(&x[0], at, &ids, count, name)
        })?;
        Ok(Groups {
            of: GroupBy {
                of,
                types: PhantomData,
            },
            coords: self.coords.with(D::RANK, at, Some(labels)),
            ids,
            at,
            from: self.coords.clone(),
            types: PhantomData,
        })
    }

    /// Groups the elements along a dim by a key of their label. A reduction replaces the dim by `group`, whose labels are the
    /// keys in rising order.
    ///
    /// ```
    /// use nomina::{Labelled, Timestamp, jiff::ToSpan, prelude::*};
    /// dims! { Time: Timestamp, Month: i64 }
    /// let x = Labelled::new(Tensor::<(Time,)>::arange(0.0, 24.0, 1.0))
    ///     .with(Time, Timestamp::series("2020-01-01", 1.month(), 24)?);
    /// let months = x.group_by(Time, Month, |t| t.month());
    /// let climate: Labelled<(Month,)> = months.mean();
    /// assert_eq!(climate.sel(Month, 3).tensor().item(), 8.0);
    /// let anomaly = &x - months.back(&climate);
    /// assert_eq!(anomaly.to_vec()[..2], [-6.0, -6.0]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels.
    #[twin]
    pub fn try_group_by<X: DimOf<D> + HasLabels, G: OneDim + HasLabels>(
        &self,
        dim: X,
        group: G,
        key: impl Fn(&X::Label) -> G::Label,
    ) -> Result<Groups<Selected<D, X, (G,)>, D, T>>
    where
        (G,): Dims + IndexOf<D, X>,
        SizeOf<G>: Open<G>,
    {
        let (at, _) = (position::<X, D>(), (dim, group));
        let labels = typed_labels::<X>("group_by", self.coords.get(at))?;
        let (ids, keys) = by_keys(labels.values().iter().map(key));
        self.groups(at, ids, keys, G::NAME)
    }

    /// Groups the elements along a dim by bins of their label. Bins exclude their left edge and include their right one; their
    /// labels are their middles. Elements outside of all bins are left out.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Lat: f64, Zone: f64 }
    /// let x = Labelled::new(tensor!([1., 2., 3., 4.]; Lat)).with(Lat, [60.0, 45.0, 20.0, 0.0]);
    /// let zones: Labelled<(Zone,)> = x.group_by_bins(Lat, Zone, &[0.0, 30.0, 60.0]).mean();
    /// assert_eq!(zones.labels(Zone).values(), [15.0, 45.0]);
    /// assert_eq!(zones.to_vec(), [3.0, 1.5]);
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels, or the edges do not rise.
    #[twin]
    pub fn try_group_by_bins<X: DimOf<D> + HasLabels, G: OneDim + HasLabels<Label = f64>>(
        &self,
        dim: X,
        group: G,
        edges: &[X::Label],
    ) -> Result<Groups<Selected<D, X, (G,)>, D, T>>
    where
        X::Label: Metric + Into<f64>,
        (G,): Dims + IndexOf<D, X>,
        SizeOf<G>: Open<G>,
    {
        let (at, _) = (position::<X, D>(), (dim, group));
        let labels = typed_labels::<X>("group_by_bins", self.coords.get(at))?;
        let ids = by_bins(labels, edges).map_err(|what| self.unfound("group_by_bins", at, what))?;
        let edges: Vec<f64> = edges.iter().cloned().map(Into::into).collect();
        let middles = edges.windows(2).map(|ends| (ends[0] + ends[1]) / 2.0);
        self.groups(at, ids, Labels::shared(middles), G::NAME)
    }

    /// Groups the elements along a dim of times by steps of the calendar: a [`Span`](jiff::Span) such as `1.month()`, or text
    /// such as `"7 days"`, `"MS"`, `"QS"`, `"YS"`, `"6h"`. Labels are the beginnings of the steps; a step without elements
    /// has mean NaN.
    ///
    /// ```
    /// use nomina::{Labelled, Timestamp, jiff::ToSpan, prelude::*};
    /// dims! { Time: Timestamp }
    /// let x = Labelled::new(Tensor::<(Time,)>::arange(0.0, 60.0, 1.0))
    ///     .with(Time, Timestamp::series("2020-01-01", 1.day(), 60)?);
    /// let months = x.resample(Time, 1.month()).mean();
    /// assert_eq!(months.to_vec(), [15.0, 45.0]);
    /// assert_eq!(months.labels(Time).values()[1].to_string(), "2020-02-01");
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim has lost its labels, or the step is not a positive span.
    #[twin]
    pub fn try_resample<X: DimOf<D> + HasLabels<Label = Timestamp>>(
        &self,
        dim: X,
        step: impl AsStep,
    ) -> Result<Groups<D, D, T>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let (at, _) = (position::<X, D>(), dim);
        let labels = typed_labels::<X>("resample", self.coords.get(at))?;
        let bins = step.step().and_then(|step| step.bins(labels.values()));
        let (ids, starts) = bins.map_err(|what| self.unfound("resample", at, what))?;
        self.groups(at, ids, Labels::shared(starts), X::NAME)
    }
}

impl DynLabelled {
    fn groups(
        &self,
        at: usize,
        ids: Ids,
        labels: Arc<dyn AnyLabels>,
        name: Option<&str>,
    ) -> Result<DynGroups> {
        Ok(DynGroups {
            of: grouped(&self.tensor, at, &ids, labels.len(), name).map_err(|e| self.blame(e))?,
            coords: self.coords.with(self.rank(), at, Some(labels)),
            ids,
            at,
            names: self.names().clone(),
            from: self.coords.clone(),
        })
    }

    /// Groups the elements along a dim by a key of their label, along a new dim `name`.
    ///
    /// # Errors
    /// If the dim has no labels, or the keys are not of one type.
    pub fn group_by<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        name: &str,
        key: impl Fn(&LabelValue) -> LabelValue,
    ) -> Result<DynGroups> {
        let at = self.position("group_by", dim)?;
        let labels = self.labels_at("group_by", at)?;
        let keys = (0..labels.len()).map(|i| key(&labels.value(i)));
        let (ids, groups) =
            value_groups(keys.collect()).map_err(|what| self.unfound("group_by", at, &what))?;
        self.groups(at, ids, groups, Some(name))
    }

    /// Groups the elements along a dim of times by a part of their date, along a new dim `name`.
    ///
    /// # Errors
    /// If the dim has no labels, or they are not times.
    pub fn group_by_date<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        part: DatePart,
        name: &str,
    ) -> Result<DynGroups> {
        let at = self.position("group_by_date", dim)?;
        let times = self.times_at("group_by_date", at)?;
        let keys = times
            .values()
            .iter()
            .map(|time| part.value(*time))
            .collect();
        let (ids, groups) =
            value_groups(keys).map_err(|what| self.unfound("group_by_date", at, &what))?;
        self.groups(at, ids, groups, Some(name))
    }

    /// Groups the elements along a dim by bins of their label, along a new dim `name`; see [`Labelled::group_by_bins`].
    ///
    /// # Errors
    /// If the dim has no labels, they are not `f64`, or the edges do not rise.
    pub fn group_by_bins<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        edges: &[f64],
        name: &str,
    ) -> Result<DynGroups> {
        let at = self.position("group_by_bins", dim)?;
        let labels = self.labels_at("group_by_bins", at)?;
        let found = match labels.as_any().downcast_ref::<Labels<f64>>() {
            Some(labels) => by_bins(labels, edges),
            None => Err(format!(
                "has labels of type {}, and bins need f64",
                labels.label_type().name()
            )),
        };
        let ids = found.map_err(|what| self.unfound("group_by_bins", at, &what))?;
        let middles = edges.windows(2).map(|ends| (ends[0] + ends[1]) / 2.0);
        self.groups(at, ids, Labels::shared(middles), Some(name))
    }

    /// Groups the elements along a dim of times by steps of the calendar; see [`Labelled::resample`].
    ///
    /// # Errors
    /// If the dim has no labels, they are not times, or the step is not a positive span.
    pub fn resample<'a>(&self, dim: impl Into<DimRef<'a>>, step: impl AsStep) -> Result<DynGroups> {
        let at = self.position("resample", dim)?;
        let times = self.times_at("resample", at)?;
        let bins = step.step().and_then(|step| step.bins(times.values()));
        let (ids, starts) = bins.map_err(|what| self.unfound("resample", at, &what))?;
        let name = self.names()[at].as_ref().map(|name| name.as_str());
        self.groups(at, ids, Labels::shared(starts), name)
    }

    fn times_at(&self, op: &'static str, at: usize) -> Result<&Labels<Timestamp>> {
        let labels = self.labels_at(op, at)?;
        labels.as_any().downcast_ref().ok_or_else(|| {
            let what = format!(
                "has labels of type {}, not Timestamp",
                labels.label_type().name()
            );
            self.blame(error(op, format!("dim `{}` {what}", self.dim_name(at))))
        })
    }
}

/// Collects keys of one type into groups.
fn value_groups(keys: Vec<LabelValue>) -> Found<(Ids, Arc<dyn AnyLabels>)> {
    fn of_type<K: Label>(keys: &[LabelValue]) -> Found<(Ids, Arc<dyn AnyLabels>)> {
        let keys: Option<Vec<K>> = keys.iter().map(K::from_value).collect();
        keys.map(by_keys)
            .ok_or_else(|| "has keys of different types".into())
    }
    match keys.first() {
        None | Some(LabelValue::Float(_)) => of_type::<f64>(&keys),
        Some(LabelValue::Int(_)) => of_type::<i64>(&keys),
        Some(LabelValue::Text(_)) => of_type::<String>(&keys),
        Some(LabelValue::Nanoseconds(_)) => of_type::<Timestamp>(&keys),
    }
}

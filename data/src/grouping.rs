//! Groups of elements along a dim of a dataset: by labels, parts of dates, bins, steps of the calendar.

use nomina::dims::LabelValue;
use nomina::jiff::SignedDuration;
use nomina::labelled::{AsStep, CalendarTime, DatePart};
use nomina::{Error, ErrorKind, Result};

use crate::calendar::CfTime;
use crate::column::Column;
use crate::dataset::DynDataset;
use crate::select::refused;

/// Groups of the elements along a dim of a dataset, each of which a reduction turns into one element. Nothing is read but
/// the labels of the dim.
///
/// ```
/// use nomina::labelled::DatePart;
/// use nomina_data::DynDataset;
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
/// let sea = DynDataset::open_lazy(path)?;
/// let months = sea.group_by_date("time", DatePart::Month, "month")?;
/// let climate = months.nanmean()?;                                  // xarray: sea.groupby("time.month").mean()
/// assert_eq!(climate.variable("surface_temperature")?.dims(), ["month", "latitude", "longitude"]);
/// let quarters = sea.resample("time", "QS")?.nanmax()?;             // sea.resample(time="QS").max()
/// assert_eq!(quarters.labels("time")?.show(0), "2006-04-01");
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DatasetGroups {
    pub(crate) dataset: DynDataset,
    /// The grouped dim, and the dim that takes its place.
    pub(crate) dim: String,
    pub(crate) name: String,
    /// The group of each position; `None` for elements in no group.
    pub(crate) ids: Vec<Option<usize>>,
    /// The labels of the groups.
    pub(crate) labels: Column,
}

impl DatasetGroups {
    /// Returns the group of each position along the dim; `None` for elements in no group.
    #[must_use]
    pub fn ids(&self) -> &[Option<usize>] {
        &self.ids
    }

    /// Returns the labels of the groups.
    #[must_use]
    pub const fn labels(&self) -> &Column {
        &self.labels
    }
}

/// Collects labels into groups in rising order.
fn by_labels(keys: &Column) -> (Vec<Option<usize>>, Column) {
    let (ids, labels) = keys.to_labels().groups();
    let ids = ids.into_iter().map(|id| Some(id as usize)).collect();
    (ids, Column::from_labels(&*labels))
}

/// Returns the part of a date of any calendar.
fn part(of: &CfTime, part: DatePart) -> Option<LabelValue> {
    Some(LabelValue::Int(match part {
        DatePart::Year => of.year(),
        DatePart::Month => of.month(),
        DatePart::Day => of.day(),
        DatePart::Hour => of.hour(),
        DatePart::DayOfYear => of.day_of_year(),
        DatePart::Quarter => of.quarter(),
        DatePart::Season => {
            let season = ["DJF", "MAM", "JJA", "SON"][(of.month() % 12 / 3) as usize];
            return Some(LabelValue::Text(season.to_owned()));
        }
        // A week is one of real clocks.
        _ => return None,
    }))
}

impl CalendarTime for CfTime {
    /// Counts the year before 1 as 0, which some calendars leave out.
    fn month_number(self) -> i64 {
        let shift = i64::from(!self.calendar().has_year_zero() && self.year() < 0);
        (self.year() + shift) * 12 + self.month() - 1
    }

    fn since_1970(self) -> i128 {
        (self - start_of_1970(self)).as_nanos()
    }

    fn month_start(self, number: i64) -> Result<Self, String> {
        let zero = start_of_1970(self);
        let start = zero.add_months(number - zero.month_number());
        start.map_err(|error| error.to_string())
    }

    fn with_since_1970(self, nanoseconds: i128) -> Result<Self, String> {
        let start = SignedDuration::try_from_nanos_i128(nanoseconds)
            .map(|since| start_of_1970(self).checked_add(since));
        match start {
            Some(Ok(start)) => Ok(start),
            Some(Err(error)) => Err(error.to_string()),
            None => Err("has a step outside of the years of its calendar".to_owned()),
        }
    }
}

/// Returns the beginning of 1970 in the calendar of a time.
fn start_of_1970(time: CfTime) -> CfTime {
    // Every calendar has that day.
    CfTime::date(time.calendar(), 1970, 1, 1).unwrap_or(time)
}

impl DynDataset {
    fn grouped(
        &self,
        op: &'static str,
        dim: &str,
        name: &str,
        (ids, labels): (Vec<Option<usize>>, Column),
    ) -> Result<DatasetGroups> {
        if name != dim && self.sizes().iter().any(|(own, _)| *own == name) {
            let what = format!("cannot become `{name}`, which is another dim of the dataset");
            return Err(refused(op, dim, what).hint("give the groups another name"));
        }
        Ok(DatasetGroups {
            dataset: self.clone(),
            dim: dim.to_owned(),
            name: name.to_owned(),
            ids,
            labels,
        })
    }

    /// Groups the elements along a dim by a coordinate: equal labels, or equal values of another variable along the dim.
    /// The groups are along a dim of the coordinate's name, in rising order.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if there is no such coordinate; [`ErrorKind::Rank`] if it has not one dim; and
    /// the errors of the file.
    pub fn group_by(&self, coordinate: &str) -> Result<DatasetGroups> {
        let op = "group_by";
        let variable = self.variable(coordinate).map_err(|error| error.in_op(op))?;
        let [dim] = variable.dims() else {
            let dims = variable.dims().join(", ");
            let what = format!("variable `{coordinate}` has dims ({dims}), not one");
            return Err(Error::new(ErrorKind::Rank, op, what));
        };
        let keys = variable.column()?;
        self.grouped(op, dim, coordinate, by_labels(&keys))
    }

    /// Groups the elements along a dim of times by a part of their date, along a new dim `name`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if the dim does not exist or has no labels; [`ErrorKind::Argument`] if they
    /// are not times; and the errors of the file.
    pub fn group_by_date(&self, dim: &str, date: DatePart, name: &str) -> Result<DatasetGroups> {
        let op = "group_by_date";
        let column = self.labels(dim).map_err(|error| error.in_op(op))?;
        let keys: Option<Vec<LabelValue>> = match &*column {
            Column::Time(times) => Some(times.iter().map(|at| date.value(*at)).collect()),
            Column::CfTime(times) => times.iter().map(|at| part(at, date)).collect(),
            other => return Err(not_times(op, dim, other)),
        };
        let keys = keys.ok_or_else(|| refused(op, dim, "has times of a calendar without weeks"))?;
        let words: Option<Vec<String>> = keys
            .iter()
            .map(|key| match key {
                LabelValue::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect();
        let keys = match words {
            Some(words) if !words.is_empty() => Column::Text(words),
            _ => {
                let number = |key: &LabelValue| match key {
                    LabelValue::Int(value) => *value,
                    _ => 0,
                };
                Column::I64(keys.iter().map(number).collect())
            }
        };
        self.grouped(op, dim, name, by_labels(&keys))
    }

    /// Groups the elements along a dim of numbers by bins, along a new dim `name`. Bins exclude their left edge and include
    /// their right one, like pandas; their labels are their middles. Elements outside of all bins are left out.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if the dim does not exist or has no labels; [`ErrorKind::Argument`] if they
    /// are not numbers, or the edges do not rise; and the errors of the file.
    pub fn group_by_bins(&self, dim: &str, edges: &[f64], name: &str) -> Result<DatasetGroups> {
        let op = "group_by_bins";
        let column = self.labels(dim).map_err(|error| error.in_op(op))?;
        let values: Vec<f64> = match &*column {
            Column::F64(values) => values.clone(),
            Column::I64(values) => values.iter().map(|value| *value as f64).collect(),
            other => {
                let what = format!(
                    "has labels of type {}, and bins need numbers",
                    other.type_name()
                );
                return Err(refused(op, dim, what));
            }
        };
        if edges.len() < 2 || !edges.windows(2).all(|pair| pair[0] < pair[1]) {
            let what = "needs edges of bins that rise, at least two";
            return Err(refused(op, dim, what));
        }
        let bin = |value: &f64| {
            let at = edges.partition_point(|edge| edge < value);
            at.checked_sub(1).filter(|bin| bin + 1 < edges.len())
        };
        let ids = values.iter().map(bin).collect();
        let middles = edges.windows(2).map(|ends| (ends[0] + ends[1]) / 2.0);
        self.grouped(op, dim, name, (ids, Column::F64(middles.collect())))
    }

    /// Groups the elements along a dim of times by steps of the calendar: a span such as `1.month()`, or text such as
    /// `"7 days"`, `"MS"`, `"QS"`, `"YS"`, `"6h"`. The dim keeps its name; its labels are the beginnings of the steps, also
    /// of those without elements.
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if the dim does not exist or has no labels; [`ErrorKind::Argument`] if they
    /// are not times, or the step is no positive span; and the errors of the file.
    pub fn resample(&self, dim: &str, step: impl AsStep) -> Result<DatasetGroups> {
        let op = "resample";
        let column = self.labels(dim).map_err(|error| error.in_op(op))?;
        let step = step.step().map_err(|what| refused(op, dim, what))?;
        let groups = match &*column {
            Column::Time(times) => {
                let bins = step.bins(times).map_err(|what| refused(op, dim, what))?;
                (bins.0, Column::Time(bins.1))
            }
            Column::CfTime(times) => {
                let calendar = times.first().map(CfTime::calendar);
                if times.iter().any(|at| Some(at.calendar()) != calendar) {
                    return Err(refused(op, dim, "has times of several calendars"));
                }
                let bins = step.bins(times).map_err(|what| refused(op, dim, what))?;
                (bins.0, Column::CfTime(bins.1))
            }
            other => return Err(not_times(op, dim, other)),
        };
        self.grouped(op, dim, dim, groups)
    }
}

#[cold]
fn not_times(op: &'static str, dim: &str, column: &Column) -> Error {
    let what = format!("has labels of type {}, not times", column.type_name());
    refused(op, dim, what)
}

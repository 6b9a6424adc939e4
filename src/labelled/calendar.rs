//! Steps of the calendar and parts of dates.

use jiff::civil::Date;
use jiff::{Span, Unit};
use nomina_core::dims::LabelValue;

use super::found::Found;
use super::time::Timestamp;

/// A part of a date to group by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the month, 1 to 31.
    Day,
    /// The hour, 0 to 23.
    Hour,
    /// The day of the year, 1 to 366.
    DayOfYear,
    /// The day of the week, Monday as 0.
    Weekday,
    /// The quarter, 1 to 4.
    Quarter,
    /// `DJF`, `MAM`, `JJA` or `SON`.
    Season,
}

impl DatePart {
    /// Returns the part of a date, by which elements are grouped.
    #[must_use]
    pub fn value(self, at: Timestamp) -> LabelValue {
        LabelValue::Int(match self {
            Self::Year => at.year(),
            Self::Month => at.month(),
            Self::Day => at.day(),
            Self::Hour => at.hour(),
            Self::DayOfYear => at.day_of_year(),
            Self::Weekday => at.weekday(),
            Self::Quarter => at.quarter(),
            Self::Season => return LabelValue::Text(at.season()),
        })
    }
}

/// A step of the calendar, either whole months or a fixed duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Months, and the multiple of months at which the first step begins: 12 for January, 3 for a quarter.
    Months {
        /// The length in months.
        count: i64,
        /// The first step begins at a multiple of this many months.
        anchor: i64,
    },
    /// Nanoseconds; the first step begins at midnight of the first day.
    Nanoseconds(i64),
}

/// A value that is a step of the calendar: a [`Span`], or text such as `"7 days"`, `"MS"`, `"QS"`, `"YS"`, `"6h"`.
pub trait AsStep {
    /// Returns the step.
    ///
    /// # Errors
    /// If it is not positive, or mixes months and shorter units.
    fn step(&self) -> Found<Step>;
}

impl AsStep for Span {
    fn step(&self) -> Found<Step> {
        let months = i64::from(self.get_years()) * 12 + i64::from(self.get_months());
        let day = Date::constant(2020, 1, 1);
        let rest = self.years(0).months(0);
        let rest = rest
            .total((Unit::Nanosecond, day))
            .map_err(|e| e.to_string())?;
        match (months, rest) {
            (1.., 0.0) => Ok(Step::Months {
                count: months,
                anchor: if months % 12 == 0 { 12 } else { 1 },
            }),
            (0, rest) if rest >= 1.0 => Ok(Step::Nanoseconds(rest as i64)),
            _ => Err(format!(
                "cannot be divided into steps of {self}: use whole months, or days and shorter units"
            )),
        }
    }
}

impl AsStep for &str {
    fn step(&self) -> Found<Step> {
        let digits = self
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.len());
        let (count, unit) = self.split_at(digits);
        let count = if count.is_empty() {
            1
        } else {
            count.parse::<i64>().unwrap_or(0)
        };
        let months = |months: i64, anchor| {
            Ok(Step::Months {
                count: count * months,
                anchor,
            })
        };
        let found = match unit {
            "MS" => months(1, 1),
            "QS" => months(3, 3),
            "YS" => months(12, 12),
            "D" => Ok(Step::Nanoseconds(count * 86_400_000_000_000)),
            "h" => Ok(Step::Nanoseconds(count * 3_600_000_000_000)),
            "min" => Ok(Step::Nanoseconds(count * 60_000_000_000)),
            "s" => Ok(Step::Nanoseconds(count * 1_000_000_000)),
            _ => match self.parse::<Span>() {
                Ok(span) => return span.step(),
                Err(_) => Err(format!(
                    "cannot be divided into steps of {self:?}: write \"7 days\", \"MS\" or \"6h\""
                )),
            },
        };
        if count < 1 {
            Err(format!("cannot be divided into steps of {self:?}"))
        } else {
            found
        }
    }
}

/// A time that steps of the calendar divide.
pub trait CalendarTime: Copy {
    /// Returns the number of its month since January of year 0.
    fn month_number(self) -> i64;

    /// Returns the nanoseconds since 1970.
    fn since_1970(self) -> i128;

    /// Returns the beginning of a month in the calendar of this time.
    ///
    /// # Errors
    /// If it is outside of the range of the type.
    fn month_start(self, number: i64) -> Found<Self>;

    /// Returns a time in the calendar of this one.
    ///
    /// # Errors
    /// If it is outside of the range of the type.
    fn with_since_1970(self, nanoseconds: i128) -> Found<Self>;
}

impl CalendarTime for Timestamp {
    fn month_number(self) -> i64 {
        self.year() * 12 + self.month() - 1
    }

    fn since_1970(self) -> i128 {
        self.nanoseconds().into()
    }

    fn month_start(self, number: i64) -> Found<Self> {
        let year = i16::try_from(number.div_euclid(12)).unwrap_or(i16::MAX);
        Self::date(year, number.rem_euclid(12) as i8 + 1, 1).map_err(|error| error.to_string())
    }

    fn with_since_1970(self, nanoseconds: i128) -> Found<Self> {
        let nanoseconds = i64::try_from(nanoseconds);
        nanoseconds
            .map(Self::from_nanoseconds)
            .map_err(|_| "has a step outside of the years 1678 to 2262".to_owned())
    }
}

impl Step {
    /// Returns the number of each time's step, and where the steps begin: all from the first to the last time. Times are
    /// of one calendar.
    ///
    /// # Errors
    /// If a step begins outside of the range of the type, or there is no memory for all steps.
    pub fn bins<X: CalendarTime>(&self, times: &[X]) -> Found<(Vec<Option<usize>>, Vec<X>)> {
        const DAY: i128 = 86_400_000_000_000;
        let Some(&first) = times.iter().min_by_key(|at| at.since_1970()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let origin = match *self {
            Self::Months { anchor, .. } => {
                i128::from(first.month_number().div_euclid(anchor) * anchor)
            }
            Self::Nanoseconds(length) => {
                let midnight = first.since_1970().div_euclid(DAY) * DAY;
                let length = i128::from(length);
                midnight + (first.since_1970() - midnight).div_euclid(length) * length
            }
        };
        let bin = |at: X| match *self {
            Self::Months { count, .. } => {
                (i128::from(at.month_number()) - origin).div_euclid(count.into())
            }
            Self::Nanoseconds(length) => (at.since_1970() - origin).div_euclid(length.into()),
        };
        let start = |bin: i128| match *self {
            Self::Months { count, .. } => {
                first.month_start((origin + bin * i128::from(count)) as i64)
            }
            Self::Nanoseconds(length) => first.with_since_1970(origin + bin * i128::from(length)),
        };
        let ids: Vec<Option<usize>> = times.iter().map(|at| Some(bin(*at) as usize)).collect();
        let count = ids.iter().flatten().max().map_or(0, |last| last + 1);
        let mut starts = Vec::new();
        starts
            .try_reserve_exact(count)
            .map_err(|_| format!("has {count} steps, for which there is no memory"))?;
        for bin in 0..count {
            starts.push(start(bin as i128)?);
        }
        Ok((ids, starts))
    }
}

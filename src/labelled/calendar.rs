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

impl Step {
    /// Returns the number of each time's step, and where the steps begin: all from the first to the last time.
    ///
    /// # Errors
    /// If a step begins outside of the range of [`Timestamp`], or there is no memory for all steps.
    pub fn bins(&self, times: &[Timestamp]) -> Found<(Vec<Option<usize>>, Vec<Timestamp>)> {
        let (Some(first), Some(last)) = (times.iter().min(), times.iter().max()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let month_of = |at: Timestamp| at.year() * 12 + at.month() - 1;
        let day = 86_400_000_000_000;
        let origin = match *self {
            Step::Months { anchor, .. } => month_of(*first).div_euclid(anchor) * anchor,
            Step::Nanoseconds(length) => {
                let midnight = first.nanoseconds().div_euclid(day) * day;
                midnight + (first.nanoseconds() - midnight).div_euclid(length) * length
            }
        };
        let bin = |at: Timestamp| match *self {
            Step::Months { count, .. } => (month_of(at) - origin).div_euclid(count),
            Step::Nanoseconds(length) => (at.nanoseconds() - origin).div_euclid(length),
        };
        let start = |bin: i64| match *self {
            Step::Months { count, .. } => {
                let month = origin + bin * count;
                Timestamp::date(
                    month.div_euclid(12) as i16,
                    month.rem_euclid(12) as i8 + 1,
                    1,
                )
                .map_err(|e| e.to_string())
            }
            Step::Nanoseconds(length) => Ok(Timestamp::from_nanoseconds(origin + bin * length)),
        };
        let ids = times.iter().map(|at| Some(bin(*at) as usize)).collect();
        let mut starts = Vec::new();
        let count = bin(*last) + 1;
        starts
            .try_reserve_exact(count as usize)
            .map_err(|_| format!("has {count} steps, for which there is no memory"))?;
        for bin in 0..count {
            starts.push(start(bin)?);
        }
        Ok((ids, starts))
    }
}

//! Instants as labels, by the crate `jiff`.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{SignedDuration, Span};
use nomina_core::dims::{Label, LabelType, LabelValue, Metric};
use nomina_core::{Error, ErrorKind, Result};

use super::found::Found;

/// An instant: nanoseconds since 1970, UTC, from 1678 to 2262, like NumPy's `datetime64[ns]`.
///
/// Dates of the crate `jiff` convert to it, and [`civil`](Self::civil) converts back. Climate models with other calendars
/// use `CfTime` of the crate `nomina-data`.
///
/// ```
/// use nomina::Timestamp;
/// let t: Timestamp = "2020-02-28T18:00".parse()?;
/// assert_eq!((t.year(), t.month(), t.day(), t.hour(), t.day_of_year()), (2020, 2, 28, 18, 59));
/// assert_eq!((t + std::time::Duration::from_secs(86_400)).to_string(), "2020-02-29T18:00:00");
/// assert_eq!(Timestamp::date(2020, 1, 1)?.to_string(), "2020-01-01");
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

const NANOSECONDS_PER_DAY: i64 = 86_400_000_000_000;

fn malformed(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, "Timestamp", what)
}

impl Timestamp {
    /// The earliest instant.
    pub const MIN: Self = Self(i64::MIN + 1);
    /// The latest instant.
    pub const MAX: Self = Self(i64::MAX);

    /// Creates an instant from nanoseconds since 1970.
    #[must_use]
    pub const fn from_nanoseconds(nanoseconds: i64) -> Self {
        Self(nanoseconds)
    }

    /// Returns the nanoseconds since 1970.
    #[must_use]
    pub const fn nanoseconds(self) -> i64 {
        self.0
    }

    /// Returns midnight of a date.
    ///
    /// # Errors
    /// If there is no such date, or not between 1678 and 2262.
    pub fn date(year: i16, month: i8, day: i8) -> Result<Self> {
        let date = Date::new(year, month, day);
        Self::from_civil(
            date.map_err(|e| malformed(e.to_string()))?
                .to_datetime(jiff::civil::Time::midnight()),
        )
    }

    /// Converts a date and time of day in UTC.
    ///
    /// # Errors
    /// If it is not between 1678 and 2262.
    pub fn from_civil(time: DateTime) -> Result<Self> {
        let instant = Offset::UTC.to_timestamp(time);
        let nanoseconds = instant
            .map(|at| at.as_nanosecond())
            .map_err(|e| malformed(e.to_string()))?;
        i64::try_from(nanoseconds)
            .map(Self)
            .map_err(|_| malformed(format!("{time} is not between 1678 and 2262")))
    }

    /// Returns the date and time of day in UTC.
    #[must_use]
    pub fn civil(self) -> DateTime {
        let instant = jiff::Timestamp::from_nanosecond(self.0.into()).unwrap_or_default();
        Offset::UTC.to_datetime(instant)
    }

    /// Returns the year.
    #[must_use]
    pub fn year(self) -> i64 {
        self.civil().year().into()
    }

    /// Returns the month, 1 to 12.
    #[must_use]
    pub fn month(self) -> i64 {
        self.civil().month().into()
    }

    /// Returns the day of the month, 1 to 31.
    #[must_use]
    pub fn day(self) -> i64 {
        self.civil().day().into()
    }

    /// Returns the hour, 0 to 23.
    #[must_use]
    pub fn hour(self) -> i64 {
        self.civil().hour().into()
    }

    /// Returns the minute, 0 to 59.
    #[must_use]
    pub fn minute(self) -> i64 {
        self.civil().minute().into()
    }

    /// Returns the second, 0 to 59.
    #[must_use]
    pub fn second(self) -> i64 {
        self.civil().second().into()
    }

    /// Returns the day of the year, 1 to 366.
    #[must_use]
    pub fn day_of_year(self) -> i64 {
        self.civil().day_of_year().into()
    }

    /// Returns the day of the week, Monday as 0, like pandas.
    #[must_use]
    pub fn weekday(self) -> i64 {
        self.civil().weekday().to_monday_zero_offset().into()
    }

    /// Returns the quarter, 1 to 4.
    #[must_use]
    pub fn quarter(self) -> i64 {
        (self.month() - 1) / 3 + 1
    }

    /// Returns the season: `DJF`, `MAM`, `JJA` or `SON`.
    #[must_use]
    pub fn season(self) -> String {
        ["DJF", "MAM", "JJA", "SON"][(self.month() as usize % 12) / 3].to_owned()
    }

    /// Returns `count` instants from `start` on, in steps of a calendar span such as `1.month()` or `6.hours()`
    /// ([`jiff::ToSpan`]).
    ///
    /// ```
    /// use nomina::{Timestamp, jiff::ToSpan};
    /// let months = Timestamp::series("2020-01-31", 1.month(), 3)?;
    /// assert_eq!(months[1].to_string(), "2020-02-29");
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If an instant is not between 1678 and 2262, or `start` is not a date.
    pub fn series(start: impl AsDate, step: Span, count: usize) -> Result<Vec<Self>> {
        let start = start.span().map_err(malformed)?.0.civil();
        let at = |i: usize| -> Result<Self> {
            let span = step
                .checked_mul(i as i64)
                .map_err(|e| malformed(e.to_string()))?;
            Self::from_civil(
                start
                    .checked_add(span)
                    .map_err(|e| malformed(e.to_string()))?,
            )
        };
        (0..count).map(at).collect()
    }

    /// Adds a calendar span.
    ///
    /// # Errors
    /// If the result is not between 1678 and 2262.
    pub fn checked_add(self, span: Span) -> Result<Self> {
        let sum = self.civil().checked_add(span);
        Self::from_civil(sum.map_err(|e| malformed(e.to_string()))?)
    }
}

/// A value that describes a span of time: an instant, a day, or text such as `"2020"`, `"2020-01"`, `"2020-01-31T12"`.
pub trait AsDate {
    /// Returns the first and the last instant.
    ///
    /// # Errors
    /// If the text is not a date.
    fn span(&self) -> Found<(Timestamp, Timestamp)>;
}

impl AsDate for Timestamp {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        Ok((*self, *self))
    }
}
impl AsDate for jiff::Timestamp {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        Offset::UTC.to_datetime(*self).span()
    }
}
impl AsDate for DateTime {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        let at = Timestamp::from_civil(*self).map_err(|e| e.to_string())?;
        Ok((at, at))
    }
}
impl AsDate for Date {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        let from = self.at(0, 0, 0, 0).span()?.0;
        Ok((
            from,
            Timestamp(from.0.saturating_add(NANOSECONDS_PER_DAY - 1)),
        ))
    }
}
impl AsDate for String {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        self.as_str().span()
    }
}
impl AsDate for &str {
    fn span(&self) -> Found<(Timestamp, Timestamp)> {
        let wrong = || format!("cannot take {self:?} as a date, such as \"2020-01-31\"");
        let digits = |text: &str| text.parse::<i64>().map_err(|_| wrong());
        let text = self.trim();
        let (date, time) = match text.split_once(['T', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        if let Some(time) = time {
            // A unit that is not given spans all its values.
            let (time, step) = match time.len() {
                2 => (format!("{time}:00:00"), 3_600_000_000_000),
                5 => (format!("{time}:00"), 60_000_000_000),
                8 => (time.to_owned(), 1_000_000_000),
                _ => (time.to_owned(), 1),
            };
            let whole = format!("{date}T{time}");
            // A civil time ignores the offset from UTC, so an instant is tried first.
            let from = match whole.parse::<jiff::Timestamp>() {
                Ok(instant) => instant.span()?.0,
                Err(_) => whole.parse::<DateTime>().map_err(|_| wrong())?.span()?.0,
            };
            return Ok((from, Timestamp(from.0.saturating_add(step - 1))));
        }
        let parts: Vec<&str> = date.split('-').collect();
        let (from, to) = match parts[..] {
            [year] if year.len() == 4 => ((digits(year)?, 1), (digits(year)? + 1, 1)),
            [year, month] if year.len() == 4 => {
                let (year, month) = (digits(year)?, digits(month)?);
                let next = if month == 12 {
                    (year + 1, 1)
                } else {
                    (year, month + 1)
                };
                ((year, month), next)
            }
            [_, _, _] => return date.parse::<Date>().map_err(|_| wrong())?.span(),
            _ => return Err(wrong()),
        };
        let start = |(year, month): (i64, i64)| -> Found<Timestamp> {
            let year = i16::try_from(year).map_err(|_| wrong())?;
            let month = i8::try_from(month).map_err(|_| wrong())?;
            Timestamp::date(year, month, 1).map_err(|_| wrong())
        };
        Ok((start(from)?, Timestamp(start(to)?.0 - 1)))
    }
}

impl FromStr for Timestamp {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        text.span().map(|span| span.0).map_err(malformed)
    }
}

impl From<Timestamp> for LabelValue {
    fn from(at: Timestamp) -> Self {
        Self::Nanoseconds(at.0)
    }
}

/// Adds a fixed duration; the ends of the range saturate.
impl<V: TryInto<SignedDuration>> Add<V> for Timestamp {
    type Output = Self;
    fn add(self, duration: V) -> Self {
        let duration = duration.try_into().unwrap_or(SignedDuration::MAX);
        let sum = i128::from(self.0) + duration.as_nanos();
        Self(sum.clamp(Self::MIN.0.into(), Self::MAX.0.into()) as i64)
    }
}

/// Returns the duration between two instants.
impl Sub for Timestamp {
    type Output = SignedDuration;
    fn sub(self, other: Self) -> SignedDuration {
        let difference = i128::from(self.0) - i128::from(other.0);
        SignedDuration::from_nanos_i128(difference)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = self.civil();
        if self.0.rem_euclid(NANOSECONDS_PER_DAY) == 0 {
            write!(f, "{}", civil.date())
        } else {
            write!(f, "{civil}")
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[diagnostic::do_not_recommend]
impl Label for Timestamp {
    const TYPE: LabelType = LabelType::Timestamp;
    const DERIVATIVE_UNIT: f64 = 1e-9;
    fn compare(&self, other: &Self) -> Ordering {
        self.cmp(other)
    }
    fn to_text(&self) -> String {
        self.to_string()
    }
    fn to_value(&self) -> LabelValue {
        (*self).into()
    }
    fn from_value(value: &LabelValue) -> Option<Self> {
        match value {
            LabelValue::Nanoseconds(at) => Some(Self(*at)),
            LabelValue::Text(text) => text.parse().ok(),
            _ => None,
        }
    }
    fn difference(&self, origin: &Self) -> Option<f64> {
        Some((i128::from(self.0) - i128::from(origin.0)) as f64)
    }
    fn span(text: &str) -> Option<Found<(Self, Self)>> {
        Some(AsDate::span(&text))
    }
}
#[diagnostic::do_not_recommend]
impl Metric for Timestamp {}

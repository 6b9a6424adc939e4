//! Units of time coordinates: `days since 1859-12-01`.

use std::fmt;

use nomina::{Error, ErrorKind, Result, Timestamp};

use super::text::{parse_parts, split_offset};
use super::{Calendar, CfTime};

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// 10⁻⁹ seconds.
    Nanoseconds,
    /// 10⁻⁶ seconds.
    Microseconds,
    /// 10⁻³ seconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// 60 seconds.
    Minutes,
    /// 60 minutes.
    Hours,
    /// 24 hours.
    Days,
    /// 7 days.
    Weeks,
    /// Calendar months; in files of the calendar `360_day` only.
    Months,
    /// Calendar years; `common_years` in files of the calendars `noleap`, `all_leap` and `360_day` only.
    Years,
}

impl TimeUnit {
    /// Returns the name in files, such as `days`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
            Self::Weeks => "weeks",
            Self::Months => "months",
            Self::Years => "common_years",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        Some(match &name.to_ascii_lowercase()[..] {
            "nanoseconds" | "nanosecond" | "nanosec" | "nanosecs" | "ns" => Self::Nanoseconds,
            "microseconds" | "microsecond" | "microsec" | "microsecs" | "us" => Self::Microseconds,
            "milliseconds" | "millisecond" | "millisec" | "millisecs" | "msec" | "msecs" | "ms" => {
                Self::Milliseconds
            }
            "seconds" | "second" | "sec" | "secs" | "s" => Self::Seconds,
            "minutes" | "minute" | "min" | "mins" => Self::Minutes,
            "hours" | "hour" | "hr" | "hrs" | "h" => Self::Hours,
            "days" | "day" | "d" => Self::Days,
            "weeks" | "week" => Self::Weeks,
            "months" | "month" => Self::Months,
            "common_years" | "common_year" => Self::Years,
            _ => return None,
        })
    }

    /// Returns the nanoseconds; `None` if they depend on the calendar and it does not fix them.
    fn nanos(self, calendar: Calendar) -> Option<i128> {
        const DAY: i128 = 86_400_000_000_000;
        Some(match (self, calendar) {
            (Self::Nanoseconds, _) => 1,
            (Self::Microseconds, _) => 1_000,
            (Self::Milliseconds, _) => 1_000_000,
            (Self::Seconds, _) => 1_000_000_000,
            (Self::Minutes, _) => 60_000_000_000,
            (Self::Hours, _) => 3_600_000_000_000,
            (Self::Days, _) => DAY,
            (Self::Weeks, _) => 7 * DAY,
            (Self::Months, Calendar::Day360) => 30 * DAY,
            (Self::Years, Calendar::Day360) => 360 * DAY,
            (Self::Years, Calendar::NoLeap) => 365 * DAY,
            (Self::Years, Calendar::AllLeap) => 366 * DAY,
            _ => return None,
        })
    }
}

/// The units of a time coordinate: a unit, a reference time, and its calendar.
///
/// ```
/// use nomina_data::{Calendar, TimeUnits};
/// let units = TimeUnits::parse("days since 1859-12-01", Calendar::Day360)?;
/// let time = units.decode(45.5)?;
/// assert_eq!(time.to_string(), "1860-01-16 12:00:00");
/// assert_eq!(units.encode(time)?, 45.5);
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUnits {
    unit: TimeUnit,
    since: CfTime,
    nanos: i128,
}

impl TimeUnits {
    /// Creates units.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the unit has no fixed length in the calendar.
    pub fn new(unit: TimeUnit, since: CfTime) -> Result<Self> {
        let calendar = since.calendar();
        let Some(nanos) = unit.nanos(calendar) else {
            let what = format!(
                "`{}` have no fixed length in the calendar `{calendar}`",
                unit.name()
            );
            return Err(Error::new(ErrorKind::Argument, OP, what).hint("use days"));
        };
        Ok(Self { unit, since, nanos })
    }

    /// Parses the attribute `units` of a time coordinate.
    ///
    /// The reference may have a time zone, `Z`, `UTC` or an offset, and numbers of any width: `1970-1-1 0:0:0 +1:00`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parse`] if the text is not of the form `UNIT since TIME`, and the errors of
    /// [`new`](Self::new).
    pub fn parse(text: &str, calendar: Calendar) -> Result<Self> {
        let wrong = || {
            let what = format!("`{text}` are no units of time");
            Error::new(ErrorKind::Parse, OP, what).hint("write them as `days since 1970-01-01`")
        };
        let (unit, since) = Self::split(text).ok_or_else(wrong)?;
        let unit = TimeUnit::parse(unit).ok_or_else(wrong)?;
        let (since, offset) = split_offset(since);
        let (parts, _) = parse_parts(since).ok_or_else(wrong)?;
        let since = CfTime::new(calendar, parts)?;
        let offset = nomina::jiff::SignedDuration::from_mins(offset.ok_or_else(wrong)?);
        Self::new(unit, since.checked_add(-offset)?)
    }

    /// Splits a text at ` since `.
    fn split(text: &str) -> Option<(&str, &str)> {
        let at = text.to_ascii_lowercase().find(" since ")?;
        Some((text[..at].trim(), text[at + 7..].trim()))
    }

    /// Returns whether a text has the form of units of time: `UNIT since TIME`.
    #[must_use]
    pub fn is_time(text: &str) -> bool {
        Self::split(text).is_some_and(|(unit, _)| TimeUnit::parse(unit).is_some())
    }

    /// Returns the unit.
    #[must_use]
    pub const fn unit(&self) -> TimeUnit {
        self.unit
    }

    /// Returns the reference time.
    #[must_use]
    pub const fn since(&self) -> CfTime {
        self.since
    }

    /// Returns the calendar.
    #[must_use]
    pub const fn calendar(&self) -> Calendar {
        self.since.calendar()
    }

    /// Returns the nanoseconds of a number of units, rounded; `None` out of range.
    fn nanoseconds(&self, value: f64) -> Option<i128> {
        let (whole, part) = (value.trunc(), value.fract());
        // The fraction is scaled by itself: days have more nanoseconds than an `f64` has digits.
        let limit = 2_f64.powi(63);
        let fits = whole.abs() < limit;
        fits.then(|| {
            whole as i128 * self.nanos + (part * self.nanos as f64).round_ties_even() as i128
        })
    }

    /// Converts a number of a file to a time, rounded to the microsecond.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if it is NaN or out of range.
    pub fn decode(&self, value: f64) -> Result<CfTime> {
        self.decode_nanos(self.nanoseconds(value))
            .ok_or_else(|| self.outside(value))
    }

    /// Converts an integer of a file to a time, exactly to the microsecond.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if it is out of range.
    pub fn decode_integer(&self, value: i64) -> Result<CfTime> {
        let nanos = i128::from(value) * self.nanos;
        self.decode_nanos(Some(nanos))
            .ok_or_else(|| self.outside(value))
    }

    fn decode_nanos(&self, nanos: Option<i128>) -> Option<CfTime> {
        let micros = (nanos? + 500).div_euclid(1_000);
        let micros = self
            .since
            .micros()
            .checked_add(i64::try_from(micros).ok()?)?;
        Some(CfTime::from_micros(self.calendar(), micros))
    }

    /// Converts a number of a file to an instant, rounded to the nanosecond.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the calendar is not one of real clocks, or the number is NaN or out of range.
    pub fn decode_timestamp(&self, value: f64) -> Result<Timestamp> {
        self.timestamp(self.nanoseconds(value), value)
    }

    /// Converts an integer of a file to an instant, exactly.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the calendar is not one of real clocks, or the number is out of range.
    pub fn decode_timestamp_integer(&self, value: i64) -> Result<Timestamp> {
        self.timestamp(Some(i128::from(value) * self.nanos), value)
    }

    fn timestamp(&self, nanos: Option<i128>, value: impl fmt::Display) -> Result<Timestamp> {
        // A reference before the range of timestamps may have times within it.
        let real = matches!(
            self.calendar(),
            Calendar::Standard | Calendar::ProlepticGregorian
        );
        if !real {
            let what = format!("times of calendar `{}` are no timestamps", self.calendar());
            let error = Error::new(ErrorKind::Argument, OP, what);
            return Err(error.hint("their labels are of type `CfTime`"));
        }
        let nanos = nanos.map(|by| i128::from(self.since.micros()) * 1_000 + by);
        let at = nanos.and_then(|nanos| i64::try_from(nanos).ok());
        at.map(Timestamp::from_nanoseconds)
            .ok_or_else(|| self.outside(value))
    }

    /// Converts a time to a number of units.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the calendars differ.
    pub fn encode(&self, time: CfTime) -> Result<f64> {
        if time.calendar() != self.calendar() {
            let what = format!("{time:?} is not of the calendar `{}`", self.calendar());
            return Err(Error::new(ErrorKind::Argument, OP, what));
        }
        let nanos = (i128::from(time.micros()) - i128::from(self.since.micros())) * 1_000;
        // Whole and fractional units apart: the sum is rounded once.
        let (whole, part) = (nanos.div_euclid(self.nanos), nanos.rem_euclid(self.nanos));
        Ok(whole as f64 + part as f64 / self.nanos as f64)
    }

    #[cold]
    fn outside(&self, value: impl fmt::Display) -> Error {
        let what = format!("{value} {self} is out of range");
        Error::new(ErrorKind::Argument, OP, what)
    }
}

const OP: &str = "time units";

impl fmt::Display for TimeUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} since {}", self.unit.name(), self.since)
    }
}

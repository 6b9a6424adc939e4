//! Times in a calendar.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

use nomina::jiff::SignedDuration;
use nomina::{Error, ErrorKind, Result, Timestamp};

use super::{Calendar, Date};

pub(super) const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A time in a calendar of the CF conventions, to the microsecond. Times of one calendar are ordered and have
/// differences.
///
/// ```
/// use nomina_data::{Calendar, CfTime};
/// let day = CfTime::date(Calendar::Day360, 2007, 2, 30)?;
/// assert_eq!(day.to_string(), "2007-02-30 00:00:00");
/// assert_eq!((day + nomina::jiff::SignedDuration::from_hours(24)).month(), 3);
/// assert_eq!(day.add_months(13)?.to_string(), "2008-03-30 00:00:00");
/// assert!(CfTime::date(Calendar::NoLeap, 2000, 2, 29).is_err());
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct CfTime {
    calendar: Calendar,
    /// Microseconds since 1970-01-01 of the calendar.
    micros: i64,
}

/// Defines the accessors of a time's parts.
macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident = |$time:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> i64 {
            let $time = self;
            $value
        }
    )*};
}

impl CfTime {
    parts! {
        /// Returns the year. The calendars without a year 0 give -1 for the year before 1.
        year = |t| t.calendar.calendar_year(t.ymd().0);
        /// Returns the month, from 1.
        month = |t| t.ymd().1;
        /// Returns the day of the month, from 1.
        day = |t| t.ymd().2;
        /// Returns the hour, from 0.
        hour = |t| t.in_day() / 3_600_000_000;
        /// Returns the minute, from 0.
        minute = |t| t.in_day() / 60_000_000 % 60;
        /// Returns the second, from 0.
        second = |t| t.in_day() / 1_000_000 % 60;
        /// Returns the microsecond, from 0.
        microsecond = |t| t.in_day() % 1_000_000;
        /// Returns the quarter of the year, from 1.
        quarter = |t| (t.month() + 2) / 3;
        /// Returns the day of the year, from 1.
        day_of_year = |t| t.day_number() - t.calendar.day_number((t.ymd().0, 1, 1)) + 1;
        /// Returns the number of days of the month.
        days_in_month = |t| t.calendar.days_in_month(t.year(), t.month());
    }

    /// Creates midnight of a date.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the calendar lacks the date.
    pub fn date(calendar: Calendar, year: i64, month: i64, day: i64) -> Result<Self> {
        Self::new(calendar, [year, month, day, 0, 0, 0, 0])
    }

    /// Creates a time from year, month, day, hour, minute, second and microsecond.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the calendar lacks the time.
    pub fn new(calendar: Calendar, parts: [i64; 7]) -> Result<Self> {
        let [year, month, day, hour, minute, second, micro] = parts;
        let missing = || {
            let what = format!(
                "the calendar `{calendar}` has no {year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
            );
            Error::new(ErrorKind::Argument, "CfTime", what)
        };
        // A larger year overflows the microseconds.
        let in_range = year.abs() < 290_000 && (year != 0 || calendar.has_year_zero());
        let date = (calendar.astronomical(year), month, day);
        if !in_range
            || !calendar.has_date(date)
            || !(0..24).contains(&hour)
            || !(0..60).contains(&minute)
            || !(0..60).contains(&second)
            || !(0..1_000_000).contains(&micro)
        {
            return Err(missing());
        }
        let in_day = ((hour * 60 + minute) * 60 + second) * 1_000_000 + micro;
        let micros = calendar.day_number(date) * MICROS_PER_DAY + in_day;
        Ok(Self { calendar, micros })
    }

    pub(super) const fn from_micros(calendar: Calendar, micros: i64) -> Self {
        Self { calendar, micros }
    }

    pub(super) const fn micros(&self) -> i64 {
        self.micros
    }

    /// Returns the calendar.
    #[must_use]
    pub const fn calendar(&self) -> Calendar {
        self.calendar
    }

    fn day_number(&self) -> i64 {
        self.micros.div_euclid(MICROS_PER_DAY)
    }

    fn in_day(&self) -> i64 {
        self.micros.rem_euclid(MICROS_PER_DAY)
    }

    fn ymd(&self) -> Date {
        self.calendar.date(self.day_number())
    }

    /// Adds calendar months; a day that the month lacks becomes its last one.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the result is out of range.
    pub fn add_months(&self, months: i64) -> Result<Self> {
        let (year, month, day) = self.ymd();
        let total = (year * 12 + month - 1).checked_add(months);
        let out = || {
            let what = format!("{self} and {months} months are out of range");
            Error::new(ErrorKind::Argument, "add_months", what)
        };
        let total = total.ok_or_else(out)?;
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        let mut day = day.min(self.calendar.last_day(year, month));
        if !self.calendar.has_date((year, month, day)) {
            // Within the days that the reform left out.
            day = 15;
        }
        if year.abs() >= 290_000 {
            return Err(out());
        }
        let date = self.calendar.day_number((year, month, day));
        Ok(Self::from_micros(
            self.calendar,
            date * MICROS_PER_DAY + self.in_day(),
        ))
    }

    /// Adds a duration.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Argument`] if the result is out of range.
    pub fn checked_add(&self, duration: SignedDuration) -> Result<Self> {
        let micros = i64::try_from(duration.as_micros()).ok();
        let micros = micros.and_then(|by| self.micros.checked_add(by));
        let out = || {
            Error::new(
                ErrorKind::Argument,
                "add",
                format!("{self} and {duration} are out of range"),
            )
        };
        Ok(Self::from_micros(self.calendar, micros.ok_or_else(out)?))
    }

    /// Returns the first and the last microsecond of a partial date: a year, `2007-02`, `2007-02-30`, up to seconds.
    ///
    /// ```
    /// use nomina_data::{Calendar, CfTime};
    /// let (first, last) = CfTime::span(Calendar::Day360, "2007-02")?;
    /// assert_eq!(first.to_string(), "2007-02-01 00:00:00");
    /// assert_eq!(last.to_string(), "2007-02-30 23:59:59.999999");
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parse`] if the text is no date, and [`ErrorKind::Argument`] if the calendar lacks it.
    pub fn span(calendar: Calendar, text: &str) -> Result<(Self, Self)> {
        let wrong = || {
            Error::new(
                ErrorKind::Parse,
                "CfTime",
                format!("`{text}` is not a date"),
            )
            .hint("write it as 2007, 2007-02, 2007-02-30 or 2007-02-30T12:00")
        };
        let (parts, known) = super::text::parse_parts(text).ok_or_else(wrong)?;
        let first = Self::new(calendar, parts)?;
        let next = match known {
            1 => first.add_months(12)?,
            2 => first.add_months(1)?,
            known => {
                let seconds = [86_400, 3_600, 60, 1, 0][known.min(7) - 3];
                first.checked_add(SignedDuration::from_secs(seconds))?
            }
        };
        let last = next.micros - i64::from(next.micros > first.micros);
        Ok((first, Self::from_micros(calendar, last)))
    }

    /// Parses a time, such as `2007-02-30 12:00:00`; missing parts are the first of their kind.
    ///
    /// # Errors
    /// Returns the errors of [`span`](Self::span).
    pub fn parse(calendar: Calendar, text: &str) -> Result<Self> {
        Ok(Self::span(calendar, text)?.0)
    }

    /// Converts to an instant, in UTC. `None` if the calendar is not one of real clocks: it is `standard`, `julian` or
    /// `proleptic_gregorian`, and the instant is within the range of timestamps, from 1678 to 2262.
    #[must_use]
    pub fn to_timestamp(&self) -> Option<Timestamp> {
        use Calendar::{Julian, ProlepticGregorian, Standard};
        let real = matches!(self.calendar, Standard | Julian | ProlepticGregorian);
        let nanoseconds = self.micros.checked_mul(1_000).filter(|_| real);
        nanoseconds.map(Timestamp::from_nanoseconds)
    }

    /// Converts from an instant. `None` if the calendar is not one of real clocks.
    #[must_use]
    pub fn from_timestamp(calendar: Calendar, at: Timestamp) -> Option<Self> {
        let time = Self::from_micros(calendar, at.nanoseconds().div_euclid(1_000));
        time.to_timestamp().map(|_| time)
    }
}

impl PartialOrd for CfTime {
    /// Compares times of one calendar; `None` for different calendars.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.calendar == other.calendar).then(|| self.micros.cmp(&other.micros))
    }
}

impl Add<SignedDuration> for CfTime {
    type Output = Self;

    /// Adds a duration.
    ///
    /// # Panics
    /// If the result is out of range.
    #[track_caller]
    fn add(self, duration: SignedDuration) -> Self {
        self.checked_add(duration)
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Sub<SignedDuration> for CfTime {
    type Output = Self;

    /// Subtracts a duration.
    ///
    /// # Panics
    /// If the result is out of range.
    #[track_caller]
    fn sub(self, duration: SignedDuration) -> Self {
        self + -duration
    }
}

impl Sub for CfTime {
    type Output = SignedDuration;

    /// Returns the duration between two times.
    ///
    /// # Panics
    /// If the calendars differ.
    #[track_caller]
    fn sub(self, other: Self) -> SignedDuration {
        assert_eq!(
            self.calendar, other.calendar,
            "times of different calendars have no difference"
        );
        SignedDuration::from_micros(self.micros) - SignedDuration::from_micros(other.micros)
    }
}

impl fmt::Display for CfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.year() < 0 { "-" } else { "" };
        let (year, month, day) = (self.year().abs(), self.month(), self.day());
        write!(f, "{sign}{year:04}-{month:02}-{day:02}")?;
        write!(
            f,
            " {:02}:{:02}:{:02}",
            self.hour(),
            self.minute(),
            self.second()
        )?;
        match self.microsecond() {
            0 => Ok(()),
            micro => write!(f, ".{micro:06}"),
        }
    }
}

impl fmt::Debug for CfTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.calendar)
    }
}

//! The calendars of the CF conventions, and times in them.
//!
//! Climate models often run in calendars that no clock follows: years of 360 days, or without leap days. [`CfTime`] is
//! a time in any calendar of the [CF conventions](https://cfconventions.org); [`TimeUnits`] converts between times and
//! the numbers of a file, whose `units` are such as `days since 1859-12-01`. Times of real clocks are
//! [`Timestamp`](nomina::Timestamp)s.

mod cf_time;
mod text;
mod units;

use std::fmt;
use std::str::FromStr;

use nomina::{Error, ErrorKind, Result};

pub use cf_time::CfTime;
pub use units::{TimeUnit, TimeUnits};

/// A calendar of the CF conventions.
///
/// ```
/// use nomina_data::Calendar;
/// let calendar: Calendar = "360_day".parse()?;
/// assert_eq!(calendar.days_in_month(2007, 2), 30);
/// assert_eq!(Calendar::NoLeap.days_in_year(2000), 365);
/// assert_eq!(Calendar::Standard.days_in_month(1582, 10), 21);     // ten days were left out
/// # Ok::<(), nomina::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Calendar {
    /// `standard` or `gregorian`: Julian until 4 October 1582, then Gregorian from 15 October 1582. Without a year 0.
    #[default]
    Standard,
    /// `proleptic_gregorian`: Gregorian at all times, as ISO 8601. With a year 0.
    ProlepticGregorian,
    /// `julian`: every fourth year is a leap year. Without a year 0.
    Julian,
    /// `noleap` or `365_day`: no year is a leap year.
    NoLeap,
    /// `all_leap` or `366_day`: every year is a leap year.
    AllLeap,
    /// `360_day`: every month has 30 days.
    Day360,
}

/// The days before each month of a year without a leap day.
const BEFORE_MONTH: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/// The Julian day number of 1 January 1970, Gregorian.
const UNIX_EPOCH: i64 = 2_440_588;

/// The Julian day number of 15 October 1582, Gregorian: the first day that is not Julian in [`Calendar::Standard`].
const REFORM: i64 = 2_299_161;

/// A date: an astronomical year, which may be 0, a month and a day from 1.
pub(crate) type Date = (i64, i64, i64);

impl Calendar {
    /// Every calendar.
    pub const ALL: [Self; 6] = [
        Self::Standard,
        Self::ProlepticGregorian,
        Self::Julian,
        Self::NoLeap,
        Self::AllLeap,
        Self::Day360,
    ];

    /// Returns the name in the CF conventions, such as `360_day`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::ProlepticGregorian => "proleptic_gregorian",
            Self::Julian => "julian",
            Self::NoLeap => "noleap",
            Self::AllLeap => "all_leap",
            Self::Day360 => "360_day",
        }
    }

    /// Returns whether the year before 1 is 0. In the other calendars it is -1.
    #[must_use]
    pub const fn has_year_zero(self) -> bool {
        !matches!(self, Self::Standard | Self::Julian)
    }

    /// Returns whether the year has a 29 February. Always `false` for [`Calendar::Day360`], whose February has 30 days.
    #[must_use]
    pub fn is_leap_year(self, year: i64) -> bool {
        self.is_leap(self.astronomical(year))
    }

    /// Returns the number of days of a month, which is from 1 to 12.
    ///
    /// # Panics
    /// If `month` is not from 1 to 12.
    #[must_use]
    pub fn days_in_month(self, year: i64, month: i64) -> i64 {
        assert!(
            (1..=12).contains(&month),
            "month {month} is not from 1 to 12"
        );
        self.month_len(self.astronomical(year), month)
    }

    /// Returns the number of days of a year.
    #[must_use]
    pub fn days_in_year(self, year: i64) -> i64 {
        let year = self.astronomical(year);
        (1..=12).map(|month| self.month_len(year, month)).sum()
    }

    /// Converts a year of the calendar to one that counts from 0.
    pub(crate) const fn astronomical(self, year: i64) -> i64 {
        if year < 0 && !self.has_year_zero() {
            year + 1
        } else {
            year
        }
    }

    /// Converts an astronomical year to one of the calendar.
    pub(crate) const fn calendar_year(self, year: i64) -> i64 {
        if year < 1 && !self.has_year_zero() {
            year - 1
        } else {
            year
        }
    }

    fn is_leap(self, year: i64) -> bool {
        let julian = year.rem_euclid(4) == 0;
        let gregorian = julian && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
        match self {
            Self::Standard if year <= 1582 => julian,
            Self::Standard | Self::ProlepticGregorian => gregorian,
            Self::Julian => julian,
            Self::AllLeap => true,
            Self::NoLeap | Self::Day360 => false,
        }
    }

    /// Returns the number of days of a month of an astronomical year.
    fn month_len(self, year: i64, month: i64) -> i64 {
        match (self, month) {
            (Self::Day360, _) => 30,
            (Self::Standard, 10) if year == 1582 => 21,
            (_, 2) => 28 + i64::from(self.is_leap(year)),
            (_, month) => BEFORE_MONTH[month as usize] - BEFORE_MONTH[month as usize - 1],
        }
    }

    /// Returns the number of the last day of a month of an astronomical year.
    pub(crate) fn last_day(self, year: i64, month: i64) -> i64 {
        match (self, year, month) {
            (Self::Standard, 1582, 10) => 31,
            _ => self.month_len(year, month),
        }
    }

    /// Returns whether the date exists.
    pub(crate) fn has_date(self, (year, month, day): Date) -> bool {
        let left_out =
            self == Self::Standard && (year, month) == (1582, 10) && (5..15).contains(&day);
        (1..=12).contains(&month) && (1..=self.last_day(year, month)).contains(&day) && !left_out
    }

    /// Returns the days since 1970-01-01. Those of [`Calendar::Julian`] and [`Calendar::Standard`] count from the
    /// Gregorian date, since both name the same real days.
    pub(crate) fn day_number(self, (year, month, day): Date) -> i64 {
        match self {
            Self::Day360 => (year - 1970) * 360 + (month - 1) * 30 + day - 1,
            Self::NoLeap => (year - 1970) * 365 + BEFORE_MONTH[month as usize - 1] + day - 1,
            Self::AllLeap => (year - 1970) * 366 + days_before(month, true) + day - 1,
            Self::ProlepticGregorian => gregorian_day(year, month, day),
            Self::Julian => julian_day(year, month, day),
            Self::Standard if (year, month, day) >= (1582, 10, 15) => {
                gregorian_day(year, month, day)
            }
            Self::Standard => julian_day(year, month, day),
        }
    }

    /// Returns the date of [`day_number`](Self::day_number).
    pub(crate) fn date(self, day: i64) -> Date {
        let within = |year: i64, day: i64, leap: bool| {
            let before = |&month: &i64| days_before(month, leap) <= day;
            let month = (1..=12).rev().find(before).unwrap_or(1);
            (year, month, day - days_before(month, leap) + 1)
        };
        match self {
            Self::Day360 => {
                let (year, day) = (1970 + day.div_euclid(360), day.rem_euclid(360));
                (year, day / 30 + 1, day % 30 + 1)
            }
            Self::NoLeap => within(1970 + day.div_euclid(365), day.rem_euclid(365), false),
            Self::AllLeap => within(1970 + day.div_euclid(366), day.rem_euclid(366), true),
            Self::ProlepticGregorian => gregorian_date(day),
            Self::Julian => julian_date(day),
            Self::Standard if day >= REFORM - UNIX_EPOCH => gregorian_date(day),
            Self::Standard => julian_date(day),
        }
    }
}

fn days_before(month: i64, leap: bool) -> i64 {
    BEFORE_MONTH[month as usize - 1] + i64::from(leap && month > 2)
}

/// Returns the days from 1 March of the year to a date, with January and February at the end of the year before.
fn march_day(month: i64, day: i64) -> i64 {
    (153 * ((month + 9) % 12) + 2) / 5 + day - 1
}

/// Inverts [`march_day`], given the year that begins in March.
fn march_date(year: i64, day: i64) -> Date {
    let month = (5 * day + 2) / 153;
    let year = year + i64::from(month >= 10);
    (year, (month + 2) % 12 + 1, day - (153 * month + 2) / 5 + 1)
}

/// The days from 1 March of the year 0 to 1970, in both calendars.
const GREGORIAN_EPOCH: i64 = 719_468;
const JULIAN_EPOCH: i64 = 719_470;

fn gregorian_day(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + march_day(month, day) - GREGORIAN_EPOCH
}

fn gregorian_date(day: i64) -> Date {
    let day = day + GREGORIAN_EPOCH;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    march_date(era * 400 + year, day - (365 * year + year / 4 - year / 100))
}

fn julian_day(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    year * 365 + year.div_euclid(4) + march_day(month, day) - JULIAN_EPOCH
}

fn julian_date(day: i64) -> Date {
    let day = day + JULIAN_EPOCH;
    let (era, day) = (day.div_euclid(1461), day.rem_euclid(1461));
    let year = (day - day / 1460) / 365;
    march_date(era * 4 + year, day - 365 * year)
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Calendar {
    type Err = Error;

    /// Parses a name of the CF conventions, in any case.
    fn from_str(name: &str) -> Result<Self> {
        Ok(match &name.to_ascii_lowercase()[..] {
            "standard" | "gregorian" => Self::Standard,
            "proleptic_gregorian" => Self::ProlepticGregorian,
            "julian" => Self::Julian,
            "noleap" | "365_day" => Self::NoLeap,
            "all_leap" | "366_day" => Self::AllLeap,
            "360_day" => Self::Day360,
            _ => {
                let what = format!("calendar `{name}` is not one of the CF conventions");
                return Err(Error::new(ErrorKind::Parse, "calendar", what).hint(
                    "use standard, proleptic_gregorian, julian, noleap, all_leap or 360_day",
                ));
            }
        })
    }
}

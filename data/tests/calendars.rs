//! Times of every calendar of the CF conventions, beside those of cftime.

use nomina_data::{Calendar, CfTime, TimeUnits};

/// One recorded time: calendar, units, number, parts, day of the year, days in the month, number.
type Case = (Calendar, String, f64, [i64; 7], i64, i64, f64);

fn cases() -> Vec<Case> {
    let text = include_str!("data/calendars.json");
    let all: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let case = |case: &serde_json::Value| {
        let parts: Vec<i64> = (0..7).map(|at| case[3][at].as_i64().unwrap()).collect();
        (
            case[0].as_str().unwrap().parse().unwrap(),
            case[1].as_str().unwrap().to_owned(),
            number(&case[2]),
            parts.try_into().unwrap(),
            case[4].as_i64().unwrap(),
            case[5].as_i64().unwrap(),
            number(&case[6]),
        )
    };
    all.iter().map(case).collect()
}

fn parts(time: CfTime) -> [i64; 7] {
    [
        time.year(),
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        time.microsecond(),
    ]
}

#[test]
fn times_equal_those_of_cftime() {
    let cases = cases();
    assert!(cases.len() > 1_400);
    let mut wrong = Vec::new();
    for (calendar, units, value, want, day_of_year, month_len, back) in &cases {
        let parsed = TimeUnits::parse(units, *calendar).unwrap();
        let time = parsed.decode(*value).unwrap();
        // cftime counts in floats, which are microseconds apart; ours are rounded once.
        let wanted = CfTime::new(*calendar, *want).unwrap();
        let apart = (time - wanted).as_micros().abs();
        let near = apart <= 20;
        // cftime counts the days of 1582 as if none had been left out.
        let reform = *calendar == Calendar::Standard && want[0] == 1582;
        let days = (time.day_of_year(), time.days_in_month());
        if !near || !reform && days != (*day_of_year, *month_len) {
            wrong.push(format!(
                "{calendar} {value} {units}: {time}, cftime {wanted}"
            ));
        }
        let number = parsed.encode(wanted).unwrap();
        if (number - back).abs() > 1e-9 * back.abs().max(1.0) {
            wrong.push(format!(
                "{calendar} {wanted} {units}: {number}, cftime {back}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {:#?}",
        wrong.len(),
        cases.len(),
        &wrong[..wrong.len().min(20)]
    );
}

/// Whole numbers of units are exact to the microsecond.
#[test]
fn whole_units_are_exact() {
    let exact = cases().into_iter().filter(|case| case.2.fract() == 0.0);
    let mut count = 0;
    for (calendar, units, value, want, ..) in exact {
        let parsed = TimeUnits::parse(&units, calendar).unwrap();
        let time = parsed.decode(value).unwrap();
        assert_eq!(parts(time), want, "{calendar} {value} {units}");
        assert_eq!(parsed.decode_integer(value as i64).unwrap(), time);
        assert_eq!(parsed.encode(time).unwrap(), value);
        count += 1;
    }
    assert!(count > 700, "{count}");
}

#[test]
fn every_day_of_two_thousand_years_comes_back() {
    for calendar in Calendar::ALL {
        let mut time = CfTime::date(calendar, 1, 1, 1).unwrap();
        let mut before = None;
        while time.year() < 2101 {
            let date = CfTime::date(calendar, time.year(), time.month(), time.day()).unwrap();
            assert_eq!(date, time, "{calendar}");
            if time.day() != 1 && time.year() != 1582 {
                assert_eq!(before, Some(time.day() - 1), "{time:?}");
            }
            before = Some(time.day());
            time = time + jiff_day();
        }
    }
}

fn jiff_day() -> nomina::jiff::SignedDuration {
    nomina::jiff::SignedDuration::from_hours(24)
}

#[test]
fn calendars_differ_as_the_conventions_say() {
    let date = |calendar: Calendar, year, month, day| CfTime::date(calendar, year, month, day);
    assert!(date(Calendar::Day360, 2001, 2, 30).is_ok());
    assert!(date(Calendar::Day360, 2001, 1, 31).is_err());
    assert!(date(Calendar::NoLeap, 2000, 2, 29).is_err());
    assert!(date(Calendar::AllLeap, 2001, 2, 29).is_ok());
    assert!(date(Calendar::Julian, 1900, 2, 29).is_ok());
    assert!(date(Calendar::Standard, 1900, 2, 29).is_err());
    assert!(date(Calendar::Standard, 1500, 2, 29).is_ok());
    assert!(date(Calendar::Standard, 1582, 10, 10).is_err());
    assert!(date(Calendar::Standard, 0, 1, 1).is_err());
    assert!(date(Calendar::ProlepticGregorian, 0, 1, 1).is_ok());
    let last = date(Calendar::Standard, 1582, 10, 4).unwrap();
    assert_eq!((last + jiff_day()).to_string(), "1582-10-15 00:00:00");
    let before = date(Calendar::Julian, 1, 1, 1).unwrap() - jiff_day();
    assert_eq!((before.year(), before.month(), before.day()), (-1, 12, 31));
    let month = date(Calendar::NoLeap, 2000, 1, 31)
        .unwrap()
        .add_months(1)
        .unwrap();
    assert_eq!(month.to_string(), "2000-02-28 00:00:00");
}

#[test]
fn units_are_parsed_as_files_have_them() {
    let since = |text: &str| {
        TimeUnits::parse(text, Calendar::Standard)
            .unwrap()
            .since()
            .to_string()
    };
    assert_eq!(
        since("seconds since 1992-10-8 15:15:42.5 -6:00"),
        "1992-10-08 21:15:42.500000"
    );
    assert_eq!(
        since("days since 1970-01-01T00:00:00Z"),
        "1970-01-01 00:00:00"
    );
    assert_eq!(
        since("hours since 1800-1-1 00:00:0.0"),
        "1800-01-01 00:00:00"
    );
    assert_eq!(
        since("Hour since 2000-01-01 12:00 UTC"),
        "2000-01-01 12:00:00"
    );
    assert_eq!(
        since("days since 2000-01-01 06:00 +0130"),
        "2000-01-01 04:30:00"
    );
    for wrong in [
        "days",
        "days since",
        "days since yesterday",
        "moons since 2000-01-01",
        "days since 2000-13-01",
    ] {
        assert!(
            TimeUnits::parse(wrong, Calendar::Standard).is_err(),
            "{wrong}"
        );
    }
    let months = TimeUnits::parse("months since 2000-01-01", Calendar::Standard).unwrap_err();
    assert!(
        months
            .to_string()
            .contains("no fixed length in the calendar `standard`"),
        "{months}"
    );
    let months = TimeUnits::parse("months since 2000-01-01", Calendar::Day360).unwrap();
    assert_eq!(
        months.decode(14.0).unwrap().to_string(),
        "2001-03-01 00:00:00"
    );
    assert!(
        !TimeUnits::is_time("K")
            && !TimeUnits::is_time("days")
            && TimeUnits::is_time("days since 2000-01-01")
    );
}

#[test]
fn numbers_that_are_no_times_are_errors() {
    let units = TimeUnits::parse("days since 2000-01-01", Calendar::Standard).unwrap();
    for value in [f64::NAN, f64::INFINITY, 1e300, 9e18] {
        assert!(units.decode(value).is_err(), "{value}");
        assert!(units.decode_timestamp(value).is_err(), "{value}");
    }
    assert!(units.decode_integer(i64::MAX).is_err());
    let julian = CfTime::date(Calendar::Julian, 2000, 1, 1).unwrap();
    assert!(units.encode(julian).is_err());
    assert!(julian.add_months(i64::MAX).is_err());
}

#[test]
fn instants_are_those_of_real_calendars() {
    let units = TimeUnits::parse("days since 1970-01-01", Calendar::Standard).unwrap();
    let at = units.decode_timestamp(19_000.25).unwrap();
    assert_eq!(at.to_string(), "2022-01-08T06:00:00");
    let time = units.decode(19_000.25).unwrap();
    assert_eq!(time.to_timestamp(), Some(at));
    assert_eq!(CfTime::from_timestamp(Calendar::Standard, at), Some(time));
    // The Julian date of the same day is 13 days behind.
    let julian = CfTime::from_timestamp(Calendar::Julian, at).unwrap();
    assert_eq!(julian.to_string(), "2021-12-26 06:00:00");
    assert_eq!(
        CfTime::date(Calendar::Day360, 2000, 1, 1)
            .unwrap()
            .to_timestamp(),
        None
    );
}

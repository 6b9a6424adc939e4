//! Types of labels, their declarations, dates.

use std::sync::Arc;
use std::time::Duration;

use nomina::dims::{DimTuple, LabelType};
use nomina::jiff::ToSpan;
use nomina::labelled::{AnyLabels, Difference, LabelValue};
use nomina::prelude::*;
use nomina::{DynLabelled, Labelled, Labels, Timestamp};

dims! { Time("time"): Timestamp, Lat: f64, Level: f32, Id: i64 = 3, Station: String, Rgb = { R, G, B }, C }

#[test]
fn declarations_are_known_as_values() {
    let declared = <(Time, Lat, Level, Id, Station, Rgb, C, Wild) as DimTuple>::LABELS;
    let wanted = [
        Some(LabelType::Timestamp),
        Some(LabelType::F64),
        Some(LabelType::F32),
        Some(LabelType::I64),
        Some(LabelType::Text),
        Some(LabelType::Words(&["R", "G", "B"])),
        None,
        None,
    ];
    assert_eq!(declared, wanted);
    assert_eq!(
        <(Time, Id, Rgb) as DimTuple>::SIZES,
        [None, Some(3), Some(3)]
    );
    assert_eq!(
        <(Time, Rgb) as DimTuple>::NAMES,
        [Some("time"), Some("Rgb")]
    );
}

#[test]
fn words_index_plain_tensors_too() {
    let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; C, Rgb);
    assert_eq!(x.at(Rgb::B).to_vec(), [3.0, 6.0]);
    let x = Labelled::new(x);
    assert_eq!(x.labels(Rgb).values(), ["R", "G", "B"]);
    assert_eq!(x.sel(Rgb, Rgb::G).to_vec(), [2.0, 5.0]);
    assert_eq!(x.sel(Rgb, "R").to_vec(), [1.0, 4.0]);
    assert_eq!(x.isel(Rgb, Rgb::B).to_vec(), [3.0, 6.0]);
}

#[test]
fn counts_of_labels_are_checked() {
    let x = Labelled::new(tensor!([1., 2., 3.]; Lat));
    let error = x.clone().try_with(Lat, [1.0, 2.0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Label);
    assert_eq!(
        error.to_string(),
        "with: 2 labels for dim `Lat` of size 3; dims (Lat=3,)"
    );
    let error = x.try_labels(Lat).unwrap_err().to_string();
    assert!(error.contains("dim `Lat` has no labels here"), "{error}");
    assert!(error.contains("x.with(Lat, labels)"), "{error}");
}

#[test]
fn look_ups_agree_with_a_linear_search() {
    // Rising, falling, unsorted.
    let lists = [
        vec![-3.5_f64, -1.0, 0.0, 2.0, 7.5],
        vec![7.5, 2.0, 0.0, -1.0, -3.5],
        vec![2.0, -3.5, 7.5, 0.0, -1.0],
    ];
    for list in lists {
        let labels = Labels::new(list.clone());
        for wanted in [-9.0, -3.5, -2.0, -1.0, -0.5, 0.0, 1.0, 2.0, 4.75, 7.5, 99.0] {
            let found = list.iter().position(|v| *v == wanted);
            assert_eq!(labels.position(&wanted).ok(), found, "{list:?} {wanted}");
            let nearest = (0..list.len())
                .min_by(|a, b| {
                    let distance = |i: &usize| (list[*i] - wanted).abs();
                    distance(a)
                        .total_cmp(&distance(b))
                        .then(list[*b].total_cmp(&list[*a]))
                })
                .unwrap();
            assert_eq!(
                labels.nearest(&wanted, 1e9),
                Ok(nearest),
                "{list:?} {wanted}"
            );
            assert_eq!(labels.nearest(&wanted, 0.0).ok(), found);
        }
        if list[0] == 2.0 {
            assert!(
                labels
                    .range(0.0..=1.0)
                    .unwrap_err()
                    .contains("neither rise nor fall")
            );
            continue;
        }
        for (from, to) in [
            (-9.0, 99.0),
            (-1.0, 2.0),
            (-2.0, 1.0),
            (5.0, 6.0),
            (3.0, 1.0),
            (8.0, 9.0),
        ] {
            let within = |v: &f64| *v >= from && *v <= to;
            let found = labels.range(from..=to).unwrap();
            let all: Vec<usize> = (0..list.len()).filter(|i| within(&list[*i])).collect();
            assert_eq!(found.collect::<Vec<_>>(), all, "{list:?} {from} {to}");
            let found: Vec<usize> = labels.range(from..to).unwrap().collect();
            let all: Vec<usize> = (0..list.len())
                .filter(|i| list[*i] >= from && list[*i] < to)
                .collect();
            assert_eq!(found, all, "{list:?} {from} {to}");
        }
    }
}

#[test]
fn repeated_labels_are_ambiguous() {
    let labels = Labels::new(["b", "a", "b"].map(String::from));
    let text = labels.position(&"b".to_owned()).unwrap_err();
    assert_eq!(text, "has label \"b\" more than once, at 0 and 2");
    assert_eq!(labels.position(&"a".to_owned()), Ok(1));
    let labels = Labels::new([1.0, 2.0, 2.0, 3.0]);
    assert_eq!(labels.range(2.0..3.0), Ok(1..3));
    let (ids, groups) = AnyLabels::groups(&Labels::new([5_i64, 3, 5, 4]));
    assert_eq!(ids, [2, 0, 2, 1]);
    assert_eq!(groups.value(1), LabelValue::Int(4));
}

#[test]
fn dates_parse_and_print() {
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    assert_eq!(at("1970-01-02").nanoseconds(), 86_400_000_000_000);
    assert_eq!(at("2020-02-29T12:30").to_string(), "2020-02-29T12:30:00");
    assert_eq!(at("2020-02-29 12:30:15").second(), 15);
    assert_eq!(at("2020-02-29T12:30:15Z"), at("2020-02-29T12:30:15"));
    assert_eq!(at("2020-02-29T12:30:15+01:00"), at("2020-02-29T11:30:15"));
    assert_eq!(
        at("2020-02-29T12:30:15.5").nanoseconds() % 1_000_000_000,
        500_000_000
    );
    let day = at("2021-01-03");
    assert_eq!(
        (day.weekday(), day.quarter(), day.season().as_str()),
        (6, 1, "DJF")
    );
    assert_eq!(
        at("2020-03-01") - at("2020-02-28"),
        nomina::jiff::SignedDuration::from_hours(48)
    );
    assert_eq!(
        at("2020-03-01") + Duration::from_secs(60),
        at("2020-03-01T00:01")
    );
    assert_eq!(
        at("2020-01-31").checked_add(1.month()).unwrap(),
        at("2020-02-29")
    );
    let series = Timestamp::series("2019-12-31", 1.month(), 4).unwrap();
    assert_eq!(
        format!("{series:?}"),
        "[2019-12-31, 2020-01-31, 2020-02-29, 2020-03-31]"
    );
    for wrong in [
        "2020-13",
        "2020-02-30",
        "20",
        "now",
        "2020-1-1T",
        "1500",
        "",
    ] {
        assert!(wrong.parse::<Timestamp>().is_err(), "{wrong}");
    }
    let error = "2020-13".parse::<Timestamp>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parse);
}

#[test]
fn labels_of_another_type_with_the_same_spelling_are_found() {
    mod other {
        nomina::dims! { pub Lat: String }
    }
    let x = Labelled::new(tensor!([1., 2.]; Lat)).with(Lat, [1.0, 2.0]);
    let y =
        Labelled::new(tensor!([1., 2.]; other::Lat)).with(other::Lat, ["a", "b"].map(String::from));
    let error = x.try_add(&y).unwrap_err().to_string();
    assert!(error.contains("their types are f64 and String"), "{error}");
    let error = y.to_dyn().typed::<(Lat,), f32>().unwrap_err().to_string();
    assert!(
        error.contains("labels of dim `Lat` are of type String, and its declaration says f64"),
        "{error}"
    );
}

#[test]
fn text_and_types_at_run_time() {
    let x = Labelled::new(tensor!([1., 2.]; Lat)).with(Lat, [1.0, 2.0]);
    let text = x.to_string();
    assert!(text.starts_with("Labelled (Lat: 2) f32\n"), "{text}");
    assert!(text.ends_with("\n  Lat  f64        1.0 2.0"), "{text}");
    let d: DynLabelled = x.to_dyn();
    assert_eq!(d.to_string(), text);
    let labels: Arc<dyn AnyLabels> = d.labels("Lat").unwrap().unwrap().clone();
    assert_eq!(labels.label_type(), LabelType::F64);
    assert_eq!(
        labels.first_difference(&Labels::new([1.0])),
        Some(Difference::Length)
    );
    assert_eq!(
        labels.first_difference(&Labels::new([1_i64])),
        Some(Difference::Type)
    );
    let back: Labelled<(Lat,)> = d.typed().unwrap();
    assert_eq!(back.labels(Lat).values(), [1.0, 2.0]);
    assert!(d.typed::<(Station,), f32>().is_err());
}

//! Groups and resampling block by block, beside those in memory.

use nomina::jiff::ToSpan;
use nomina::labelled::DatePart;
use nomina::{DynLabelled, Timestamp, prelude::*};
use nomina_data::{Calendar, CfTime, Column, DatasetGroups, DynDataset, Reduction, Scan, Variable};

const ALL: [Reduction; 8] = [
    Reduction::Sum,
    Reduction::Mean,
    Reduction::Min,
    Reduction::Max,
    Reduction::NanSum,
    Reduction::NanMean,
    Reduction::NanMin,
    Reduction::NanMax,
];

/// Three years of five-day steps with a gap of half a year, at some latitudes, with NaN here and there.
fn weather() -> DynDataset {
    let start: Timestamp = "2001-02-03T06:00".parse().unwrap();
    let day = 86_400_000_000_000;
    let times: Vec<Timestamp> = (0..200)
        .map(|at| at * 5 + if at > 90 { 200 } else { 0 })
        .map(|days| Timestamp::from_nanoseconds(start.nanoseconds() + days * day))
        .collect();
    let mut state = 7_u64;
    let values: Vec<f64> = (0..200 * 3 * 4)
        .map(|at| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // The first month is NaN at one place.
            if at % 13 == 5 || at / 12 < 5 && at % 12 == 7 {
                f64::NAN
            } else {
                (state >> 40) as f64 / 1000.0 - 8000.0
            }
        })
        .collect();
    let mut all = DynDataset::new();
    let t = DynTensor::from_vec(values, &[200, 3, 4], ["time", "lat", "lon"]).unwrap();
    all.insert(Variable::new("t", t).unwrap()).unwrap();
    let n: Vec<i64> = (0..600).map(|at| (at * 37) % 101 - 50).collect();
    let n = DynTensor::from_vec(n, &[3, 200], ["lat", "time"]).unwrap();
    all.insert(Variable::new("n", n).unwrap()).unwrap();
    let height = DynTensor::from_vec(vec![1.0_f64, 2.0, 3.0], &[3], ["lat"]).unwrap();
    all.insert(Variable::new("height", height).unwrap())
        .unwrap();
    all.set_coordinates(["height"]).unwrap();
    all.insert(Variable::from_column("time", Column::Time(times)))
        .unwrap();
    all.insert(Variable::from_column(
        "lat",
        Column::F64(vec![60.0, 50.0, 40.0]),
    ))
    .unwrap();
    let x = DynTensor::from_vec(
        (0..200).map(f64::from).collect::<Vec<_>>(),
        &[200],
        ["time"],
    )
    .unwrap();
    all.insert(Variable::new("step", x).unwrap()).unwrap();
    all
}

/// The reductions in memory.
fn reduce(
    groups: &nomina::labelled::DynGroups,
    reduction: Reduction,
) -> nomina::Result<DynLabelled> {
    match reduction {
        Reduction::Sum => groups.sum(),
        Reduction::Mean => groups.mean(),
        Reduction::Min => groups.min(),
        Reduction::Max => groups.max(),
        Reduction::NanSum => groups.nansum(),
        Reduction::NanMean => groups.nanmean(),
        Reduction::NanMin => groups.nanmin(),
        Reduction::NanMax => groups.nanmax(),
    }
}

fn assert_equal(ours: &DynLabelled, theirs: &DynLabelled, what: &str) {
    assert_eq!(ours.names(), theirs.names(), "{what}");
    assert_eq!(ours.shape(), theirs.shape(), "{what}");
    let values = |x: &DynLabelled| {
        let tensor = x.tensor().to_dtype(DType::F64).unwrap();
        tensor.to_vec::<f64>().unwrap()
    };
    for (a, b) in values(ours).into_iter().zip(values(theirs)) {
        let near = (a - b).abs() <= 1e-9 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
        assert!(near, "{what}: {a}, not {b}");
    }
    for at in 0..ours.shape().len() {
        let text = |x: &DynLabelled| {
            x.coords().get(at).map(|labels| {
                (0..labels.len())
                    .map(|i| labels.text(i))
                    .collect::<Vec<_>>()
            })
        };
        assert_eq!(text(ours), text(theirs), "{what}: labels of dim {at}");
    }
}

#[test]
fn groups_equal_those_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("weather.zarr");
    weather().write_zarr(&store).unwrap();
    let lazy = DynDataset::open_lazy(&store).unwrap();
    assert!(lazy.variable("t").unwrap().is_lazy());
    let t = lazy.labelled("t").unwrap();
    let in_memory = [
        t.group_by_date("time", DatePart::Month, "month").unwrap(),
        t.group_by_date("time", DatePart::Season, "season").unwrap(),
        t.group_by_date("time", DatePart::Weekday, "weekday")
            .unwrap(),
        t.group_by_bins("lat", &[35.0, 45.0, 60.0], "zone").unwrap(),
        t.resample("time", "MS").unwrap(),
        t.resample("time", "QS").unwrap(),
        t.resample("time", 7.days()).unwrap(),
    ];
    let by_block: [DatasetGroups; 7] = [
        lazy.group_by_date("time", DatePart::Month, "month")
            .unwrap(),
        lazy.group_by_date("time", DatePart::Season, "season")
            .unwrap(),
        lazy.group_by_date("time", DatePart::Weekday, "weekday")
            .unwrap(),
        lazy.group_by_bins("lat", &[35.0, 45.0, 60.0], "zone")
            .unwrap(),
        lazy.resample("time", "MS").unwrap(),
        lazy.resample("time", "QS").unwrap(),
        lazy.resample("time", 7.days()).unwrap(),
    ];
    for (case, (groups, all)) in by_block.iter().zip(&in_memory).enumerate() {
        for reduction in ALL {
            for (memory, threads) in [(1, 1), (5_000, 3), (40_000, 2), (1 << 22, 2)] {
                // Blocks of single elements take long.
                if memory == 1 && (case != 0 || reduction != Reduction::NanMean) {
                    continue;
                }
                let what = format!("case {case}, {reduction:?}, {memory} bytes, {threads} threads");
                let scan = Scan::new().memory(memory).threads(threads);
                let ours = scan.reduce_groups(groups, reduction, &["t"], &[]).unwrap();
                match reduce(all, reduction) {
                    Ok(theirs) => assert_equal(&ours.labelled("t").unwrap(), &theirs, &what),
                    // A step without elements has no minimum in memory, and NaN here.
                    Err(_) => assert!(case > 3, "{what}"),
                }
            }
        }
    }
}

#[test]
fn all_variables_with_the_dim_are_reduced() {
    let weather = weather();
    let months = weather
        .group_by_date("time", DatePart::Month, "month")
        .unwrap();
    let means = months.nanmean().unwrap();
    let names: Vec<&str> = means.variables().map(Variable::name).collect();
    assert_eq!(names, ["t", "n", "step"]);
    assert_eq!(means.variable("n").unwrap().dims(), ["lat", "month"]);
    assert!(means.coordinates().any(|one| one.name() == "height"));
    let n = weather.labelled("n").unwrap();
    let in_memory = n.group_by_date("time", DatePart::Month, "month").unwrap();
    let sums = months.sum().unwrap();
    assert_equal(&sums.labelled("n").unwrap(), &in_memory.sum().unwrap(), "n");
    assert_eq!(sums.variable("n").unwrap().dtype(), Some(DType::I64));
    // Over another dim as well: means of means weighted by their counts.
    let also = Scan::new()
        .reduce_groups(&months, Reduction::NanMean, &[], &["lat"])
        .unwrap();
    assert_eq!(also.variable("t").unwrap().dims(), ["month", "lon"]);
    assert_eq!(also.variable("step").unwrap().dims(), ["month"]);
    assert!(also.coordinates().all(|one| one.name() != "height"));
    let sum = months
        .nansum()
        .unwrap()
        .variable("t")
        .unwrap()
        .nansum(&["lat"])
        .unwrap();
    let both = Scan::new()
        .reduce_groups(&months, Reduction::NanSum, &["t"], &["lat"])
        .unwrap();
    assert_equal(
        &DynLabelled::new(both.variable("t").unwrap().tensor().unwrap()),
        &DynLabelled::new(sum.tensor().unwrap()),
        "sum over both",
    );
}

#[test]
fn steps_without_elements() {
    let weather = weather();
    let months = weather.resample("time", "MS").unwrap();
    let missing: Vec<usize> = (0..months.labels().len())
        .filter(|at| !months.ids().contains(&Some(*at)))
        .collect();
    assert!(missing.len() >= 5, "{missing:?}");
    let counts = Scan::new()
        .reduce_groups(&months, Reduction::NanMean, &["step"], &[])
        .unwrap();
    let step = counts
        .variable("step")
        .unwrap()
        .tensor()
        .unwrap()
        .to_vec::<f64>()
        .unwrap();
    for (at, value) in step.iter().enumerate() {
        assert_eq!(value.is_nan(), missing.contains(&at), "{at}");
    }
    let error = Scan::new()
        .reduce_groups(&months, Reduction::Min, &["n"], &[])
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("dim `time` has no elements in group"),
        "{error}"
    );
    let sums = Scan::new()
        .reduce_groups(&months, Reduction::Sum, &["n"], &[])
        .unwrap();
    let sums = sums
        .variable("n")
        .unwrap()
        .tensor()
        .unwrap()
        .to_vec::<i64>()
        .unwrap();
    assert_eq!(sums[missing[0]], 0);
}

#[test]
fn other_calendars() {
    let times: Vec<CfTime> = (0..48)
        .map(|month| {
            CfTime::date(Calendar::Day360, 1859, 12, 30)
                .unwrap()
                .add_months(month)
                .unwrap()
        })
        .collect();
    let mut model = DynDataset::new();
    let x =
        DynTensor::from_vec((0..48).map(f64::from).collect::<Vec<_>>(), &[48], ["time"]).unwrap();
    model.insert(Variable::new("x", x).unwrap()).unwrap();
    model
        .insert(Variable::from_column("time", Column::CfTime(times)))
        .unwrap();
    let values = |x: DynDataset| {
        x.variable("x")
            .unwrap()
            .tensor()
            .unwrap()
            .to_vec::<f64>()
            .unwrap()
    };
    let seasons = model
        .group_by_date("time", DatePart::Season, "season")
        .unwrap();
    assert_eq!(
        *seasons.labels(),
        Column::Text(["DJF", "JJA", "MAM", "SON"].map(str::to_owned).to_vec())
    );
    assert_eq!(values(seasons.mean().unwrap()), [19.0, 25.0, 22.0, 28.0]);
    let years = model.resample("time", "YS").unwrap();
    assert_eq!(years.labels().show(1), "1860-01-01");
    assert_eq!(values(years.mean().unwrap()), [0.0, 6.5, 18.5, 30.5, 42.0]);
    let days = model.resample("time", "60D").unwrap();
    assert_eq!(days.labels().show(1), "1860-02-30");
    assert_eq!(values(days.mean().unwrap())[..2], [0.5, 2.5]);
    let error = model.resample("time", 1.nanosecond()).unwrap_err();
    let what = "steps, for which there is no memory";
    assert!(error.to_string().contains(what), "{error}");
    let error = model
        .group_by_date("time", DatePart::Weekday, "day")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("dim `time` has times of a calendar without weeks"),
        "{error}"
    );
}

#[test]
fn groups_of_a_coordinate_and_mistakes() {
    let weather = weather();
    let groups = weather.group_by("height").unwrap();
    assert_eq!(groups.labels(), &Column::F64(vec![1.0, 2.0, 3.0]));
    assert_eq!(
        groups.max().unwrap().variable("t").unwrap().dims(),
        ["time", "height", "lon"]
    );
    let text = |found: nomina::Result<DatasetGroups>| found.unwrap_err().to_string();
    assert!(text(weather.group_by("t")).contains("has dims (time, lat, lon), not one"));
    assert!(text(weather.resample("lat", "MS")).contains("has labels of type f64, not times"));
    assert!(text(weather.resample("time", "MX")).contains("cannot be divided into steps"));
    assert!(
        text(weather.group_by_bins("lat", &[1.0, 1.0], "zone")).contains("edges of bins that rise")
    );
    let same = weather.group_by_date("time", DatePart::Month, "lat");
    assert!(text(same).contains("dim `time` cannot become `lat`"));
}

//! Reductions block by block, beside xarray's and those in memory.

use std::sync::Mutex;

use nomina::prelude::*;
use nomina_data::{DynDataset, Reduction, Scan, Variable};
use nomina_io::zarr::Zarr;

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

fn values(variable: &Variable) -> Vec<f64> {
    variable
        .tensor()
        .unwrap()
        .to_dtype(DType::F64)
        .unwrap()
        .to_vec::<f64>()
        .unwrap()
}

fn assert_near(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (a, b) in ours.iter().zip(theirs) {
        let near = (a - b).abs() <= 1e-12 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
        assert!(near, "{what}: {a}, not {b}");
    }
}

/// Reduces in plain loops.
fn reference(x: &[f64], shape: [usize; 3], reduction: Reduction, over: [bool; 3]) -> Vec<f64> {
    let kept: Vec<usize> = (0..3)
        .map(|dim| if over[dim] { 1 } else { shape[dim] })
        .collect();
    let mut groups = vec![Vec::new(); kept.iter().product()];
    for (at, &value) in x.iter().enumerate() {
        let index = [
            at / (shape[1] * shape[2]),
            at / shape[2] % shape[1],
            at % shape[2],
        ];
        let index = [0, 1, 2].map(|dim| if over[dim] { 0 } else { index[dim] });
        groups[(index[0] * kept[1] + index[1]) * kept[2] + index[2]].push(value);
    }
    let reduce = |group: Vec<f64>| {
        let present: Vec<f64> = group.iter().copied().filter(|x| !x.is_nan()).collect();
        let has_nan = present.len() < group.len();
        let least = |all: &[f64]| all.iter().copied().reduce(f64::min).unwrap_or(f64::NAN);
        let most = |all: &[f64]| all.iter().copied().reduce(f64::max).unwrap_or(f64::NAN);
        match reduction {
            Reduction::Sum => group.iter().sum(),
            Reduction::Mean => group.iter().sum::<f64>() / group.len() as f64,
            Reduction::NanSum => present.iter().sum(),
            Reduction::NanMean => present.iter().sum::<f64>() / present.len() as f64,
            Reduction::Min | Reduction::Max if has_nan => f64::NAN,
            Reduction::Min | Reduction::NanMin => least(&present),
            Reduction::Max | Reduction::NanMax => most(&present),
        }
    };
    groups.into_iter().map(reduce).collect()
}

#[test]
fn blocks_give_what_all_elements_give() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.zarr");
    let shape = [10, 7, 9];
    let mut state = 7_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / 1000.0 - 8000.0
    };
    let x: Vec<f64> = (0..630)
        .map(|at| {
            if at % 11 == 3 || at / 9 == 4 {
                f64::NAN
            } else {
                random()
            }
        })
        .collect();
    nomina_io::zarr::create_group(&store).unwrap();
    let tensor = DynTensor::from_vec(x.clone(), &shape, ["T", "Y", "X"]).unwrap();
    let array = Zarr::<DynTensor>::create(
        store.join("x"),
        DType::F64,
        tensor.names(),
        &shape,
        &[4, 3, 5],
    )
    .unwrap();
    array.write(&tensor).unwrap();
    let dataset = DynDataset::open_lazy(&store).unwrap();
    let variable = dataset.variable("x").unwrap();
    assert!(variable.is_lazy());
    for reduction in ALL {
        for mask in 1..8_u8 {
            let over = [0, 1, 2].map(|dim| mask & (1 << dim) != 0);
            let dims: Vec<&str> = ["T", "Y", "X"]
                .into_iter()
                .zip(over)
                .filter(|dim| dim.1)
                .map(|dim| dim.0)
                .collect();
            let want = reference(&x, shape, reduction, over);
            for (memory, threads) in [(1, 1), (2_000, 1), (2_000, 3), (6_000, 2), (1 << 20, 2)] {
                let what = format!("{reduction:?} {dims:?} {memory} {threads}");
                let ours = Scan::new()
                    .memory(memory)
                    .threads(threads)
                    .reduce(variable, reduction, &dims)
                    .unwrap();
                assert_near(&values(&ours), &want, &what);
            }
        }
    }
}

#[test]
fn progress_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.zarr");
    nomina_io::zarr::create_group(&store).unwrap();
    let names = nomina::names!["T", "X"];
    let array =
        Zarr::<DynTensor>::create(store.join("x"), DType::F32, &names, &[64, 100], &[4, 100])
            .unwrap();
    array
        .write(&DynTensor::options().ones(&[64, 100], ["T", "X"]).unwrap())
        .unwrap();
    let dataset = DynDataset::open_lazy(&store).unwrap();
    let seen = Mutex::new(Vec::new());
    let scan = Scan::new()
        .memory(2 * 64 * 800)
        .threads(2)
        .progress(|done, all| seen.lock().unwrap().push((done, all)));
    let sum = scan
        .reduce(dataset.variable("x").unwrap(), Reduction::Sum, &["T"])
        .unwrap();
    assert_eq!(values(&sum), [64.0; 100]);
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 8, "{seen:?}");
    assert_eq!(*seen.last().unwrap(), (6400, 6400));
    // A damaged chunk is an error that names it.
    std::fs::write(store.join("x/c/3/0"), b"no chunk").unwrap();
    let error = dataset
        .variable("x")
        .unwrap()
        .sum(&[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("c/3/0"), "{error}");
    let error = dataset
        .variable("x")
        .unwrap()
        .sum(&["Y"])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("variable `x` has no dim `Y`") && error.contains("its dims are T, X"),
        "{error}"
    );
}

#[test]
fn integers_stay_exact() {
    let x = DynTensor::from_vec(
        vec![i64::from(i32::MAX), 5, -7, 1 << 60, 1, 1],
        &[2, 3],
        ["N", "C"],
    )
    .unwrap();
    let x = Variable::new("x", x).unwrap();
    let sum = x.sum(&["C"]).unwrap().tensor().unwrap();
    assert_eq!(
        sum.to_vec::<i64>().unwrap(),
        [i64::from(i32::MAX) - 2, (1 << 60) + 2]
    );
    assert_eq!(
        x.max(&[])
            .unwrap()
            .tensor()
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [1 << 60]
    );
    assert_eq!(values(&x.nanmean(&["N"]).unwrap())[1], 3.0);
}

#[test]
#[cfg(feature = "netcdf")]
fn means_equal_xarrays() {
    let record: serde_json::Value = serde_json::from_str(include_str!("data/xarray.json")).unwrap();
    let list = |value: &serde_json::Value| -> Vec<f64> {
        value
            .as_array()
            .unwrap()
            .iter()
            .map(|x| x.as_f64().unwrap_or(f64::NAN))
            .collect()
    };
    let path = |name: &str| format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let sea = DynDataset::open_lazy(path("ostia_cut.nc")).unwrap();
    let x = sea.variable("surface_temperature").unwrap();
    let cases = [
        ("mean of time", Reduction::NanMean, &["time"][..]),
        (
            "mean of space",
            Reduction::NanMean,
            &["latitude", "longitude"],
        ),
        ("min of time", Reduction::NanMin, &["time"]),
        ("sum of longitude", Reduction::NanSum, &["longitude"]),
    ];
    for (name, reduction, dims) in cases {
        for memory in [100_000, 1 << 30] {
            let ours = Scan::new()
                .memory(memory)
                .reduce(x, reduction, dims)
                .unwrap();
            assert_near(&values(&ours), &list(&record["ostia"][name]), name);
        }
    }
    let north = DynDataset::open_lazy(path("a1b_cut.nc")).unwrap();
    let ours = north
        .variable("air_temperature")
        .unwrap()
        .mean(&["latitude", "longitude"])
        .unwrap();
    assert_near(
        &values(&ours),
        &list(&record["a1b"]["mean of space"]),
        "a1b",
    );
}

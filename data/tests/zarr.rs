//! Datasets in zarr: written, read again, and opened by xarray; version 2 as xarray writes it.

use std::path::PathBuf;
use std::process::Command;

use nomina::prelude::*;
use nomina_data::{Calendar, CfTime, Column, DynDataset, OpenOptions, Timestamp, Variable};

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A small dataset with every kind of variable.
fn weather() -> DynDataset {
    let mut all = DynDataset::new();
    let values = vec![280.0_f32, 281.5, f32::NAN, 279.0, 278.5, 282.25];
    let t = DynTensor::from_vec(values, &[2, 3], ["time", "station"]).unwrap();
    let mut temperature = Variable::new("temperature", t).unwrap();
    temperature.attributes_mut().set("units", "K");
    all.insert(temperature).unwrap();
    let count = DynTensor::from_vec(vec![3_i64, 4], &[2], ["time"]).unwrap();
    all.insert(Variable::new("count", count).unwrap()).unwrap();
    let height = DynTensor::from_vec(vec![1.5_f64, 2.0, 3.0], &[3], ["station"]).unwrap();
    all.insert(Variable::new("height", height).unwrap())
        .unwrap();
    let times: Vec<Timestamp> = ["2020-01-01T06:00:00", "2020-01-02T00:00:00"]
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    all.insert(Variable::from_column("time", Column::Time(times)))
        .unwrap();
    let names = ["Oslo", "Bergen", "Tromsø"].map(str::to_owned).to_vec();
    all.insert(Variable::from_column("station", Column::Text(names)))
        .unwrap();
    all.set_coordinates(["height"]).unwrap();
    all.attributes_mut().set("title", "weather");
    all
}

#[test]
fn a_dataset_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("weather.zarr");
    let written = weather();
    written.write_zarr(&store).unwrap();
    assert!(
        written.write_zarr(&store).is_err(),
        "nothing is overwritten"
    );
    for read in [
        DynDataset::open(&store).unwrap(),
        DynDataset::open_lazy(&store).unwrap(),
    ] {
        assert_eq!(
            *read.labels("time").unwrap(),
            *written.labels("time").unwrap()
        );
        assert_eq!(
            *read.labels("station").unwrap(),
            *written.labels("station").unwrap()
        );
        let t = read.variable("temperature").unwrap();
        assert_eq!(
            t.attributes(),
            written.variable("temperature").unwrap().attributes()
        );
        let bits = |x: &Variable| {
            x.tensor()
                .unwrap()
                .to_vec::<f32>()
                .unwrap()
                .iter()
                .map(|x| x.to_bits())
                .collect::<Vec<_>>()
        };
        assert_eq!(bits(t), bits(written.variable("temperature").unwrap()));
        assert_eq!(t.tensor().unwrap().names().to_string(), "(time, station)");
        assert_eq!(
            read.variable("count")
                .unwrap()
                .tensor()
                .unwrap()
                .to_vec::<i64>()
                .unwrap(),
            [3, 4]
        );
        assert!(read.coordinates().any(|one| one.name() == "height"));
        assert_eq!(read.attributes().text("title"), Some("weather"));
        let bergen = read.sel("station", "Bergen").unwrap();
        assert_eq!(
            bergen
                .variable("temperature")
                .unwrap()
                .tensor()
                .unwrap()
                .to_vec::<f32>()
                .unwrap(),
            [281.5, 278.5]
        );
    }
}

#[test]
#[cfg(feature = "netcdf")]
fn files_are_converted() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["ostia_cut.nc", "a1b_cut.nc", "profiles.nc", "made.nc"] {
        let options = match name {
            "made.nc" => OpenOptions::new().dims("square", ["station", "other"]),
            _ => OpenOptions::new(),
        };
        let lazy = options.open_lazy(data(name)).unwrap();
        let store = folder.path().join(name);
        lazy.write_zarr(&store).unwrap();
        let read = DynDataset::open(&store).unwrap();
        for one in lazy.variables().chain(lazy.coordinates()) {
            let other = read.variable(one.name()).unwrap();
            assert_eq!(other.dims(), one.dims(), "{name} {}", one.name());
            let (a, b) = (one.column().unwrap(), other.column().unwrap());
            // NaN equals itself here.
            assert_eq!(format!("{a:?}"), format!("{b:?}"), "{name} {}", one.name());
            let keys = |one: &Variable| {
                let mut keys: Vec<String> = one
                    .attributes()
                    .iter()
                    .map(|(key, _)| key.to_owned())
                    .collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(one), keys(other), "{name} {}", one.name());
        }
        let coordinates = |x: &DynDataset| {
            let mut all: Vec<String> = x.coordinates().map(|one| one.name().to_owned()).collect();
            all.sort();
            all
        };
        assert_eq!(coordinates(&lazy), coordinates(&read), "{name}");
    }
}

#[test]
fn times_are_written_in_the_coarsest_exact_unit() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(Calendar, &[&str]); 4] = [
        (Calendar::Day360, &["1860-02-30", "1861-02-30"]),
        (Calendar::NoLeap, &["2000-01-01T12:00", "2000-01-01T18:00"]),
        (Calendar::Julian, &["0001-01-01", "1500-02-29T00:00:01"]),
        (Calendar::AllLeap, &["1999-02-29T00:00:00.25"]),
    ];
    for (calendar, texts) in cases {
        let times = texts
            .iter()
            .map(|text| CfTime::parse(calendar, text).unwrap())
            .collect();
        let mut dataset = DynDataset::new();
        dataset
            .insert(Variable::from_column("time", Column::CfTime(times)))
            .unwrap();
        let store = folder.path().join(calendar.name());
        dataset.write_zarr(&store).unwrap();
        let read = DynDataset::open(&store).unwrap();
        assert_eq!(
            *read.labels("time").unwrap(),
            *dataset.labels("time").unwrap()
        );
    }
}

/// A Python with xarray: `NOMINA_PYTHON`, or none.
fn python() -> Option<PathBuf> {
    let python =
        PathBuf::from(std::env::var_os("NOMINA_PYTHON").unwrap_or_else(|| "python3".into()));
    let works = Command::new(&python)
        .args(["-c", "import xarray, zarr; assert zarr.__version__ >= '3'"])
        .output();
    works
        .is_ok_and(|done| done.status.success())
        .then_some(python)
}

fn run(python: &PathBuf, program: &str, arguments: &[&std::path::Path]) {
    let done = Command::new(python)
        .arg("-W")
        .arg("ignore")
        .arg("-c")
        .arg(program)
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn xarray_opens_what_is_written() {
    let Some(python) = python() else {
        println!("skipped: no Python with xarray and zarr 3; set NOMINA_PYTHON");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("weather.zarr");
    weather().write_zarr(&store).unwrap();
    run(
        &python,
        "import sys, numpy as np, xarray as xr\n\
         ds = xr.open_zarr(sys.argv[1])\n\
         assert list(ds.station.values) == ['Oslo', 'Bergen', 'Tromsø'], ds.station\n\
         assert str(ds.time.values[0])[:19] == '2020-01-01T06:00:00', ds.time\n\
         assert 'height' in ds.coords and ds.temperature.attrs == {'units': 'K'}, ds\n\
         assert ds.attrs == {'title': 'weather'}, ds.attrs\n\
         assert ds.temperature.dims == ('time', 'station') and ds.temperature.dtype == 'float32'\n\
         assert np.isnan(ds.temperature.values[0, 2]) and ds.temperature.values[1, 1] == 278.5\n\
         assert list(ds['count'].values) == [3, 4]\n\
         assert ds.sel(station='Bergen', time='2020-01-02').temperature.values.item() == 278.5\n",
        &[&store],
    );
    #[cfg(feature = "netcdf")]
    for name in ["ostia_cut.nc", "a1b_cut.nc", "profiles.nc"] {
        let store = folder.path().join(name);
        DynDataset::open_lazy(data(name))
            .unwrap()
            .write_zarr(&store)
            .unwrap();
        run(
            &python,
            "import sys, xarray as xr\n\
             ours, theirs = xr.open_zarr(sys.argv[1]), xr.open_dataset(sys.argv[2])\n\
             assert set(ours.coords) == set(theirs.coords), (set(ours.coords), set(theirs.coords))\n\
             ours, theirs = ours.load(), theirs.load()\n\
             for name, b in theirs.variables.items():\n\
             \x20   a = ours.variables[name]\n\
             \x20   assert a.dims == b.dims and set(b.attrs) <= set(a.attrs), (name, a, b)\n\
             \x20   xr.testing.assert_equal(a, b) if b.dtype.kind in 'OM' else xr.testing.assert_allclose(a, b, rtol=1e-12)\n",
            &[&store, data(name).as_ref()],
        );
    }
}

#[test]
fn stores_of_xarray_are_opened() {
    let Some(python) = python() else {
        println!("skipped: no Python with xarray and zarr 3; set NOMINA_PYTHON");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    run(
        &python,
        "import sys, os, numcodecs, numpy as np, pandas as pd, xarray as xr\n\
         ds = xr.Dataset({'t': (('time', 'station'), np.arange(12, dtype='f4').reshape(4, 3), {'units': 'K'}),\n\
             'packed': (('time',), [1.5, np.nan, 2.0, 2.5])},\n\
             {'time': pd.date_range('2001-01-31', periods=4), 'station': ['Oslo', 'Bergen', 'Tromsø'], 'height': ('station', [1.0, 2.0, 3.0])}, {'title': 'x'})\n\
         packed = {'dtype': 'i2', 'scale_factor': 0.5, '_FillValue': -9}\n\
         for name, codec in [('zlib', numcodecs.Zlib(3)), ('gzip', numcodecs.GZip(3)), ('zstd', numcodecs.Zstd(3)), ('none', None)]:\n\
         \x20   ds.to_zarr(os.path.join(sys.argv[1], 'v2_' + name), zarr_format=2, encoding={'t': {'compressors': codec, 'chunks': (3, 2)}, 'packed': packed | {'compressors': codec},\n\
         \x20       'station': {'compressors': codec}, 'time': {'compressors': codec}, 'height': {'compressors': codec}})\n\
         ds.to_zarr(os.path.join(sys.argv[1], 'v3'), zarr_format=3, encoding={'t': {'chunks': (3, 2)}, 'packed': packed})\n",
        &[folder.path()],
    );
    for name in ["v2_zlib", "v2_gzip", "v2_zstd", "v2_none", "v3"] {
        let ds = DynDataset::open(folder.path().join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let t = ds.variable("t").unwrap();
        assert_eq!(
            t.tensor().unwrap().names().to_string(),
            "(time, station)",
            "{name}"
        );
        let values: Vec<f32> = (0..12).map(|x| x as f32).collect();
        assert_eq!(
            t.tensor().unwrap().to_vec::<f32>().unwrap(),
            values,
            "{name}"
        );
        assert_eq!(t.attributes().text("units"), Some("K"), "{name}");
        let station = ds.labels("station").unwrap();
        assert_eq!(
            *station,
            Column::Text(["Oslo", "Bergen", "Tromsø"].map(str::to_owned).to_vec()),
            "{name}"
        );
        assert_eq!(ds.labels("time").unwrap().show(3), "2001-02-03", "{name}");
        assert!(ds.coordinates().any(|one| one.name() == "height"), "{name}");
        let packed = ds
            .variable("packed")
            .unwrap()
            .tensor()
            .unwrap()
            .to_vec::<f64>()
            .unwrap();
        assert!(
            packed[0] == 1.5 && packed[1].is_nan() && packed[3] == 2.5,
            "{name}: {packed:?}"
        );
        assert_eq!(
            ds.sel("time", "2001-02")
                .unwrap()
                .variable("t")
                .unwrap()
                .shape(),
            [3, 3],
            "{name}"
        );
    }
}

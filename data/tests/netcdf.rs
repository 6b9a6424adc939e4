//! netCDF files beside xarray's reading of them.
#![cfg(feature = "netcdf")]

use nomina::prelude::*;
use nomina_data::{Column, DynDataset, OpenOptions, Variable, nearest};
use serde_json::Value;

fn path(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn record() -> Value {
    serde_json::from_str(include_str!("data/xarray.json")).unwrap()
}

fn open(name: &str) -> DynDataset {
    match name {
        "made.nc" => made(),
        name => DynDataset::open(path(name)).unwrap(),
    }
}

fn made() -> DynDataset {
    OpenOptions::new()
        .dims("square", ["station", "other"])
        .open(path("made.nc"))
        .unwrap()
}

/// Requires equal numbers, to the last digits of a sum in another order.
fn assert_near(ours: f64, theirs: &Value, what: &str) {
    let theirs = theirs.as_f64().unwrap();
    let error = (ours - theirs).abs() / theirs.abs().max(1e-300);
    assert!(
        error < 1e-13 || ours == theirs,
        "{what}: {ours}, xarray {theirs}"
    );
}

fn strings(value: &Value) -> Vec<String> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

/// Formats a time as the record does.
fn time(column: &Column, at: usize) -> Option<String> {
    let text = match column {
        Column::Time(times) => match times[at].to_string().replace('T', " ") {
            date if date.len() == 10 => date + " 00:00:00",
            time => time,
        },
        Column::CfTime(times) => times[at].to_string(),
        _ => return None,
    };
    Some(text[..19].to_owned())
}

fn check_variable(file: &str, ours: &Variable, theirs: &Value) {
    let what = format!("{file}: {}", ours.name());
    assert_eq!(ours.dims(), strings(&theirs["dims"]), "{what}");
    let shape: Vec<u64> = theirs["shape"]
        .as_array()
        .unwrap()
        .iter()
        .map(|size| size.as_u64().unwrap())
        .collect();
    assert!(
        ours.shape().iter().map(|&size| size as u64).eq(shape),
        "{what}"
    );
    let mut attributes: Vec<String> = ours
        .attributes()
        .iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    attributes.sort();
    let known = strings(&theirs["attrs"])
        .into_iter()
        .filter(|name| name != "missing_value");
    assert_eq!(attributes, known.collect::<Vec<_>>(), "{what}");
    let column = ours.column().unwrap();
    if let Some(texts) = theirs.get("text") {
        assert_eq!(*column, Column::Text(strings(texts)), "{what}");
    } else if let Some(first) = theirs.get("first") {
        assert_eq!(time(&column, 0).as_deref(), first.as_str(), "{what}");
        assert_eq!(
            time(&column, column.len() - 1).as_deref(),
            theirs["last"].as_str(),
            "{what}"
        );
    } else {
        let wide = ours
            .tensor()
            .unwrap()
            .to_dtype(DType::F64)
            .unwrap()
            .to_vec::<f64>()
            .unwrap();
        let present: Vec<f64> = wide.iter().copied().filter(|x| !x.is_nan()).collect();
        assert_eq!(
            (wide.len() - present.len()) as u64,
            theirs["missing"].as_u64().unwrap(),
            "{what}"
        );
        // Packed numbers are `f64` here and `f32` in xarray.
        let near = |ours: f64, name: &str| {
            let value = theirs[name].as_f64().unwrap();
            let limit = if ours == value {
                0.0
            } else {
                3e-7 * value.abs().max(ours.abs())
            };
            assert!(
                (ours - value).abs() <= limit,
                "{what}: {name} {ours}, xarray {value}"
            );
        };
        let sum: f64 = present.iter().sum();
        near(sum, "sum");
        near(sum / present.len() as f64, "mean");
        near(present.iter().copied().fold(f64::INFINITY, f64::min), "min");
        near(
            present.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            "max",
        );
    }
}

#[test]
fn files_hold_what_xarray_finds() {
    let record = record();
    let mut count = 0;
    for (name, theirs) in record["files"].as_object().unwrap() {
        let ours = open(name);
        let mut data: Vec<&str> = ours
            .variables()
            .map(Variable::name)
            .filter(|name| *name != "square")
            .collect();
        let mut coordinates: Vec<&str> = ours.coordinates().map(Variable::name).collect();
        data.sort_unstable();
        coordinates.sort_unstable();
        assert_eq!(data, strings(&theirs["data"]), "{name}");
        assert_eq!(coordinates, strings(&theirs["coords"]), "{name}");
        assert_eq!(
            ours.attributes().len() as u64,
            theirs["attrs"].as_u64().unwrap(),
            "{name}"
        );
        for (dim, size) in theirs["sizes"].as_object().unwrap() {
            assert!(
                ours.sizes()
                    .contains(&(dim, size.as_u64().unwrap() as usize)),
                "{name}: {dim}"
            );
        }
        for (variable, theirs) in theirs["variables"].as_object().unwrap() {
            check_variable(name, ours.variable(variable).unwrap(), theirs);
            count += 1;
        }
    }
    assert!(count >= 30, "{count}");
}

fn temperature(dataset: &DynDataset) -> DynTensor {
    let variable = dataset.variable("surface_temperature").unwrap();
    variable.tensor().unwrap().to_dtype(DType::F64).unwrap()
}

fn mean(dataset: &DynDataset) -> f64 {
    temperature(dataset)
        .nanmean(..)
        .unwrap()
        .item()
        .unwrap()
        .to_complex()
        .re
}

#[test]
fn selections_equal_xarrays() {
    let record = &record()["ostia"];
    let check = |selected: &DynDataset, dim: &str, name: &str| {
        let size = selected
            .sizes()
            .iter()
            .find(|(own, _)| *own == dim)
            .unwrap()
            .1;
        assert_eq!(size as u64, record[name][0].as_u64().unwrap(), "{name}");
        assert_near(mean(selected), &record[name][1], name);
    };
    for sea in [
        DynDataset::open(path("ostia_cut.nc")),
        DynDataset::open_lazy(path("ostia_cut.nc")),
    ] {
        let sea = sea.unwrap();
        check(&sea.sel("time", "2007").unwrap(), "time", "2007");
        check(
            &sea.sel("time", "2007-02"..="2008-05").unwrap(),
            "time",
            "2007-02 to 2008-05",
        );
        check(
            &sea.sel("latitude", -2.0..=2.0).unwrap(),
            "latitude",
            "tropics",
        );
        let point = sea
            .sel("latitude", nearest(0.1, 1.0))
            .unwrap()
            .sel("longitude", nearest(181.0, 5.0))
            .unwrap();
        assert_near(mean(&point), &record["nearest"], "nearest");
        // The label that was selected stays as a coordinate.
        let label = point.variable("latitude").unwrap();
        assert!(label.dims().is_empty() && point.coordinates().any(|one| one.name() == "latitude"));
        let near = |name: &str, at: usize| {
            let theirs = record["nearest labels"][at].as_f64().unwrap() as f32;
            assert_eq!(
                point
                    .variable(name)
                    .unwrap()
                    .tensor()
                    .unwrap()
                    .to_vec::<f32>()
                    .unwrap(),
                [theirs]
            );
        };
        near("latitude", 0);
        near("longitude", 1);
    }
    let north = DynDataset::open_lazy(path("a1b_cut.nc")).unwrap();
    let record = &self::record()["a1b"];
    let century = north.sel("time", "1900"..="1999").unwrap();
    assert_eq!(
        century.variable("time").unwrap().numel() as u64,
        record["1900 to 1999"][0].as_u64().unwrap()
    );
    let t = century
        .variable("air_temperature")
        .unwrap()
        .tensor()
        .unwrap()
        .to_dtype(DType::F64)
        .unwrap();
    assert_near(
        t.mean(..).unwrap().item().unwrap().to_complex().re,
        &record["1900 to 1999"][1],
        "century",
    );
}

#[test]
fn anomalies_equal_xarrays() {
    let sea = DynDataset::open(path("ostia_cut.nc")).unwrap();
    let x = temperature(&sea);
    let Column::Time(times) = &*sea.labels("time").unwrap() else {
        panic!("not times");
    };
    let month = |at: &nomina_data::Timestamp| at.to_string()[5..7].parse::<usize>().unwrap();
    let months: Vec<usize> = times.iter().map(month).collect();
    let mut rows = Vec::new();
    for (at, this) in months.iter().enumerate() {
        let same: Vec<i64> = (0..months.len())
            .filter(|&at| months[at] == *this)
            .map(|at| at as i64)
            .collect();
        let index = DynTensor::from_vec(same.clone(), &[same.len()], ["time"]).unwrap();
        let climate = x
            .index_select("time", &index)
            .unwrap()
            .nanmean("time")
            .unwrap();
        rows.push(x.select("time", at as i64).unwrap().sub(&climate).unwrap());
    }
    let absolute: Vec<f64> = rows
        .iter()
        .flat_map(|row| row.abs().unwrap().to_vec::<f64>().unwrap())
        .filter(|x| !x.is_nan())
        .collect();
    let record = &record()["ostia"]["anomaly"];
    let ours = absolute.iter().sum::<f64>() / absolute.len() as f64;
    assert!((ours - record[0].as_f64().unwrap()).abs() < 1e-12, "{ours}");
    let last = rows
        .last()
        .unwrap()
        .nanmean(..)
        .unwrap()
        .item()
        .unwrap()
        .to_complex()
        .re;
    assert!((last - record[1].as_f64().unwrap()).abs() < 1e-12, "{last}");
}

#[test]
fn packed_numbers_and_odd_names() {
    let made = made();
    let packed = made.variable("packed").unwrap();
    let values = packed.tensor().unwrap().to_vec::<f64>().unwrap();
    assert_eq!(values[1], 100.0 * 0.01 + 273.15);
    assert!(values[2].is_nan() && values[3].is_nan());
    assert_eq!(packed.attributes().text("units"), Some("K"));
    let height = made.variable("height").unwrap().column().unwrap();
    // Widened through the shortest decimal.
    assert_eq!(*height, Column::F64(vec![23.1, 12.0, 100.7]));
    let bergen = made.sel("station", "Bergen").unwrap();
    assert_eq!(
        bergen
            .variable("packed")
            .unwrap()
            .tensor()
            .unwrap()
            .names()
            .to_string(),
        "(time,)"
    );
    // Dims that are no identifiers have their spelling here, and no name in a tensor.
    let scores = made.variable("scores").unwrap();
    assert_eq!(scores.dims(), ["model name", "2m"]);
    assert_eq!(scores.tensor().unwrap().names().to_string(), "(_, _)");
    let second = made.isel("model name", 1).unwrap();
    assert_eq!(
        second
            .variable("scores")
            .unwrap()
            .tensor()
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [3.0, 4.0]
    );
    let renamed = OpenOptions::new()
        .rename("model name", "Model")
        .rename("2m", "Two")
        .open(path("made.nc"))
        .unwrap();
    assert_eq!(
        renamed
            .variable("scores")
            .unwrap()
            .tensor()
            .unwrap()
            .names()
            .to_string(),
        "(Model, Two)"
    );
    assert_eq!(
        made.variable("square")
            .unwrap()
            .tensor()
            .unwrap()
            .names()
            .to_string(),
        "(station, other)"
    );
    let twice = renamed.isel("station", 0).unwrap_err();
    assert!(
        twice
            .to_string()
            .contains("dim `station` is there twice in `square`"),
        "{twice}"
    );
}

#[test]
fn mistakes_say_what_there_is() {
    let sea = DynDataset::open_lazy(path("ostia_cut.nc")).unwrap();
    let text = |error: Error| error.to_string();
    let error = text(sea.sel("latitude", 1.0).unwrap_err());
    assert!(
        error.contains("has no label 1; its neighbours are "),
        "{error}"
    );
    let error = text(sea.sel("time", "2031").unwrap_err());
    assert!(
        error.contains("has no label in 2031; labels go from 2006-04-16 to 2010-09-16"),
        "{error}"
    );
    let error = text(sea.sel("latitude", "north").unwrap_err());
    assert!(error.contains("has labels of type f64"), "{error}");
    let error = text(sea.sel("depth", 1.0).unwrap_err());
    assert!(
        error.contains("no variable has a dim `depth`")
            && error.contains("dims are time, latitude"),
        "{error}"
    );
    let error = text(sea.sel("bnds", 1.0).unwrap_err());
    assert!(error.contains("dim `bnds` has no labels"), "{error}");
    let error = text(sea.isel("time", 54).unwrap_err());
    assert!(
        error.contains("position 54 is outside of dim `time` of size 54"),
        "{error}"
    );
    let error = text(sea.variable("ice").unwrap_err());
    assert!(
        error.contains("no variable `ice`") && error.contains("surface_temperature"),
        "{error}"
    );
    let error = text(DynDataset::open(path("README.md")).unwrap_err());
    assert!(
        error.contains("neither netCDF nor a folder of zarr"),
        "{error}"
    );
    assert!(DynDataset::open("/nowhere.nc").is_err());
    let north = DynDataset::open_lazy(path("a1b_cut.nc")).unwrap();
    let error = text(north.sel("time", "1900-01-31").unwrap_err());
    assert!(error.contains("`360_day` has no 1900-01-31"), "{error}");
}

#[test]
fn datasets_print_like_xarrays() {
    let text = DynDataset::open_lazy(path("ostia_cut.nc"))
        .unwrap()
        .to_string();
    for line in [
        "Dimensions:  (time: 54, latitude: 6, longitude: 72, bnds: 2)",
        "  * latitude                      (latitude) f32 ",
        "  * time                          (time) Timestamp 2006-04-16 ... 2010-09-16",
        "    surface_temperature           (time, latitude, longitude) f32 ...",
        "    Conventions:  CF-1.5",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let html = made().to_html();
    for part in [
        "<summary>Coordinates (3)</summary>",
        "Oslo Bergen Tromso",
        "<dt>units</dt><dd>K</dd>",
        "<span class=\"index\">time</span>",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
}

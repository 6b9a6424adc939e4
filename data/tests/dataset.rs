//! Structs of labelled tensors: opening, selection, checks, writing.
#![cfg(feature = "netcdf")]

use std::sync::Arc;

use nomina::labelled::AnyLabels;
use nomina::prelude::*;
use nomina::{DynLabelled, Labelled, Labels, Timestamp};
use nomina_data::{CfTime, Column, Coordinate, Dataset, DynDataset, Reduction, Variable};

fn path(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

mod sea {
    use super::*;
    dims! { pub Time("time"): Timestamp, pub Lat("latitude"): f64, pub Lon("longitude"): f64, pub Bounds("bnds") }
}
mod north {
    use super::*;
    dims! { pub Time("time"): CfTime, pub Lat("latitude"): f64, pub Lon("longitude"): f64 }
}
mod small {
    use super::*;
    dims! { pub Lat: f64, pub Lon: f64, pub Id: i64, pub Rgb = { R, G, B }, pub Station: String }
}

/// An alias of a field's type, which the derive cannot see through.
type Map<T> = Labelled<(sea::Time, sea::Lat, sea::Lon), T>;

#[derive(Dataset, Clone)]
struct Sea<T: Element> {
    #[dataset(name = "surface_temperature", units = "K")]
    temperature: Map<T>,
    #[dataset(coordinate)]
    latitude_longitude: Labelled<(), i32>,
    ice: Option<Map<T>>,
    forecast_period: Option<i64>,
    #[dataset(skip)]
    title: String,
}

fn sea() -> Sea<f32> {
    Sea::open(path("ostia_cut.nc")).unwrap()
}

fn shared(x: &DynLabelled, at: usize) -> Arc<dyn AnyLabels> {
    x.coords().get(at).unwrap().clone()
}

#[test]
fn a_file_is_opened_as_a_struct() {
    let sea = sea();
    let file = DynDataset::open(path("ostia_cut.nc")).unwrap();
    let wanted = file.labelled("surface_temperature").unwrap();
    assert_eq!(sea.temperature.shape(), [54, 6, 72]);
    let ours = sea.temperature.tensor().nansum(..).item();
    let theirs: f32 = wanted
        .tensor()
        .nansum(..)
        .unwrap()
        .typed::<(), f32>()
        .unwrap()
        .item();
    assert_eq!(ours, theirs);
    assert_eq!(sea.temperature.labels(sea::Lat).values()[0], -3.888_885_5);
    assert!(sea.ice.is_none() && sea.title.is_empty());
    assert_eq!(sea.forecast_period, Some(0));
}

#[test]
fn selections_are_of_every_field_and_share_labels() {
    #[derive(Dataset)]
    struct Two {
        #[dataset(name = "surface_temperature")]
        all: Map<f32>,
        time_bnds: Option<Labelled<(sea::Time, sea::Bounds), f64>>,
        forecast_reference_time: Coordinate<sea::Time, Timestamp>,
    }
    let mut file = DynDataset::open_lazy(path("ostia_cut.nc")).unwrap();
    // Times along several dims are no tensor.
    file.remove("time_bnds");
    let two = Two::from_dyn(&file).unwrap();
    let part = two
        .sel(sea::Time, "2007")
        .isel(sea::Lon, 10..20)
        .sel(sea::Lat, -3.0..=0.0);
    assert_eq!(part.all.shape(), [12, 3, 10]);
    assert_eq!(part.forecast_reference_time.len(), 12);
    let list = two.isel(sea::Time, [3, 0, -1]);
    assert_eq!(
        list.forecast_reference_time.values()[1],
        two.forecast_reference_time.values()[0]
    );
    let whole = two.all.labels(sea::Time).values();
    assert_eq!(
        list.all.labels(sea::Time).values(),
        [whole[3], whole[0], whole[53]]
    );

    let copy = Sea {
        ice: Some(sea().temperature),
        ..sea()
    }
    .sel(sea::Time, "2008"..);
    let (a, b) = (copy.temperature.to_dyn(), copy.ice.unwrap().to_dyn());
    for at in 0..3 {
        assert!(Arc::ptr_eq(&shared(&a, at), &shared(&b, at)), "{at}");
    }
    let error = two.try_sel(sea::Time, "1999").err().unwrap().to_string();
    assert!(
        error.contains("sel: dim `time` has no label within \"1999\""),
        "{error}"
    );
    let error = two.try_isel(sea::Lon, [72]).err().unwrap().to_string();
    assert!(
        error.contains("dim `longitude` has size 72, and position 72 is out of range"),
        "{error}"
    );
}

#[test]
fn all_differences_are_one_error() {
    #[derive(Dataset)]
    struct Wrong {
        #[dataset(name = "surface_temperature", units = "degC")]
        temperature: Labelled<(sea::Lat, sea::Lon, sea::Time), f64>,
        salinity: Map<f32>,
        latitude_longitude: Labelled<(), f32>,
        time_bnds: Coordinate<sea::Time, Timestamp>,
    }
    let error = Wrong::open(path("ostia_cut.nc")).err().unwrap();
    let text = error.to_string();
    for wanted in [
        "open: ",
        "ostia_cut.nc: `Wrong` asks for what is not there:\n",
        "\n  `temperature` (variable `surface_temperature`): (latitude, longitude, time) f64 in degC; the variable is (time=54, \
         latitude=6, longitude=72) f32 in K, which are the same dims in another order\n",
        "\n  `salinity`: (time, latitude, longitude) f32; there is no variable `salinity`\n",
        "\n  `latitude_longitude`: () f32; the variable is () i32\n",
        "\n  `time_bnds`: (time) Timestamp; the variable is (time=54, bnds=2) Timestamp",
        "\nthe file has:\n",
        "\n  `latitude` (latitude=6) f32 in degrees_north, labels of the dim",
        "\n`cargo nomina types FILE` prints a struct that fits",
    ] {
        assert!(text.contains(wanted), "{wanted:?} in\n{text}");
    }
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn types_of_labels_are_those_of_the_dims() {
    mod other {
        use super::*;
        dims! { pub Time("time"): Timestamp, pub Lat("latitude"): String, pub Lon("longitude"): i64, pub Bounds("bnds"): f64 }
    }
    #[derive(Dataset)]
    struct Wrong {
        #[dataset(name = "air_temperature")]
        _air: Labelled<(other::Time, other::Lat, other::Lon)>,
    }
    let error = Wrong::open(path("a1b_cut.nc")).err().unwrap().to_string();
    for wanted in [
        "dim `time` has labels of type CfTime, the first is 1860-06-01, and its declaration says Timestamp: declare `CfTime`",
        "dim `latitude` has labels of type f64, the first is 20, and its declaration says String: declare `f64`",
        "dim `longitude` has labels of type f64",
    ] {
        assert!(error.contains(wanted), "{wanted} in\n{error}");
    }
    #[derive(Dataset)]
    struct Labelless {
        _scores: Labelled<(Wild, other::Bounds), f64>,
    }
    let mut file = DynDataset::new();
    let scores = DynTensor::zeros(&[2, 3], names!["x", "bnds"]).unwrap();
    let scores = scores.to_dtype(DType::F64).unwrap();
    file.insert(Variable::new("_scores", scores).unwrap())
        .unwrap();
    let error = Labelless::from_dyn(&file).err().unwrap().to_string();
    assert!(
        error.contains("dim `bnds` has no labels, and its declaration says f64"),
        "{error}"
    );
}

#[test]
fn numbers_and_words_become_the_declared_labels() {
    use small::{Id, Lat, Rgb};
    #[derive(Dataset)]
    struct Numbers {
        x: Labelled<(Lat, Id, Rgb), f64>,
        y: Option<Labelled<(Rgb,), f64>>,
        scale: f32,
    }
    let mut file = DynDataset::new();
    let x = DynTensor::zeros(&[2, 2, 3], names!["Lat", "Id", "Rgb"]).unwrap();
    let x = x.to_dtype(DType::F64).unwrap();
    file.insert(Variable::new("x", x.clone()).unwrap()).unwrap();
    file.insert(Variable::from_column("Lat", Column::I64(vec![10, 20])))
        .unwrap();
    file.insert(Variable::from_column("Id", Column::F64(vec![7.0, 8.0])))
        .unwrap();
    let scale = DynTensor::from_vec(vec![2.5], &[], ()).unwrap();
    file.insert(Variable::new("scale", scale).unwrap()).unwrap();
    let numbers = Numbers::from_dyn(&file).unwrap();
    assert_eq!(numbers.x.labels(Lat).values(), [10.0, 20.0]);
    assert_eq!(numbers.x.labels(Id).values(), [7, 8]);
    assert_eq!(numbers.x.sel(Rgb, Rgb::G).shape(), [2, 2]);
    assert!(numbers.scale == 2.5 && numbers.y.is_none());

    file.insert(Variable::from_column("Id", Column::F64(vec![7.0, 8.5])))
        .unwrap();
    let words = ["R", "B", "G"].map(String::from).to_vec();
    file.insert(Variable::from_column("Rgb", Column::Text(words)))
        .unwrap();
    let error = Numbers::from_dyn(&file).err().unwrap().to_string();
    assert!(
        error.contains(
            "dim `Id` has labels of type f64, the first is 7, and its declaration says i64"
        ),
        "{error}"
    );
    assert!(
        error.contains("dim `Rgb` has the labels R, B, G, and its declaration says R, G, B"),
        "{error}"
    );
}

#[test]
fn a_struct_is_written_and_opened_again() {
    use north::{Lat, Lon, Time};
    #[derive(Dataset)]
    struct North {
        #[dataset(
            name = "air_temperature",
            units = "K",
            long_name = "air at 1.5 m",
            convert
        )]
        air: Labelled<(Time, Lat, Lon), f64>,
        #[dataset(units = "m")]
        height: f64,
        forecast_reference_time: CfTime,
        #[dataset(units = "hours")]
        forecast_period: Coordinate<Time, i64>,
        latitude_longitude: DynLabelled,
        #[dataset(skip)]
        title: String,
    }
    let mut north = North::open(path("a1b_cut.nc")).unwrap();
    north.title = "kept".to_owned();
    let south = north.sel(Lat, ..=30.0).sel(Time, "1900");
    assert_eq!(
        (south.air.shape(), &south.title[..]),
        (&[1, 3, 10][..], "kept")
    );
    assert_eq!((south.height, south.forecast_period.len()), (1.5, 1));
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("north.zarr");
    north.write_zarr(&store).unwrap();
    let again = North::open(&store).unwrap();
    assert_eq!(again.air.to_vec(), north.air.to_vec());
    assert_eq!(
        again.air.labels(Time).values(),
        north.air.labels(Time).values()
    );
    assert_eq!(
        again.forecast_period.values(),
        north.forecast_period.values()
    );
    assert_eq!(again.forecast_reference_time, north.forecast_reference_time);
    let file = DynDataset::open(&store).unwrap();
    let air = file.variable("air_temperature").unwrap();
    assert_eq!(air.attributes().text("long_name"), Some("air at 1.5 m"));
    assert_eq!(air.attributes().text("units"), Some("K"));
    let mut coordinates: Vec<&str> = file.coordinates().map(Variable::name).collect();
    coordinates.sort_unstable();
    assert_eq!(
        coordinates,
        [
            "forecast_period",
            "forecast_reference_time",
            "height",
            "latitude",
            "longitude",
            "time"
        ]
    );
}

#[test]
fn dims_whose_names_are_no_identifiers_are_renamed() {
    dims! { Model, Height2m, Time("time"): CfTime, Station("station"): String }
    #[derive(Dataset)]
    #[dataset(rename(Model = "model name", Height2m = "2m"))]
    struct Made {
        scores: Labelled<(Model, Height2m), f64>,
        packed: Labelled<(Time, Station), f64>,
    }
    let mut file = DynDataset::open(path("made.nc")).unwrap();
    file.remove("square");
    let made = Made::from_dyn(&file).unwrap();
    let last = made.isel(Model, 1..);
    assert_eq!(last.scores.shape(), [1, 2]);
    assert_eq!(last.packed.sel(Station, "Bergen").shape(), [4]);
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("made.zarr");
    last.write_zarr(&store).unwrap();
    let file = DynDataset::open(&store).unwrap();
    assert_eq!(
        file.variable("scores").unwrap().dims(),
        ["model name", "2m"]
    );
    assert_eq!(
        Made::open(&store).unwrap().scores.to_vec(),
        last.scores.to_vec()
    );
}

#[test]
fn a_struct_that_a_program_builds_is_checked() {
    use small::{Lat, Lon, Station};
    #[derive(Dataset, Clone)]
    struct Three {
        a: Labelled<(Lat, Lon)>,
        b: Labelled<(Lat,)>,
        lon: Option<Labelled<(Lon,)>>,
        #[dataset(name = "Station")]
        station: Coordinate<Station, String>,
    }
    let lat = |values: [f64; 2]| Labelled::new(tensor!([1., 2.]; Lat)).with(Lat, values);
    let a = Labelled::new(Tensor::<(Lat, Lon)>::zeros([2, 3])).with(Lat, [60.0, 50.0]);
    let three = Three {
        a,
        b: lat([60.0, 50.0]),
        lon: None,
        station: Coordinate::new(Station, ["x".to_owned()]),
    };
    let checked = three.clone().checked().unwrap();
    let (a, b) = (checked.a.to_dyn(), checked.b.to_dyn());
    assert!(Arc::ptr_eq(&shared(&a, 0), &shared(&b, 0)));
    // From low to high, though labels fall.
    assert_eq!(checked.sel(Lat, ..55.0).b.to_vec(), [2.0]);

    let wrong = Three {
        b: lat([60.0, 51.0]),
        lon: Some(Labelled::new(Tensor::<(Lon,)>::zeros([4]))),
        ..three.clone()
    };
    let wanted = "fields of `Three` disagree: dim `Lat` has other labels in `a` than in `b`: the first difference is at 1: 50.0 and \
                  51.0; dim `Lon` has size 3 in `a` and 4 in `lon`; labels never join silently";
    for error in [
        wrong.clone().checked().err(),
        wrong.try_sel(Lat, 55.0..).err(),
        wrong.try_isel(Lon, ..2).err(),
        wrong.to_dyn().err(),
    ] {
        let error = error.unwrap();
        assert!(error.to_string().contains(wanted), "{error}");
        assert_eq!(error.kind(), ErrorKind::Label);
    }
    let error = three.try_sel(Lon, 1.0..).err().unwrap().to_string();
    assert!(
        error.contains("dim `Lon` has no labels in any field of `Three`"),
        "{error}"
    );
    assert_eq!(three.sel(Station, ["x"]).station.values(), ["x"]);
}

#[test]
fn a_function_replaces_every_field() {
    let sea = sea();
    let years = sea.map_along(sea::Time, |x| x.resample("time", "YS")?.nanmean());
    assert_eq!(years.temperature.shape(), [5, 6, 72]);
    let alone = sea.temperature.resample(sea::Time, "YS").nanmean();
    assert_eq!(years.temperature.to_vec().len(), alone.to_vec().len());
    assert_eq!(
        years.temperature.labels(sea::Time).values(),
        alone.labels(sea::Time).values()
    );
    let error = sea
        .try_map_along(sea::Time, |x| x.nanmean("time"))
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("field `temperature`"), "{error}");
}

#[test]
fn a_whole_dataset_is_reduced() {
    let file = DynDataset::open_lazy(path("ostia_cut.nc")).unwrap();
    let mean = file.reduce(Reduction::NanMean, &["time"]).unwrap();
    let alone = file
        .variable("surface_temperature")
        .unwrap()
        .nanmean(&["time"])
        .unwrap();
    let found = mean.variable("surface_temperature").unwrap();
    assert_eq!(found.dims(), ["latitude", "longitude"]);
    let values = |one: &Variable| {
        let all = one.tensor().unwrap().to_vec::<f64>().unwrap();
        all.into_iter().map(f64::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(values(found), values(&alone));
    // Coordinates along the dim are gone, others stay.
    assert!(mean.variable("time").is_err() && mean.variable("forecast_reference_time").is_err());
    assert!(mean.labels("latitude").is_ok() && mean.variable("forecast_period").is_ok());
    let all = file.reduce(Reduction::NanMean, &[]).unwrap();
    assert!(
        all.variable("surface_temperature")
            .unwrap()
            .dims()
            .is_empty()
    );
    assert!(file.reduce(Reduction::Mean, &["depth"]).is_err());

    let renamed = file.rename_dim("latitude", "lat").unwrap();
    assert_eq!(
        renamed.labels("lat").unwrap(),
        file.labels("latitude").unwrap()
    );
    assert!(file.rename_dim("latitude", "longitude").is_err());
    let loaded = file.load().unwrap().rename_dim("latitude", "lat").unwrap();
    let names = loaded
        .variable("surface_temperature")
        .unwrap()
        .tensor()
        .unwrap();
    assert_eq!(names.names().to_string(), "(time, lat, longitude)");
}

#[test]
fn labels_of_a_calendar_are_selected() {
    use north::{Lat, Lon, Time};
    let file = DynDataset::open(path("a1b_cut.nc")).unwrap();
    let air = file.labelled("air_temperature").unwrap();
    let air: Labelled<(Time, Lat, Lon)> = air.typed().unwrap();
    let first = air.labels(Time).values()[0];
    assert_eq!(air.sel(Time, first).shape(), [8, 10]);
    assert_eq!(air.sel(Time, first..).shape(), [240, 8, 10]);
    assert_eq!(air.sel(Time, "1900").shape(), [1, 8, 10]);
    let error = air.try_sel(Time, "1800").err().unwrap().to_string();
    assert!(
        error.contains("dim `time` has no label within \"1800\""),
        "{error}"
    );
    let labels = Labels::new([first]);
    assert_eq!(labels.len(), 1);
}

#[test]
fn labels_that_are_a_field_have_attributes() {
    #[derive(Dataset)]
    struct Named {
        surface_temperature: Map<f32>,
        #[dataset(units = "degrees_north", standard_name = "latitude")]
        latitude: Coordinate<sea::Lat, f64>,
    }
    let named = Named::open(path("ostia_cut.nc")).unwrap();
    assert_eq!(
        *named.latitude.values(),
        *named.surface_temperature.labels(sea::Lat).values()
    );
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("named.zarr");
    named.sel(sea::Lat, 0.0..).write_zarr(&store).unwrap();
    let written = DynDataset::open(&store).unwrap();
    let attributes = written.variable("latitude").unwrap().attributes();
    assert_eq!(attributes.text("units"), Some("degrees_north"));
    assert_eq!(attributes.text("standard_name"), Some("latitude"));
    assert!(Named::open(&store).is_ok());
}

//! Variables as tensors with labels, and back.
#![cfg(feature = "netcdf")]

use nomina::prelude::*;
use nomina::{DynLabelled, Timestamp};
use nomina_data::{Dataset as _, DynDataset};

dims! {
    Time("time"): Timestamp,
    Lat("latitude"): f64,
    Lon("longitude"): f64,
}

mod model {
    nomina::dims! { pub Time("time"): nomina_data::CfTime }
}

fn open(name: &str) -> DynDataset {
    DynDataset::open(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn labels_have_the_types_of_dims() {
    let sea = open("ostia_cut.nc")
        .labelled("surface_temperature")
        .unwrap();
    let t = sea.typed::<(Time, Lat, Lon), f32>().unwrap();
    assert_eq!(t.labels(Time).values()[0].to_string(), "2006-04-16");
    assert_eq!(t.sel(Time, "2007").tensor().shape(), [12, 6, 72]);
    // An `f32` of the file is widened through its shortest decimal.
    assert!(
        t.labels(Lat).values().contains(&-0.5555496),
        "{:?}",
        t.labels(Lat).values()
    );
    let air = open("a1b_cut.nc").labelled("air_temperature").unwrap();
    let a = air.typed::<(model::Time, Lat, Lon), f32>().unwrap();
    assert_eq!(a.labels(model::Time).values()[0].year(), 1860);
    let error = air
        .typed::<(Time, Lat, Lon), f32>()
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("time") && error.contains("CfTime"),
        "{error}"
    );
}

#[test]
fn variables_of_a_dataset_share_labels() {
    let sea = open("profiles.nc");
    let (a, b) = (
        sea.labelled("salinity").unwrap(),
        sea.labelled("theta").unwrap(),
    );
    for dim in ["depth", "lat", "lon"] {
        let pointer =
            |x: &DynLabelled| std::sync::Arc::as_ptr(x.labels(dim).unwrap().unwrap()).cast::<()>();
        assert_eq!(pointer(&a), pointer(&b), "{dim}");
    }
    assert!(a.add(&b).is_ok());
}

#[test]
fn labelled_tensors_become_variables() {
    let sea = open("ostia_cut.nc");
    let t = sea.labelled("surface_temperature").unwrap();
    let mean = DynLabelled::new(t.tensor().nanmean("longitude").unwrap());
    let mean = ["time", "latitude"].into_iter().fold(mean, |mean, dim| {
        let labels = t.labels(dim).unwrap().cloned();
        mean.with_shared(dim, labels).unwrap()
    });
    let mut out = DynDataset::new();
    out.insert_labelled("zonal_mean", &mean).unwrap();
    assert_eq!(*out.labels("time").unwrap(), *sea.labels("time").unwrap());
    assert_eq!(
        *out.labels("latitude").unwrap(),
        *sea.labels("latitude").unwrap()
    );
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("mean.zarr");
    out.write_zarr(&store).unwrap();
    let read = DynDataset::open(&store)
        .unwrap()
        .labelled("zonal_mean")
        .unwrap();
    assert_eq!(read.labels("time").unwrap().unwrap().len(), 54);
    // Other labels along a dim are refused.
    let part = sea
        .isel("time", 1..)
        .unwrap()
        .labelled("surface_temperature")
        .unwrap();
    let mut other = DynDataset::new();
    other
        .insert_labelled(
            "x",
            &sea.isel("time", ..53_usize)
                .unwrap()
                .labelled("surface_temperature")
                .unwrap(),
        )
        .unwrap();
    let error = other.insert_labelled("y", &part).unwrap_err().to_string();
    assert!(error.contains("dim `time` has other labels"), "{error}");
}

/// The text of `cargo nomina types`, which this crate compiles.
#[path = "types/sea.rs"]
#[allow(dead_code)]
mod sea;

#[test]
fn the_text_of_types_compiles_and_opens() {
    let dataset = open("ostia_cut.nc");
    let text = dataset.to_rust("ostia_cut.nc", "sea").unwrap();
    let path = format!("{}/tests/types/sea.rs", env!("CARGO_MANIFEST_DIR"));
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    // `cargo fmt` moves comments.
    if !old.split_whitespace().eq(text.split_whitespace()) {
        std::fs::write(&path, &text).unwrap();
        panic!("tests/types/sea.rs was stale, and is written anew");
    }
    let sea = sea::Sea::open(format!(
        "{}/tests/data/ostia_cut.nc",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap();
    assert_eq!(sea.surface_temperature.tensor().shape(), [54, 6, 72]);
    for line in [
        "pub Time(\"time\"): Timestamp,",
        "pub Latitude(\"latitude\"): f64,",
        "in K.",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let text = open("a1b_cut.nc").to_rust("a1b_cut.nc", "north").unwrap();
    for line in [
        "pub Time(\"time\"): CfTime,",
        "use nomina_data::{CfTime, Dataset};",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn derivatives_by_times_of_a_calendar_are_those_by_seconds() {
    let air = open("a1b_cut.nc").labelled("air_temperature").unwrap();
    let air = air.typed::<(model::Time, Lat, Lon), f32>().unwrap();
    let times = air.labels(model::Time).values();
    let seconds = (times[2] - times[0]).as_secs_f64();
    let x = air.tensor().double();
    let wanted = (x.select(model::Time, 2) - x.select(model::Time, 0)) / seconds;
    let slope = air.differentiate(model::Time).tensor().double();
    let off = (slope.select(model::Time, 1) - wanted).abs().max(..).item();
    // The elements are `f32` near 300.
    assert!(seconds > 1e6 && off < 1e-3 / seconds, "{off}");
}

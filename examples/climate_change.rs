//! Two centuries of a climate model, in its calendar of 360 days, and monthly sea temperatures from satellites: anomalies, a
//! map of trends, means by decade and by month.
//!
//! `scripts/programs/climate_change.py` is the same program for xarray.

use std::path::Path;

use nomina::prelude::*;
use nomina::{Labelled, Timestamp};
use nomina_data::{CfTime, Dataset, DynDataset};

dims! {
    /// The years of the model.
    pub Time("time"): CfTime,
    /// The months of the satellites.
    pub Date: Timestamp,
    pub Lat("latitude"): f64,
    pub Lon("longitude"): f64,
    pub Year: i64,
    pub Decade: i64,
    pub Month: i64,
    pub Degree: i64,
}

/// Temperatures over North America.
#[derive(Dataset)]
struct Model {
    #[dataset(name = "air_temperature", units = "K")]
    air: Labelled<(Time, Lat, Lon)>,
}

/// Temperatures of the sea near the equator, NaN on land.
#[derive(Dataset)]
#[dataset(rename(Date = "time"))]
struct Sea {
    #[dataset(name = "surface_temperature", units = "K")]
    surface: Labelled<(Date, Lat, Lon)>,
}

pub(crate) fn analyse(folder: &Path) -> Result<Vec<(&'static str, DynTensor)>> {
    // Only the north is read.
    let file = DynDataset::open_lazy(folder.join("a1b_cut.nc"))?;
    let air = Model::from_dyn(&file.sel("latitude", 30.0..)?)?.air;
    let years = air.group_by(Time, Year, |time| time.year()).nanmean();
    let anomaly = &years - years.sel(Year, 1961..=1990).nanmean(Year);
    let lat: Tensor<(Lat,), f64> = air.labels(Lat).values().iter().copied().collect();
    let area = Labelled::new(lat.deg2rad().cos().float());
    let region: Labelled<(Year,)> = anomaly.weighted_nanmean(&area, (Lat, Lon));
    let decade = |year: &i64| year / 10 * 10;
    let decades = region.group_by(Year, Decade, decade).nanmean();
    let recent = anomaly.sel(Year, 2000..);
    let trend: Labelled<(Lat, Lon)> = recent.polyfit(Year, Degree, 1).sel(Degree, 1) * 100.0;
    let warmer = decades.sel(Decade, 2090).tensor().item();
    println!("the 2090s are {warmer:.2} K warmer than 1961 to 1990; trends per century:\n{trend}");

    let sea = Sea::open(folder.join("ostia_cut.nc"))?;
    let sea = sea.sel(Lon, 150.0..=270.0).surface;
    let months = sea.group_by(Date, Month, |date| date.month());
    let climate: Labelled<(Month, Lat, Lon)> = months.nanmean();
    let index: Labelled<(Date,)> = (&sea - months.back(&climate)).nanmean((Lat, Lon));
    let year2007 = index.sel(Date, "2007");
    Ok(vec![
        ("region", region.into_tensor().into_dyn()),
        ("decades", decades.into_tensor().into_dyn()),
        ("trend", trend.into_tensor().into_dyn()),
        ("climate", climate.into_tensor().into_dyn()),
        ("index", index.into_tensor().into_dyn()),
        ("year2007", year2007.into_tensor().into_dyn()),
    ])
}

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data");
    for (name, x) in analyse(&folder)? {
        println!("{name}: {} {:?}", x.names(), x.shape());
    }
    Ok(())
}

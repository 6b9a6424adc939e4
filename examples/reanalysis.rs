//! A climate analysis of daily temperatures that xarray wrote: climatology, anomalies, running and weighted means, an
//! index and its correlations, quantiles, another grid. Values are missing.
//!
//! `scripts/programs/reanalysis.py` is the same program for xarray.

use std::path::Path;

use nomina::prelude::*;
use nomina_io::zarr::Zarr;

dims! {
    pub Time = "time",
    pub Lat = "lat",
    pub Lon = "lon",
    pub Month = 12,
    /// Months of all years.
    pub Step,
    pub Quantile,
    /// Latitudes of another grid.
    pub Finer,
}

/// Returns the number of months from January 2003 to each of the days, which are counted from its first.
fn months(days: &Tensor<(Time,), i64>) -> Tensor<(Time,), i64> {
    let february = |year: i64| if year % 4 == 0 { 29 } else { 28 };
    let lengths = |year| [31, february(year), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let lengths: Tensor<(Step,), i64> = (2003..2100).flat_map(lengths).collect();
    (days + 1).bucketize(&lengths.cumsum(Step))
}

/// Returns what docs/analysis.md explains, for temperatures in a folder that xarray wrote.
pub(crate) fn analyse(folder: &Path) -> Result<Vec<(&'static str, DynTensor)>> {
    let x = Zarr::<Tensor<(Time, Lat, Lon)>>::open(folder.join("t2m"))?.read()?;
    let lat: Tensor<(Lat,), f64> = Zarr::open(folder.join("lat"))?.read()?;
    let lat = lat.float();
    let step = months(&Zarr::open(folder.join("time"))?.read()?);
    let month = step.remainder(12);

    let groups = x.group_by(Time, &month, Month);
    let clim: Tensor<(Month, Lat, Lon)> = groups.nanmean();
    let anom = &x - clim.index_select(Month, &month);
    let area = lat.deg2rad().cos();
    // Latitudes -15 and 15, longitudes 120 and 180.
    let index = anom.narrow(Lat, 2..4).narrow(Lon, 2..4);
    let index = index.weighted_nanmean(&area.narrow(Lat, 2..4), (Lat, Lon));
    let place = x.select(Lat, 3).select(Lon, 4);
    let monthly = x.group_by(Time, &step, Step.of(24)).nanmean();
    let quantiles = x.nanquantiles(&tensor!([0.1, 0.5, 0.9]; Quantile), Time);
    let finer_lat: Tensor<(Finer,)> = Tensor::arange(-60, 61, 20);
    Ok(vec![
        ("spread", groups.nanstd().into_dyn()),
        ("monthly", monthly.into_dyn()),
        ("world", anom.weighted_nanmean(&area, (Lat, Lon)).into_dyn()),
        ("smooth", place.rolling(Time, 30).mean().into_dyn()),
        ("present", place.rolling(Time, 30).nanmean().into_dyn()),
        ("corr", anom.nancorr(&index, Time).into_dyn()),
        ("quantiles", quantiles.into_dyn()),
        ("finer", clim.interp(Lat, &lat, &finer_lat).into_dyn()),
        ("clim", clim.into_dyn()),
        ("index", index.into_dyn()),
    ])
}

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reanalysis/t2m.zarr");
    for (name, x) in analyse(&folder)? {
        let mean = x.nanmean(..)?.item()?;
        println!("{name}: {} {:?}, mean {mean:.3}", x.names(), x.shape());
    }
    Ok(())
}

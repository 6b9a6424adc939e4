//! The variables of `ostia_cut.nc`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina::{Labelled, Timestamp};
use nomina_data::{Coordinate, Dataset};

dims! {
    pub Time("time"): Timestamp,   // 54 from 2006-04-16
    pub Latitude("latitude"): f64,   // degrees_north, 6 from -3.8888855
    pub Longitude("longitude"): f64,   // degrees_east, 72 from 0
}

/// The variables of `ostia_cut.nc`.
#[derive(Dataset, Clone)]
pub struct Sea {
    /// surface_temperature, in K.
    #[dataset(units = "K")]
    pub surface_temperature: Labelled<(Time, Latitude, Longitude), f32>,
    /// latitude_longitude.
    pub latitude_longitude: Labelled<(), i32>,
    // No field holds `time_bnds` (time, bnds) Timestamp.
    /// forecast_period, in hours.
    #[dataset(units = "hours")]
    pub forecast_period: i64,
    /// forecast_reference_time.
    pub forecast_reference_time: Coordinate<Time, Timestamp>,
    // No field holds `forecast_reference_time_bnds` (time, bnds) Timestamp.
}

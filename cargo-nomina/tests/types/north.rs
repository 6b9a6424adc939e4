//! The variables of `a1b_cut.nc`, written by `cargo nomina types`.

use nomina::Labelled;
use nomina::prelude::*;
use nomina_data::{CfTime, Dataset};

dims! {
    pub Time("time"): CfTime,   // 240 from 1860-06-01
    pub Latitude("latitude"): f64,   // degrees_north, 8 from 20
    pub Longitude("longitude"): f64,   // degrees_east, 10 from 225
}

/// The variables of `a1b_cut.nc`.
#[derive(Dataset, Clone)]
pub struct North {
    /// air_temperature, in K.
    #[dataset(units = "K")]
    pub air_temperature: Labelled<(Time, Latitude, Longitude), f32>,
    /// latitude_longitude.
    pub latitude_longitude: Labelled<(), i32>,
    // No field holds `time_bnds` (time, bnds) CfTime.
    /// forecast_period, in hours.
    #[dataset(units = "hours", coordinate)]
    pub forecast_period: Labelled<(Time,), i32>,
    /// forecast_reference_time.
    pub forecast_reference_time: CfTime,
    /// height, in m.
    #[dataset(units = "m")]
    pub height: f64,
}

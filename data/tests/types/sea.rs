//! The variables of `ostia_cut.nc`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina::{Labelled, Timestamp};
use nomina_data::DynDataset;

dims! {
    pub Time("time"): Timestamp,   // 54 from 2006-04-16
    pub Latitude("latitude"): f64,   // degrees_north, 6 from -3.8888855
    pub Longitude("longitude"): f64,   // degrees_east, 72 from 0
}

/// The variables of `ostia_cut.nc`.
#[derive(Clone)]
pub struct Sea {
    /// surface_temperature, in K.
    pub surface_temperature: Labelled<(Time, Latitude, Longitude), f32>,
    /// latitude_longitude.
    pub latitude_longitude: Labelled<(), i32>,
}

impl Sea {
    /// Opens a file, and checks its dims, dtypes and labels.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
        let file = DynDataset::open(path)?;
        Ok(Self {
            surface_temperature: file.labelled("surface_temperature")?.typed()?,
            latitude_longitude: file.labelled("latitude_longitude")?.typed()?,
        })
    }
}

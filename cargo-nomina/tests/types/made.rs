//! The variables of `made.nc`, written by `cargo nomina types`.

use nomina::prelude::*;
use nomina::{DynLabelled, Labelled};
use nomina_data::{CfTime, Dataset};

dims! {
    pub Time("time"): CfTime,   // 4 from 2000-02-27 12:00:00
    pub Station("station"): String,   // 3 from Oslo
    pub ModelName,
    pub D2m,
}

/// The variables of `made.nc`.
#[derive(Dataset, Clone)]
#[dataset(rename(ModelName = "model name", D2m = "2m"))]
pub struct Made {
    /// packed, in K.
    #[dataset(units = "K")]
    pub packed: Labelled<(Time, Station), f64>,
    /// byte.
    pub byte: Labelled<(Station,), f64>,
    /// height.
    #[dataset(coordinate)]
    pub height: Labelled<(Station,), f32>,
    /// scores.
    pub scores: Labelled<(ModelName, D2m), f64>,
    /// square.
    pub square: DynLabelled,
}

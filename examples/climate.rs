//! Climate data: monthly means, anomalies, and area-weighted means over a sphere.

use std::f64::consts::TAU;

use nomina::prelude::*;

dims! {
    /// Months, counted from the first January.
    pub Time,
    /// Years.
    pub Year,
    /// January to December.
    pub Month = 12,
    /// Latitudes, from the south.
    pub Lat,
    /// Longitudes.
    pub Lon,
}

/// Returns the latitudes of a grid in radians: the centres of equal intervals.
pub fn latitudes(count: usize) -> Tensor<(Lat,), f64> {
    let step = 180.0 / count as f64;
    Tensor::from_fn([count], |at| {
        (step * (at[0] as f64 + 0.5) - 90.0).to_radians()
    })
}

/// Returns temperatures of an invented planet: cold poles, opposite seasons in the hemispheres,
/// warming by `trend` per year.
pub fn temperatures(years: usize, trend: f64) -> Tensor<(Time, Lat, Lon), f64> {
    let time: Tensor<(Time,), f64> = Tensor::arange(0.0, 12.0 * years as f64, 1.0);
    let lat = latitudes(18);
    let lon: Tensor<(Lon,), f64> = Tensor::arange(0.0, 36.0, 1.0) * (TAU / 36.0);
    let seasons = -((&time * (TAU / 12.0)).cos()).outer(&(lat.sin() * 15.0));
    let warming = (time / 12.0).floor() * trend;
    let place = (lat.cos() * 40.0 - 15.0).outer(&(lon.sin() * 0.1 + 1.0));
    place + (seasons + warming.align_to((Time, Lat))).align_to((Time, Lat, Lon))
}

/// Returns the mean of each month over all years, and each month's deviation from it.
pub fn anomalies(
    field: &Tensor<(Time, Lat, Lon), f64>,
) -> (
    Tensor<(Month, Lat, Lon), f64>,
    Tensor<(Year, Month, Lat, Lon), f64>,
) {
    let years = field.size(Time) / 12;
    let months = field.unflatten(Time, (Year.of(years), Month));
    let normal = months.mean(Year);
    let anomaly = months - &normal;
    (normal, anomaly)
}

/// Returns the mean over a sphere, where circles of latitude are shorter towards the poles.
pub fn global_mean<D: Dims + Has<Lat> + Has<Lon>>(
    field: &Tensor<D, f64>,
) -> Tensor<Without<D, (Lat, Lon)>, f64> {
    let weight = latitudes(field.size(Lat)).cos();
    field.weighted_mean(&weight, (Lat, Lon))
}

fn main() {
    let (normal, anomaly) = anomalies(&temperatures(10, 0.02));
    println!("mean of each month: {:.2}", global_mean(&normal));
    println!(
        "anomaly of each year: {:.2}",
        global_mean(&anomaly).mean(Month)
    );
}

use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64, Depth: f64, Member }

#[derive(Dataset)]
struct Climate { temperature: Labelled<(Lat, Lon, Member)>, elevation: Labelled<(Lat, Lon)> }

fn part(climate: &Climate) -> Climate {
    climate.map_along(Depth, |x| x.shift("Depth", 1))
}

fn main() {
    let _ = part;
}

// fix: climate.map_along(Lat, |x| x.shift("Lat", 1))

use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64, Depth: f64, Member }

#[derive(Dataset)]
struct Climate { temperature: Labelled<(Lat, Lon, Member)>, elevation: Labelled<(Lat, Lon)> }

fn part(climate: &Climate) -> Climate {
    climate.isel(Member, 0)
}

fn main() {
    let _ = part;
}

// fix: climate.isel(Member, 0..1)

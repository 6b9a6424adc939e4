use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
enum Climate { Now(Labelled<(Lat, Lon)>) }

fn main() {}

// fix 8: struct Climate { now: Labelled<(Lat, Lon)> }

use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate { #[dataset(skip)] about: Option<Labelled<(Lat, Lon)>> }

fn main() {}

// fix 8: struct Climate { about: Option<Labelled<(Lat, Lon)>> }

use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate {
    temperature: Labelled<(Lat, Lon)>,
    path: std::path::PathBuf,
}

fn main() {}

// fix 10:     #[dataset(skip)] path: std::path::PathBuf,

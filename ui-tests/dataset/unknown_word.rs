use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate {
    #[dataset(unit = "K")]
    temperature: Labelled<(Lat, Lon)>,
}

fn main() {}

// fix:     #[dataset(units = "K")]

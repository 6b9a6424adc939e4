use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
#[dataset(units = "K")]
struct Climate {
    temperature: Labelled<(Lat, Lon)>,
}

fn main() {}

// fix:
// fix 10: #[dataset(units = "K")] temperature: Labelled<(Lat, Lon)>,

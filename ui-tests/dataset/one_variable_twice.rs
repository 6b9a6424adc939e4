use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate {
    temperature: Labelled<(Lat, Lon)>,
    #[dataset(name = "temperature")]
    elevation: Labelled<(Lat, Lon)>,
}

fn main() {}

// fix:     #[dataset(name = "z")]

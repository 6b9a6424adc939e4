use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate {
    temperature: Labelled<(Lat, Lon)>,
    #[dataset(skip, name = "title")]
    title: String,
}

fn main() {}

// fix:     #[dataset(name = "title")]

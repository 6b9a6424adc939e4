use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

#[derive(Dataset)]
struct Climate {
    temperature: Tensor<(Lat, Lon)>,
    elevation: Labelled<(Lat, Lon)>,
}

fn main() {}

// fix 9: temperature: Labelled<(Lat, Lon)>,

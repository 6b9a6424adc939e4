use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

mod other {
    nomina::dims! { pub Lat: String }
}

#[derive(Dataset)]
struct Climate {
    temperature: Labelled<(Lat, Lon)>,
    elevation: Labelled<(other::Lat, Lon)>,
}

fn main() {}

// fix 14: elevation: Labelled<(Lat, Lon)>,

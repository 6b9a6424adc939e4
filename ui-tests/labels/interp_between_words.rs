use nomina::prelude::*;
use nomina::Labelled;

dims! { Station: String, Lat: f64 }

fn main() {
    let x = Labelled::new(Tensor::<(Station, Lat)>::zeros([1, 2])).with(Lat, [1.0, 2.0]);
    let y = x.interp(Station, ["a".to_string()]);
}

// fix: let y = x.interp(Lat, [1.5]);

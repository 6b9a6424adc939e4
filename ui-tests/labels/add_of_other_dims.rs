use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64, Lon: f64 }

fn main() {
    let x = Labelled::new(Tensor::<(Lat,)>::zeros([2]));
    let y = Labelled::new(Tensor::<(Lon,)>::zeros([2]));
    let z = &x + &y;
}

// fix: let z = &x + &x;
